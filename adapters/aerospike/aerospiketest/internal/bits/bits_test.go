package bits_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/bits"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// call packs a code and its arguments.
func call(args ...any) []byte {
	b := msgpack.AppendListLen(nil, len(args))
	for _, a := range args {
		switch v := a.(type) {
		case int:
			b = msgpack.AppendInt(b, int64(v))
		case bool:
			b = msgpack.AppendBool(b, v)
		case string: // hex
			b = msgpack.AppendBytes(b, wire.ParticleBlob, unhex(v))
		}
	}
	return b
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func blob(s string) store.Value { return store.Value{Type: wire.ParticleBlob, Data: unhex(s)} }

func TestModify(t *testing.T) {
	const old = "0142030405"
	for _, c := range []struct {
		name string
		call []byte
		want string
	}{
		{"resize", call(0, 7, 0, 0), "01420304050000"},
		{"resize at the front", call(0, 7, 0, 1), "00000142030405"},
		{"shrink at the front", call(0, 2, 0, 1), "0405"},
		{"shrink to nothing", call(0, 0, 0, 0), ""},
		{"insert", call(1, 1, "ffc7", 0), "01ffc742030405"},
		{"insert past the end", call(1, 7, "ff", 0), "01420304050000ff"},
		{"insert from the end", call(1, -1, "ff", 0), "01420304ff05"},
		{"remove", call(2, 2, 3, 0), "0142"},
		{"remove partially", call(2, 4, 3, 8), "01420304"},
		{"set", call(3, 13, 3, "e0", 0), "0147030405"},
		{"or", call(4, 17, 6, "a8", 0), "0142570405"},
		{"xor", call(5, 17, 6, "ac", 0), "0142550405"},
		{"and", call(6, 23, 9, "3c80", 0), "0142020005"},
		{"not", call(7, 25, 6, 0), "0142037a05"},
		{"lshift", call(8, 32, 8, 3, 0), "0142030428"},
		{"rshift", call(9, 0, 9, 1, 0), "00c2030405"},
		{"shift everything out", call(8, 0, 8, 9, 0), "0042030405"},
		{"add", call(10, 24, 16, 128, 0, 0), "0142030485"},
		{"subtract", call(11, 24, 16, 128, 0, 0), "0142030385"},
		{"set an integer", call(12, 1, 8, 127, 0), "3fc2030405"},
		{"set past the end, partially", call(3, 36, 8, "ff", 8), "014203040f"},
		{"set past the end without failing", call(3, 36, 8, "ff", 4), old},
		{"create only without failing", call(0, 9, 5, 0), old},
		{"grow only without failing", call(0, 2, 4, 2), old},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := blob(old)
			got, code := bits.Modify(v, c.call)
			require.Equal(t, wire.OK, code)
			require.Equal(t, blob(c.want), got)
			require.Equal(t, blob(old), v, "changed in place")
		})
	}
}

func TestArithmetic(t *testing.T) {
	const signed, saturate, wrap = 1, 2, 4
	for _, c := range []struct {
		op, value, flags int
		old, want        string // no want is a failure
	}{
		{10, 1, 0, "ff", ""},
		{10, 1, saturate, "ff", "ff"},
		{10, 1, wrap, "ff", "00"},
		{10, 1, signed, "ff", "00"},
		{10, 1, signed, "7f", ""},
		{10, 1, signed | saturate, "7f", "7f"},
		{10, 1, signed | wrap, "7f", "80"},
		{10, -1, signed | saturate, "80", "80"},
		{10, -128, signed, "80", "00"}, // a sum of 0 is no overflow, as on the real server
		{11, 1, 0, "00", ""},
		{11, 1, saturate, "00", "00"},
		{11, 1, signed, "80", ""},
		{11, -1, signed | saturate, "7f", "7f"},
		{11, 255, wrap, "00", "01"},
	} {
		got, code := bits.Modify(blob(c.old), call(c.op, 0, 8, c.value, 0, c.flags))
		if c.want == "" {
			require.Equal(t, wire.OpNotApplicable, code, "%+v", c)
			_, code = bits.Modify(blob(c.old), call(c.op, 0, 8, c.value, 4, c.flags))
			require.Equal(t, wire.OK, code, "%+v", c)
			continue
		}
		require.Equal(t, wire.OK, code, "%+v", c)
		require.Equal(t, blob(c.want), got, "%+v", c)
	}
}

func TestRead(t *testing.T) {
	integer := func(n int) store.Value {
		b := make([]byte, 8)
		for i := range b {
			b[i] = byte(n >> (56 - 8*i))
		}
		return store.Value{Type: wire.ParticleInteger, Data: b}
	}
	for _, c := range []struct {
		name string
		call []byte
		want store.Value
	}{
		{"get", call(50, 9, 5), blob("80")},
		{"get over a border", call(50, 3, 13), blob("0a10")},
		{"get from the end", call(50, -8, 8), blob("05")},
		{"count", call(51, 20, 4), integer(2)},
		{"count from the end", call(51, -16, 16), integer(3)},
		{"lscan", call(52, 24, 8, true), integer(5)},
		{"lscan of none", call(52, 24, 4, true), integer(-1)},
		{"rscan", call(53, 32, 8, true), integer(7)},
		{"rscan before the range", call(53, 10, 3, true), integer(-1)},
		{"rscan of nothing", call(53, 0, 4, true), integer(-1)},
		{"get an integer", call(54, 8, 16), integer(0x4203)},
		{"get a signed integer", call(54, 15, 2, 1), integer(0)},
	} {
		got, code := bits.Read(blob("0142030405"), c.call)
		require.Equal(t, wire.OK, code, c.name)
		require.Equal(t, c.want, got, c.name)
	}
}

func TestErrors(t *testing.T) {
	none := store.Value{}
	for _, c := range []struct {
		name string
		on   store.Value
		call []byte
		want wire.Code
	}{
		{"no list", blob("01"), []byte{1}, wire.ParameterError},
		{"empty list", blob("01"), call(), wire.ParameterError},
		{"unknown operation", blob("01"), call(99), wire.ParameterError},
		{"a read", blob("01"), call(50, 0, 8), wire.ParameterError},
		{"too few arguments", blob("01"), call(3, 0, 8), wire.ParameterError},
		{"too many arguments", blob("01"), call(7, 0, 8, 0, 0), wire.ParameterError},
		{"unknown flags", blob("01"), call(7, 0, 8, 16), wire.ParameterError},
		{"flags of another operation", blob("01"), call(7, 0, 8, 1), wire.ParameterError},
		{"both flags", blob("01"), call(0, 0, 3, 0), wire.ParameterError},
		{"grow and shrink", blob("01"), call(0, 3, 0, 6), wire.ParameterError},
		{"no bits", blob("01"), call(7, 0, 0, 0), wire.ParameterError},
		{"value too short", blob("0101"), call(3, 0, 16, "ff", 0), wire.ParameterError},
		{"integer too wide", blob("01"), call(10, 0, 65, 1, 0, 0), wire.ParameterError},
		{"before the start", blob("01"), call(7, -9, 8, 0), wire.ParameterError},
		{"negative shift", blob("01"), call(8, 0, 8, -1, 0), wire.ParameterError},
		{"grow only", blob("0101"), call(0, 1, 0, 2), wire.ParameterError},
		{"remove past the end", blob("01"), call(2, 0, 2, 0), wire.ParameterError},
		{"past the end", blob("01"), call(7, 4, 8, 0), wire.OpNotApplicable},
		{"integer past the end, partial or not", blob("01"), call(12, 4, 8, 1, 0), wire.OpNotApplicable},
		{"create only", blob("01"), call(0, 3, 1, 0), wire.BinExists},
		{"update only", none, call(0, 3, 2, 0), wire.BinNotFound},
		{"nothing to change", none, call(7, 0, 8, 0), wire.BinNotFound},
		{"nothing to insert into from the end", none, call(1, -1, "ff", 0), wire.ParameterError},
		{"no blob", store.Value{Type: wire.ParticleString, Data: []byte("a")}, call(7, 0, 8, 0), wire.BinTypeError},
		{"too large", none, call(0, 100<<20, 0, 0), wire.RecordTooBig},
	} {
		_, code := bits.Modify(c.on, c.call)
		require.Equal(t, c.want, code, c.name)
	}
	for name, c := range map[string]struct {
		on   store.Value
		call []byte
		want wire.Code
	}{
		"a write":       {blob("01"), call(7, 0, 8, 0), wire.ParameterError},
		"no blob":       {store.Value{Type: wire.ParticleInteger, Data: make([]byte, 8)}, call(50, 0, 8), wire.BinTypeError},
		"past the end":  {blob("01"), call(50, 1, 8), wire.OpNotApplicable},
		"empty blob":    {blob(""), call(50, 0, 1), wire.OpNotApplicable},
		"before it all": {blob("01"), call(50, -9, 1), wire.ParameterError},
		"flags":         {blob("01"), call(54, 0, 8, 2), wire.ParameterError},
	} {
		_, code := bits.Read(c.on, c.call)
		require.Equal(t, c.want, code, name)
	}
}

// FuzzBits makes calls of any bytes on blobs of any bytes: none may panic, and
// one that fails changes nothing.
func FuzzBits(f *testing.F) {
	for _, c := range [][]byte{call(0, 9, 0, 1), call(1, -1, "ff00", 0), call(2, 1, 9, 8), call(3, -9, 9, "ffff", 8), call(8, 3, 9, 2, 0), call(11, 5, 11, -3, 0, 3), call(50, 1, 9), call(53, 5, 9, false), call(54, 0, 12, 1)} {
		f.Add([]byte{1, 2, 3}, c)
	}
	f.Fuzz(func(t *testing.T, b, args []byte) {
		v := store.Value{Type: wire.ParticleBlob, Data: b}
		before := string(b)
		for _, on := range []store.Value{v, {}} {
			got, code := bits.Modify(on, args)
			if code != wire.OK && (got.Type != on.Type || string(got.Data) != string(on.Data)) || string(b) != before {
				t.Fatalf("%x: changed in spite of code %d", args, code)
			}
			bits.Read(on, args)
		}
	})
}
