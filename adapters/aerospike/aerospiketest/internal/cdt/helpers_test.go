package cdt_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/cdt"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// Values of tests beside plain Go ones: a map is a list of keys and values.
type (
	m        []any
	flagged  struct{ flags, value any }
	wildcard struct{}
	infinity struct{}
	raw      string
)

// pack is v in msgpack.
func pack(v any) []byte { return appendValue(nil, v, 0) }

func appendValue(b []byte, v any, flags byte) []byte {
	switch t := v.(type) {
	case nil:
		return msgpack.AppendNil(b)
	case bool:
		return msgpack.AppendBool(b, t)
	case int64:
		return msgpack.AppendInt(b, t)
	case int:
		return msgpack.AppendInt(b, int64(t))
	case float64:
		return msgpack.AppendFloat(b, t)
	case string:
		return msgpack.AppendBytes(b, wire.ParticleString, []byte(t))
	case []byte:
		return msgpack.AppendBytes(b, wire.ParticleBlob, t)
	case []any:
		b = msgpack.AppendListHead(b, len(t), flags)
		for _, x := range t {
			b = appendValue(b, x, 0)
		}
		return b
	case m:
		b = msgpack.AppendMapHead(b, len(t)/2, flags)
		for _, x := range t {
			b = appendValue(b, x, 0)
		}
		return b
	case flagged:
		return appendValue(b, t.value, byte(t.flags.(int)))
	case wildcard:
		return append(b, 0xd4, 0xff, 0)
	case infinity:
		return append(b, 0xd4, 0xff, 1)
	case raw:
		return append(b, t...)
	}
	panic(fmt.Sprintf("%T", v))
}

// show is msgpack as text: flags stand in front of lists and maps.
func show(b []byte) string {
	s, _ := text(b)
	return s
}

func text(b []byte) (s string, rest []byte) {
	switch k := msgpack.Peek(b); k {
	case msgpack.Nil:
		return "nil", b[1:]
	case msgpack.False, msgpack.True:
		return fmt.Sprint(k == msgpack.True), b[1:]
	case msgpack.NegInt, msgpack.Uint:
		v, rest, _ := msgpack.Int(b)
		return fmt.Sprint(v), rest
	case msgpack.Float:
		v, rest, _ := msgpack.Number(b)
		return fmt.Sprintf("%.2f", v), rest
	case msgpack.String, msgpack.Blob:
		v, rest, _ := msgpack.Bytes(b)
		if k == msgpack.Blob {
			return fmt.Sprintf("x%x", v[1:]), rest
		}
		return string(v[1:]), rest
	case msgpack.ListKind:
		n, flags, b, _ := msgpack.ListHead(b)
		return elements(b, n, flags, "[", "]")
	case msgpack.MapKind:
		n, flags, b, _ := msgpack.MapHead(b)
		return elements(b, 2*n, flags, "{", "}")
	default:
		return fmt.Sprintf("?%x", b), nil
	}
}

func elements(b []byte, n int, flags byte, open, end string) (string, []byte) {
	words := make([]string, n)
	for i := range words {
		words[i], b = text(b)
	}
	prefix := ""
	if flags != 0 {
		prefix = fmt.Sprint(flags)
	}
	return prefix + open + strings.Join(words, " ") + end, b
}

// answer is a value as text.
func answer(v store.Value) string {
	switch v.Type {
	case wire.ParticleNull:
		return ""
	case wire.ParticleInteger:
		return fmt.Sprint(int64(binary.BigEndian.Uint64(v.Data)))
	case wire.ParticleFloat:
		return fmt.Sprintf("%.2f", math.Float64frombits(binary.BigEndian.Uint64(v.Data)))
	case wire.ParticleBool:
		return fmt.Sprint(v.Data[0] == 1)
	case wire.ParticleString:
		return string(v.Data)
	case wire.ParticleBlob:
		return fmt.Sprintf("x%x", v.Data)
	}
	return show(v.Data)
}

// bin is a bin's value: nil is none.
func bin(v any) store.Value {
	switch t := v.(type) {
	case nil:
		return store.Value{}
	case flagged:
		x := bin(t.value)
		x.Data = pack(v)
		return x
	case []any:
		return store.Value{Type: wire.ParticleList, Data: pack(v)}
	case m:
		return store.Value{Type: wire.ParticleMap, Data: pack(v)}
	case string:
		return store.Value{Type: wire.ParticleString, Data: []byte(t)}
	}
	panic(fmt.Sprintf("%T", v))
}

// op is an operation: a code and its arguments.
func op(code int, args ...any) []byte { return pack(append([]any{code}, args...)) }

// at is an operation behind a context of kinds and values.
func at(context []any, code int, args ...any) []byte {
	return pack([]any{0xff, context, append([]any{code}, args...)})
}

// A check is an operation on a value and what comes of it.
type check struct {
	value  any
	op     []byte
	want   string // the bin afterwards, "-" if there is none, "" if nothing changed
	answer string
	code   wire.Code
}

// modify carries out operations that change.
func modify(t *testing.T, checks []check) {
	t.Helper()
	for _, c := range checks {
		before := bin(c.value)
		want := c.want
		if want == "" {
			want = answer(before)
		}
		was := string(before.Data)
		after, got, code := cdt.Modify(before, c.op)
		if code != c.code {
			t.Errorf("%v %s: code %d, not %d", c.value, show(c.op), code, c.code)
			continue
		}
		if string(before.Data) != was {
			t.Errorf("%v %s: the value that was given has changed", c.value, show(c.op))
		}
		if code != wire.OK {
			continue
		}
		is := answer(after)
		if after.Type == wire.ParticleNull {
			is = "-"
		}
		if is != want || answer(got) != c.answer {
			t.Errorf("%v %s: %s with answer %q, not %s with %q", c.value, show(c.op), is, answer(got), want, c.answer)
		}
	}
}

// read carries out operations that read.
func read(t *testing.T, checks []check) {
	t.Helper()
	for _, c := range checks {
		got, code := cdt.Read(bin(c.value), c.op)
		if code != c.code || answer(got) != c.answer {
			t.Errorf("%v %s: code %d and answer %q, not %d and %q", c.value, show(c.op), code, answer(got), c.code, c.answer)
		}
	}
}
