package security

import (
	"encoding/base64"
	"encoding/binary"
)

// The salt that all drivers use: a password's hash is what they send in its place.
const (
	salt = "7EqJtq98hPqEX7fNZaFWoO"
	head = "$2a$10$" + salt
	cost = 10
	most = 72 // bytes of a password that count
)

// A hasher makes hashes of passwords. Its cipher is only copied.
type hasher struct{ start *cipher }

// hash returns the bcrypt of a password, as drivers send it.
func (h hasher) hash(password string) []byte {
	encoding := base64.NewEncoding("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").WithPadding(base64.NoPadding)
	grain, err := encoding.DecodeString(salt)
	if err != nil {
		return nil // the salt is a constant
	}
	key := append([]byte(password), 0)
	key = key[:min(len(key), most)]
	c := *h.start
	c.expand(key, grain)
	for range 1 << cost {
		c.expand(key, nil)
		c.expand(grain, nil)
	}
	text := []byte("OrpheanBeholderScryDoubt")
	for i := 0; i < len(text); i += 8 {
		l, r := binary.BigEndian.Uint32(text[i:]), binary.BigEndian.Uint32(text[i+4:])
		for range 64 {
			l, r = c.encrypt(l, r)
		}
		binary.BigEndian.PutUint32(text[i:], l)
		binary.BigEndian.PutUint32(text[i+4:], r)
	}
	return append([]byte(head), encoding.EncodeToString(text[:23])...)
}
