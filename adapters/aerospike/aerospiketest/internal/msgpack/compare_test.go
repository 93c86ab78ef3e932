package msgpack_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
)

func TestCompareOrdersValuesOfEveryKind(t *testing.T) {
	rising := []string{
		"\xc0", "\xc2", "\xc3",
		"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "\xd1\xff\x00", "\xe0", "\xff",
		"\x00", "\x7f", "\xcc\x80", "\xcd\x01\x00", "\xce\x00\x01\x00\x00", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
		"\xa1\x03", "\xa2\x03a", "\xa3\x03ab", "\xa2\x03b",
		"\x90", "\x91\x01", "\x92\x01\x02", "\x91\x02", "\x91\x90",
		"\x80", "\x81\x01\x02", "\x81\x01\x03", "\x81\x02\x00", "\x82\x00\x00\x01\x00",
		"\xa0", "\xa1\x04", "\xa2\x04\x00", "\xa2\x04\xff", "\xc4\x03\x04\xff\x00",
		"\xcb\xff\xf0\x00\x00\x00\x00\x00\x00", "\xcb\xbf\xf0\x00\x00\x00\x00\x00\x00", "\xca\x00\x00\x00\x00", "\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00",
		"\xa3\x17{}", "\xc7\x01\x07x", "\xd4\xff\x01",
	}
	for i, a := range rising {
		for j, b := range rising {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			require.Equal(t, want, msgpack.Compare([]byte(a), []byte(b)), "%x %x", a, b)
		}
		require.True(t, msgpack.Equal([]byte(a), []byte("\xd4\xff\x00")), "wildcard and %x", a)
		require.True(t, msgpack.Valid([]byte(a)))
	}
	nan := msgpack.AppendFloat(nil, math.NaN())
	require.True(t, msgpack.Equal(nan, msgpack.AppendFloat(nil, 1)))
}

func TestCompareLooksPastFlags(t *testing.T) {
	ordered := msgpack.AppendListHead(nil, 1, 1)
	require.True(t, msgpack.Equal(append(ordered, 5), []byte{0x91, 5}))
	m := append(msgpack.AppendMapHead(nil, 1, 1), 5, 6)
	order, unordered := msgpack.CompareStrict(m, m)
	require.Zero(t, order)
	require.False(t, unordered)
	_, unordered = msgpack.CompareStrict(m, []byte{0x81, 5, 6})
	require.True(t, unordered)
	_, unordered = msgpack.CompareStrict([]byte{0x80}, []byte{0x80})
	require.False(t, unordered)
	_, unordered = msgpack.CompareStrict([]byte{0x91, 0x81, 5, 6}, []byte{0x91, 1})
	require.True(t, unordered)
}

func TestCompareEndsAtAWildcard(t *testing.T) {
	require.True(t, msgpack.Equal([]byte{0x92, 1, 0xd4, 0xff, 0}, []byte{0x93, 1, 2, 3}))
	require.False(t, msgpack.Equal([]byte{0x92, 2, 0xd4, 0xff, 0}, []byte{0x93, 1, 2, 3}))
	require.Equal(t, 1, msgpack.Compare([]byte{0x92, 1, 0xd4, 0xff, 1}, []byte{0x92, 1, 0x90}))
}

func TestIntegersAreShort(t *testing.T) {
	for v, size := range map[int64]int{
		0: 1, 127: 1, 128: 2, 255: 2, 256: 3, 65535: 3, 65536: 5, math.MaxUint32: 5, math.MaxUint32 + 1: 9, math.MaxInt64: 9,
		-1: 1, -32: 1, -33: 2, -128: 2, -129: 3, math.MinInt16: 3, math.MinInt16 - 1: 5, math.MinInt32: 5, math.MinInt32 - 1: 9, math.MinInt64: 9,
	} {
		b := msgpack.AppendInt(nil, v)
		require.Len(t, b, size, "%d", v)
		got, rest, ok := msgpack.Int(b)
		require.True(t, ok)
		require.Empty(t, rest)
		require.Equal(t, v, got)
	}
}

func TestHeadsAndBytes(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 65535, 65536} {
		for _, flags := range []byte{0, 1} {
			items := bytes.Repeat([]byte{0xc0}, n)
			got, f, rest, ok := msgpack.ListHead(append(msgpack.AppendListHead(nil, n, flags), items...))
			require.True(t, ok)
			require.Equal(t, []any{n, flags, n}, []any{got, f, len(rest)})
			got, f, rest, ok = msgpack.MapHead(append(append(msgpack.AppendMapHead(nil, n, flags), items...), items...))
			require.True(t, ok)
			require.Equal(t, []any{n, flags, 2 * n}, []any{got, f, len(rest)})
		}
		want := make([]byte, n)
		got, rest, ok := msgpack.Bytes(msgpack.AppendBytes(nil, 4, want))
		require.True(t, ok)
		require.Empty(t, rest)
		require.Equal(t, append([]byte{4}, want...), got)
	}
}

func TestReadersRefuseWhatIsCutShort(t *testing.T) {
	for _, b := range []string{"", "\xcd\x01", "\xd3", "\xa2\x03", "\xdb\x00", "\xc7\x02\x01x", "\xdc\x00", "\xdd\xff\xff\xff\xff", "\x82", "\xc1"} {
		v := []byte(b)
		_, _, ok1 := msgpack.Int(v)
		_, _, ok2 := msgpack.Number(v)
		_, _, ok3 := msgpack.Bytes(v)
		_, _, ok4 := msgpack.Value(v)
		_, _, _, ok5 := msgpack.ListHead(v)
		_, _, _, ok6 := msgpack.MapHead(v)
		_, _, ok7 := msgpack.Bool(v)
		_, _, _, ok8 := msgpack.Extension(v)
		require.False(t, ok1 || ok2 || ok3 || ok4 || ok5 || ok6 || ok7 || ok8, "%x", b)
	}
}

func TestHasUnstorable(t *testing.T) {
	for b, want := range map[string]bool{
		"\xd4\xff\x00": true, "\xd4\xff\x01": true, "\xd4\xff\x07": true, "\xd5\xff\x00\x00": true, "\x92\x01\xd4\xff\x00": true, "\x81\x01\x91\xd4\xff\x01": true,
		"\x91\xc7\x00\xff": false, "\x92\xc7\x00\x01\x05": false, "\x90": false, "\xd4\x01\x00": false, "": false, "\x92\x01": false,
	} {
		require.Equal(t, want, msgpack.HasUnstorable([]byte(b)), "%x", b)
	}
}

// FuzzCompare compares anything with anything: it ends, and both ways round it
// says the same.
func FuzzCompare(f *testing.F) {
	f.Add([]byte{0x92, 1, 0x90}, []byte{0x92, 1, 0x80})
	f.Add([]byte{0x81, 1, 0xa2, 3, 'a'}, []byte{0xc7, 0, 1})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if !msgpack.Valid(a) || !msgpack.Valid(b) {
			_ = msgpack.Compare(a, b)
			return
		}
		require.Equal(t, msgpack.Compare(a, b), -msgpack.Compare(b, a))
		require.Zero(t, msgpack.Compare(a, a))
	})
}
