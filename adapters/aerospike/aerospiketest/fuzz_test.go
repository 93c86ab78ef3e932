package aerospiketest_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// fuzzServer is a server with a record that has to be there after every input.
func fuzzServer(f *testing.F) (*aerospiketest.Server, func(t *testing.T)) {
	s := aerospiketest.NewServer(f)
	ns, digest := field(0, []byte("test")), field(4, bytes.Repeat([]byte{7}, 20))
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = c.Close() })
	write := frame{info2: 1, fields: [][]byte{ns, digest}, ops: [][]byte{rawOp(2, 1, "a", make([]byte, 8))}}.body()
	return s, func(t *testing.T) {
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, body := ask(t, c, proto(2, 3, write)); len(body) != 22 || body[5] != 0 {
			t.Fatalf("the server answers %x", body)
		}
	}
}

// seeds are bodies of messages of every kind.
func seeds() [][]byte {
	ns, set, digest := field(0, []byte("test")), field(1, []byte("s")), field(4, bytes.Repeat([]byte{7}, 20))
	one := make([]byte, 8)
	rec := [][]byte{ns, set, digest}
	batch := append([]byte{0, 0, 0, 1, 5, 0, 0, 0, 0}, bytes.Repeat([]byte{7}, 20)...)
	item := append([]byte{0x0e, 1, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1}, append(append(bytes.Clone(ns), set...), rawOp(5, 1, "a", one)...)...)
	old := append([]byte{0, 1, 0, 2, 0, 0}, append(bytes.Clone(ns), set...)...)
	return [][]byte{
		frame{info1: 3, fields: rec}.body(),
		frame{info1: 1, fields: append(rec, field(43, []byte{0xc1})), ops: [][]byte{rawOp(1, 0, "a", nil)}}.body(),
		frame{info1: 1, info2: 0x81, fields: rec, ops: [][]byte{rawOp(2, 1, "a", one), rawOp(9, 3, "s", []byte("x")), rawOp(14, 0, "", nil), rawOp(1, 0, "", nil)}}.body(),
		frame{info2: 1, fields: rec, ops: [][]byte{rawOp(2, 20, "l", []byte{0x92, 1, 0xa2, 3, 'x'}), rawOp(2, 23, "g", []byte(`...{"type":"Point","coordinates":[1,2]}`))}}.body(),
		frame{info2: 3, fields: rec}.body(),
		frame{info1: 8, fields: [][]byte{field(41, append(bytes.Clone(batch), item...))}}.body(),
		frame{info1: 9, fields: [][]byte{field(42, append(bytes.Clone(batch), old...))}}.body(),
		frame{info1: 1, info3: 4, fields: [][]byte{ns, set, field(11, []byte{7, 7}), field(13, one), field(7, one)}}.body(),
		frame{info1: 1, info3: 4, fields: [][]byte{ns, field(11, []byte{7, 7}), field(40, append([]byte{1, 255}, bytes.Repeat([]byte{'b'}, 255)...))}}.body(),
		frame{info1: 1, info3: 4, fields: [][]byte{ns, field(12, bytes.Repeat([]byte{7}, 20))}}.body(),
	}
}

// FuzzMessage sends well-framed messages of any content, of which each must be
// answered, and asks for the record after each.
func FuzzMessage(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b)
	}
	s, check := fuzzServer(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		c := dial(t, s.Addr())
		defer func() { _ = c.Close() }()
		if _, b := ask(t, c, proto(2, 3, body)); len(b) < 22 || b[0] != 22 {
			t.Fatalf("the answer is no message: %x", b)
		}
		check(t)
	})
}

// FuzzFrame sends any bytes and hangs up: the server must do so too.
func FuzzFrame(f *testing.F) {
	for _, b := range seeds() {
		f.Add(proto(2, 3, b))
		f.Add(proto(2, 4, b))
	}
	f.Add(proto(2, 1, []byte("node\nreplicas:max=1\nsets/test/s\ntruncate:namespace=test;set=x;lut=1\n")))
	f.Add(proto(2, 2, make([]byte, 16)))
	f.Add(binary.BigEndian.AppendUint64(nil, 2<<56|3<<48|1<<40))
	s, check := fuzzServer(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		c := dial(t, s.Addr())
		defer func() { _ = c.Close() }()
		_, werr := c.Write(b) // the server may hang up before all is written
		if werr == nil {
			_ = c.(*net.TCPConn).CloseWrite()
		}
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("the server does not hang up")
		}
		check(t)
	})
}
