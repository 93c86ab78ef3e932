package aerospiketest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Func is a record's function in Go. What it returns is the result of the call; an
// error is answered with CodeUDF and its text, and so is a panic; both undo what it has
// created, updated or removed. It is called under the lock of the record's partition:
// it must not wait, nor use a client of the same server, nor call the server's Records,
// Truncate or Close, nor kill or remove a node. One that ends its goroutine, as a
// test's FailNow does, ends the connection.
//
// Arguments, bins and results are nil, bool, int64, float64, string, []byte,
// [GeoJSON], [HLL], []any and map[any]any; a map's key that is a blob is a string of
// the type [BlobKey]. A function may also return, and set bins to, other integers
// and float32. Aggregations need Lua.
type Func func(r *UDFRecord, args []any) (any, error)

// GeoJSON is the text of a shape, as functions see it.
type GeoJSON string

// HLL is a HyperLogLog sketch, as functions see it.
type HLL []byte

// BlobKey is a map's key that is a blob, as functions see it.
type BlobKey string

// RegisterFunc makes a function in Go answer the calls of a package's function,
// alone, in batches and in the background, in place of one in Lua by that name. A
// nil f takes it back. It is an error to name nothing.
func (s *Server) RegisterFunc(pkg, function string, f Func) error {
	if pkg == "" || function == "" {
		return fmt.Errorf("aerospiketest: RegisterFunc of package %q and function %q, want a name for both", pkg, function)
	}
	if f == nil {
		s.catalog.Functions.Register(pkg, function, nil)
		return nil
	}
	s.catalog.Functions.Register(pkg, function, func(r *udf.Record, args []any) (any, error) {
		out := make([]any, len(args))
		for i, a := range args {
			out[i] = outward(a)
		}
		v, err := f(&UDFRecord{rec: r}, out)
		if err != nil {
			return nil, err
		}
		return inward(v, 0)
	})
	return nil
}

// RegisterLua registers a module of functions in Lua, as a client's RegisterUDF
// does: file is its name with the extension, which is .lua. The error says where the
// text is wrong.
func (s *Server) RegisterLua(file, source string) error {
	if name, ok := strings.CutSuffix(file, ".lua"); !ok || name == "" || strings.ContainsAny(file, "/,\t\n;=") {
		return fmt.Errorf("aerospiketest: RegisterLua of file %q, want a name with the extension .lua, without separators", file)
	}
	if err := s.catalog.Functions.Put(file, source); err != nil {
		return fmt.Errorf("aerospiketest: module %s: %w", file, err)
	}
	return nil
}

// outward returns a value as functions in Go see it.
func outward(v any) any {
	switch v := v.(type) {
	case udf.GeoJSON:
		return GeoJSON(v)
	case *udf.Bytes:
		if v.Type == wire.ParticleHLL {
			return HLL(v.Data)
		}
		return v.Data
	case *udf.List:
		l := make([]any, len(v.Items))
		for i, x := range v.Items {
			l[i] = outward(x)
		}
		return l
	case *udf.Map:
		m := make(map[any]any, v.Len())
		v.Pairs(func(k, x any) bool {
			if b, ok := k.(*udf.Bytes); ok {
				k = BlobKey(b.Data)
			} else {
				k = outward(k)
			}
			m[k] = outward(x)
			return true
		})
		return m
	}
	return v
}

// inward is the way back.
func inward(v any, depth int) (any, error) {
	if depth > 200 {
		return nil, errors.New("aerospiketest: a value is nested too deep")
	}
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v, nil
	case []byte:
		return udf.NewBytes(v), nil
	case HLL:
		return &udf.Bytes{Data: v, Type: wire.ParticleHLL}, nil
	case GeoJSON:
		return udf.GeoJSON(v), nil
	case BlobKey:
		return udf.NewBytes([]byte(v)), nil
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int(), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if r.Uint() <= math.MaxInt64 {
			return int64(r.Uint()), nil
		}
	case reflect.Float32, reflect.Float64:
		return r.Float(), nil
	case reflect.String:
		return r.String(), nil
	case reflect.Bool:
		return r.Bool(), nil
	case reflect.Slice, reflect.Array:
		return inwardList(r, depth)
	case reflect.Map:
		return inwardMap(r, depth)
	default:
	}
	return nil, fmt.Errorf("aerospiketest: a value of type %T can't be stored", v)
}

func inwardList(r reflect.Value, depth int) (any, error) {
	l := &udf.List{Items: make([]any, r.Len())}
	for i := range r.Len() {
		x, err := inward(r.Index(i).Interface(), depth+1)
		if err != nil {
			return nil, err
		}
		l.Items[i] = x
	}
	return l, nil
}

func inwardMap(r reflect.Value, depth int) (any, error) {
	m := new(udf.Map)
	for pairs := r.MapRange(); pairs.Next(); {
		k, err := inward(pairs.Key().Interface(), depth+1)
		if err != nil {
			return nil, err
		}
		x, err := inward(pairs.Value().Interface(), depth+1)
		if err != nil {
			return nil, err
		}
		if !m.Set(k, x) {
			return nil, fmt.Errorf("aerospiketest: a %T can't be a map's key", pairs.Key().Interface())
		}
	}
	return m, nil
}
