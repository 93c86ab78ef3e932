package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"reflect"
	"sort"
	"strconv"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// A line is one printed result.
type line struct {
	G  string `json:"g"`
	ID int    `json:"id"`
	Op string `json:"op"`
	R  any    `json:"r"`
}

func (l line) encode() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		panic(err)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// obj is a JSON object; encoding/json prints its keys sorted.
type obj map[string]any

// canon turns a value returned by the driver into JSON data:
// integers are numbers, floats {"f":"1.5"}, bytes {"x":"0a"}, unordered maps
// {"map":[[k,v]...]} sorted by printed key, ordered maps {"omap":[[k,v]...]}
// in the server's order, GeoJSON {"geo":"..."}, HLL {"hll":...},
// several results of one bin {"results":[...]}.
func canon(v any) any {
	switch t := v.(type) {
	case nil:
		return nil
	case bool, int, int64, string:
		return t
	case float64:
		return obj{"f": strconv.FormatFloat(t, 'g', -1, 64)}
	case float32:
		return obj{"f32": strconv.FormatFloat(float64(t), 'g', -1, 32)}
	case []byte:
		return obj{"x": hex.EncodeToString(t)}
	case as.GeoJSONValue:
		return obj{"geo": string(t)}
	case as.HLLValue:
		return canonHLL(t)
	case *as.RawBlobValue:
		return obj{"raw": hex.EncodeToString(t.Data), "type": t.ParticleType}
	case as.OpResults:
		return obj{"results": canonList([]any(t))}
	case []any:
		return canonList(t)
	case []as.MapPair:
		out := make([]any, len(t))
		for i, p := range t {
			out[i] = []any{canon(p.Key), canon(p.Value)}
		}
		return obj{"omap": out}
	case map[any]any:
		return canonMap(t)
	case as.Value:
		return canon(t.GetObject())
	}
	rv := reflect.ValueOf(v)
	switch rv.Kind() {
	case reflect.Array: // a blob used as a map key
		b := make([]byte, rv.Len())
		reflect.Copy(reflect.ValueOf(b), rv)
		return obj{"x": hex.EncodeToString(b)}
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return rv.Int()
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return rv.Uint()
	}
	return obj{"unknown": fmt.Sprintf("%T", v)}
}

func canonList(l []any) []any {
	out := make([]any, len(l))
	for i, v := range l {
		out[i] = canon(v)
	}
	return out
}

func canonMap(m map[any]any) any {
	out := make([]any, 0, len(m))
	for k, v := range m {
		out = append(out, []any{canon(k), canon(v)})
	}
	sortJSON(out)
	return obj{"map": out}
}

// canonHLL prints short sketches in full and long ones as length and hash.
func canonHLL(b []byte) any {
	if len(b) <= 48 {
		return obj{"hll": hex.EncodeToString(b)}
	}
	h := fnv.New64a()
	h.Write(b)
	return obj{"hll_len": len(b), "hll_fnv": fmt.Sprintf("%016x", h.Sum64())}
}

func text(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}

// sortJSON sorts values by their printed form.
func sortJSON(l []any) {
	sort.SliceStable(l, func(i, j int) bool { return text(l[i]) < text(l[j]) })
}

// code finds the server's result code: the first link of the error chain that
// is not one of the driver's own codes. Driver codes are negative.
func code(err error) int {
	last := 0
	for err != nil {
		var ae *as.AerospikeError
		if t, ok := err.(*as.AerospikeError); ok {
			ae = t
		}
		if ae != nil {
			last = int(ae.ResultCode)
			if last > 0 {
				return last
			}
		}
		err = errors.Unwrap(err)
	}
	return last
}

func fail(err error) any { return obj{"code": code(err)} }

func canonBins(b as.BinMap) any {
	out := obj{}
	for k, v := range b {
		if k == "FAILURE" { // an error text
			v = "text"
		}
		out[k] = canon(v)
	}
	return out
}

// record prints bins and generation.
func record(r *as.Record) any {
	if r == nil {
		return nil
	}
	return obj{"bins": canonBins(r.Bins), "gen": r.Generation}
}

// ttl prints an expiration coarsely.
func ttl(exp uint32) string {
	if exp == math.MaxUint32 {
		return "never"
	}
	for _, n := range []uint32{1000, 2000, 5000, 100000} {
		if exp <= n && exp+30 >= n {
			return fmt.Sprintf("about %d", n)
		}
	}
	return "other"
}

// hash shortens a long result.
func hash(s string) string {
	h := fnv.New64a()
	h.Write([]byte(s))
	return fmt.Sprintf("%016x", h.Sum64())
}
