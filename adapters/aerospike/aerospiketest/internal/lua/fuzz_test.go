package lua

import (
	"testing"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// FuzzModule runs any text as a module. It must come to an end, and not panic.
func FuzzModule(f *testing.F) {
	for _, s := range []string{
		"function f(r, x) r.a = x aerospike:create(r) return list{r.a, 1 / 2, x .. 'y'} end", "f = function() return ('x'):rep(9):gsub('x', '%0') end",
		"function f() local t = {} for i = 1, 9 do t[i * 1.0] = -i end return #t end", "function f() return bytes.get_int16(bytes(4), 2) end", "goto x ::x::", "return ((((((1))))))",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		r := udf.NewRegistry(Compiler(nil))
		if r.Put("m.lua", source) != nil {
			return
		}
		v, err := r.Call("m", "f", udf.NewRecord(udf.Header{}, nil), []any{int64(1)})
		if err == nil {
			_, _ = udf.Encode(v) // nothing but no panic is promised
		}
	})
}
