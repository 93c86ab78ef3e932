package security

import (
	"encoding/binary"
	"math/big"
)

// A cipher is the state of Blowfish.
type cipher struct {
	p [18]uint32
	s [4][256]uint32
}

// newCipher returns the state that Blowfish starts from: the digits of pi after the
// point.
func newCipher() *cipher {
	const words = 18 + 4*256
	digits := pi(32 * words)
	c := new(cipher)
	for i := range c.p {
		c.p[i] = binary.BigEndian.Uint32(digits[4*i:])
	}
	for i := range 4 * 256 {
		c.s[i/256][i%256] = binary.BigEndian.Uint32(digits[4*(18+i):])
	}
	return c
}

// pi returns the first bits of pi after the point, by Machin's formula.
func pi(bits uint) []byte {
	const guard = 64
	one := new(big.Int).Lsh(big.NewInt(1), bits+guard)
	// arctan of 1/x, times one
	arctan := func(x int64) *big.Int {
		term := new(big.Int).Div(one, big.NewInt(x))
		sum := new(big.Int).Set(term)
		square, part := big.NewInt(x*x), new(big.Int)
		for n := int64(3); term.Sign() != 0; n += 2 {
			term.Div(term, square)
			part.Div(term, big.NewInt(n))
			if n%4 == 3 {
				sum.Sub(sum, part)
			} else {
				sum.Add(sum, part)
			}
		}
		return sum
	}
	v := arctan(5)
	v.Lsh(v, 4)
	other := arctan(239)
	v.Sub(v, other.Lsh(other, 2))
	v.Sub(v, new(big.Int).Mul(big.NewInt(3), one))
	v.Rsh(v, guard)
	return v.FillBytes(make([]byte, bits/8))
}

// encrypt encrypts a block of two halves.
func (c *cipher) encrypt(l, r uint32) (uint32, uint32) {
	for i := 0; i < 16; i += 2 {
		l ^= c.p[i]
		r ^= ((c.s[0][l>>24] + c.s[1][l>>16&0xff]) ^ c.s[2][l>>8&0xff]) + c.s[3][l&0xff]
		r ^= c.p[i+1]
		l ^= ((c.s[0][r>>24] + c.s[1][r>>16&0xff]) ^ c.s[2][r>>8&0xff]) + c.s[3][r&0xff]
	}
	return r ^ c.p[17], l ^ c.p[16]
}

// A wheel gives the words of some bytes, over and over.
type wheel struct {
	b  []byte
	at int
}

func (w *wheel) next() uint32 {
	if len(w.b) == 0 {
		return 0
	}
	var v uint32
	for range 4 {
		v = v<<8 | uint32(w.b[w.at])
		w.at = (w.at + 1) % len(w.b)
	}
	return v
}

// expand mixes a key and a salt, which may be empty, into the state.
func (c *cipher) expand(key, salt []byte) {
	k, s := wheel{b: key}, wheel{b: salt}
	for i := range c.p {
		c.p[i] ^= k.next()
	}
	var l, r uint32
	for i := 0; i < len(c.p); i += 2 {
		l, r = c.encrypt(l^s.next(), r^s.next())
		c.p[i], c.p[i+1] = l, r
	}
	for i := range c.s {
		for j := 0; j < 256; j += 2 {
			l, r = c.encrypt(l^s.next(), r^s.next())
			c.s[i][j], c.s[i][j+1] = l, r
		}
	}
}
