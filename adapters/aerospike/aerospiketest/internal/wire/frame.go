package wire

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
)

// Errors of frames. After either of them nothing more can be made of the
// stream.
var (
	ErrFrame = errors.New("wire: not a frame of this protocol")
	ErrSize  = errors.New("wire: frame too large")
)

// keepBuffer is how large a buffer may stay between two frames.
const keepBuffer = 1 << 20

// growStep is how much is read at once of a large body: memory follows what a
// peer has sent, not what it has announced.
const growStep = 1 << 20

// ReadFrame reads a frame into buf, or a larger buffer when buf is too small,
// and returns its type, its body and the buffer to be used next time.
func ReadFrame(r io.Reader, buf []byte) (typ byte, body, next []byte, err error) {
	if cap(buf) < FrameSize || cap(buf) > keepBuffer {
		buf = make([]byte, 4096)
	}
	head := buf[:FrameSize]
	if _, err = io.ReadFull(r, head); err != nil {
		return 0, nil, buf, err
	}
	h := binary.BigEndian.Uint64(head)
	typ = byte(h >> 48)
	if h>>56 != Version || typ < TypeInfo || typ > TypeCompressed {
		return typ, nil, buf, ErrFrame
	}
	size := h & (1<<48 - 1)
	if size > MaxBody {
		return typ, nil, buf, ErrSize
	}
	body = buf[:0]
	for len(body) < int(size) {
		n := min(int(size)-len(body), growStep)
		if cap(body)-len(body) < n {
			body = append(make([]byte, 0, max(len(body)+n, min(2*cap(body), int(size)))), body...)
		}
		at := len(body)
		body = body[:at+n]
		if _, err = io.ReadFull(r, body[at:]); err != nil {
			return typ, nil, body, err
		}
	}
	return typ, body, body, nil
}

// Inflate returns the body of the message inside a compressed frame's body.
func Inflate(b []byte) ([]byte, error) {
	if len(b) < 8 {
		return nil, ErrFrame
	}
	size := binary.BigEndian.Uint64(b)
	if size > MaxBody+FrameSize {
		return nil, ErrSize
	}
	z, err := zlib.NewReader(bytes.NewReader(b[8:]))
	if err != nil {
		return nil, ErrFrame
	}
	defer func() { _ = z.Close() }() // reads from memory
	var out bytes.Buffer
	if n, err := io.Copy(&out, io.LimitReader(z, int64(size)+1)); err != nil || uint64(n) != size || size < FrameSize {
		return nil, ErrFrame
	}
	in := out.Bytes()
	h := binary.BigEndian.Uint64(in)
	if h>>48 != Version<<8|TypeMessage || h&(1<<48-1) != size-FrameSize {
		return nil, ErrFrame
	}
	return in[FrameSize:], nil
}
