package msgpack_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
)

func TestValid(t *testing.T) {
	for _, b := range []string{
		"\x00", "\xe0", "\xc0", "\xc2", "\xc3", "\xa2\x03k", "\xc4\x01x", "\xc5\x00\x01x", "\xc6\x00\x00\x00\x01x", "\xd9\x01x", "\xda\x00\x01x", "\xdb\x00\x00\x00\x01x",
		"\xcc\x01", "\xcd\x01\x02", "\xce\x01\x02\x03\x04", "\xcf12345678", "\xd0\x01", "\xd1\x01\x02", "\xd2\x01\x02\x03\x04", "\xd3\x31\x32\x33\x34\x35\x36\x37\x38", "\xca1234", "\xcb12345678",
		"\xc7\x00\x01", "\xc8\x00\x01\x01x", "\xc9\x00\x00\x00\x01\x01x", "\xd4\x01x", "\xd5\x01xx", "\xd6\x01xxxx", "\xd7\x01xxxxxxxx", "\xd8\x01xxxxxxxxxxxxxxxx",
		"\x92\x01\x90", "\x81\x01\x80", "\xdc\x00\x01\x01", "\xdd\x00\x00\x00\x01\x01", "\xde\x00\x01\x01\x02", "\xdf\x00\x00\x00\x01\x01\x02", "\x94\xc7\x00\x01\x01\x02\x03",
	} {
		require.True(t, msgpack.Valid([]byte(b)), "%x", b)
		for n := range len(b) {
			require.False(t, msgpack.Valid([]byte(b)[:n]), "%x cut at %d", b, n)
		}
		require.False(t, msgpack.Valid([]byte(b+"\x00")), "%x and more", b)
	}
	for _, b := range []string{"\xc1", "\xdd\xff\xff\xff\xff\x01", "\xc6\xff\xff\xff\xff", "\x93\x01\x02"} {
		require.False(t, msgpack.Valid([]byte(b)), "%x", b)
	}
	require.False(t, msgpack.Valid(append(bytes.Repeat([]byte{0x91}, 1<<20), 1)), "too deep")
}

func TestListAndMap(t *testing.T) {
	for b, want := range map[string][2]bool{"\x90": {true, false}, "\x80": {false, true}, "\x01": {}, "": {}, "\x91": {}, "\xdc\x00\x00": {true, false}, "\xdf\x00\x00\x00\x00": {false, true}} {
		require.Equal(t, want, [2]bool{msgpack.List([]byte(b)), msgpack.Map([]byte(b))}, "%x", b)
	}
}
