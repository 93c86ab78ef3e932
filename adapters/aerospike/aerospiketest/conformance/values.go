package main

import (
	"sort"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// pair and omap are a map with a fixed packing order, so that requests are the
// same bytes in every run.
type pair struct{ K, V any }
type omap []pair

// Len implements the driver's MapIter.
func (m omap) Len() int { return len(m) }

// PackMap implements the driver's MapIter.
func (m omap) PackMap(b as.BufferEx) (int, error) {
	size := 0
	for _, p := range m {
		for _, v := range []any{p.K, p.V} {
			n, err := pack(b, v)
			if err != nil {
				return size, err
			}
			size += n
		}
	}
	return size, nil
}

// listOf is a list that may hold omaps.
type listOf []any

// Len implements the driver's ListIter.
func (l listOf) Len() int { return len(l) }

// PackList implements the driver's ListIter.
func (l listOf) PackList(b as.BufferEx) (int, error) {
	size := 0
	for _, v := range l {
		n, err := pack(b, v)
		if err != nil {
			return size, err
		}
		size += n
	}
	return size, nil
}

func pack(b as.BufferEx, v any) (int, error) {
	var n int
	var err as.Error
	switch t := v.(type) {
	case nil:
		n, err = as.PackNil(b)
	case bool:
		n, err = as.PackBool(b, t)
	case int:
		n, err = as.PackInt64(b, int64(t))
	case string:
		n, err = as.PackString(b, t)
	case float64:
		n, err = as.PackFloat64(b, t)
	case []byte:
		n, err = as.PackBytes(b, t)
	case omap:
		n, err = as.PackMap(b, t)
	case []any:
		n, err = as.PackList(b, listOf(t))
	default:
		panic(sprintf("pack %T", v))
	}
	if err != nil {
		return n, err
	}
	return n, nil
}

// show prints an argument for the description of a request.
func show(v any) string { return text(showValue(v)) }

func showValue(v any) any {
	switch t := v.(type) {
	case omap:
		out := make([]any, len(t))
		for i, p := range t {
			out[i] = []any{showValue(p.K), showValue(p.V)}
		}
		return obj{"map": out}
	case []any:
		out := make([]any, len(t))
		for i, x := range t {
			out[i] = showValue(x)
		}
		return out
	case as.InfinityValue:
		return obj{"inf": true}
	case as.WildCardValue:
		return obj{"wildcard": true}
	case as.NullValue:
		return nil
	}
	return canon(v)
}

func (m omap) sorted() omap {
	out := append(omap{}, m...)
	sort.SliceStable(out, func(i, j int) bool { return show(out[i].K) < show(out[j].K) })
	return out
}

// A kind says what values a case draws.
type kind int

const (
	ints    kind = iota // small integers, many duplicates
	strs                // short strings
	mixed               // scalars of every type
	nested              // also lists and maps
	numbers             // integers and floats
)

func (e *env) kind() kind { return pick(e, ints, ints, ints, strs, mixed, mixed, nested, numbers) }

// value draws one value.
func (e *env) value(k kind) any {
	switch k {
	case ints:
		return e.between(-3, 12)
	case strs:
		return pick(e, "", "a", "aa", "ab", "b", "c", "zz", "é")
	case numbers:
		if e.chance(50) {
			return e.between(-3, 8)
		}
		return pick(e, 0.0, 0.5, 1.0, 1.5, -2.25, 3.0, 1e10)
	}
	n := e.r.IntN(100)
	switch {
	case n < 6:
		return nil
	case n < 16:
		return e.chance(50)
	case n < 46:
		return e.between(-2, 6)
	case n < 62:
		return e.value(strs)
	case n < 74:
		return pick(e, 0.5, 1.0, -1.5, 2.0, 100.25)
	case n < 84 || k == mixed:
		return pick(e, []byte{}, []byte{0}, []byte{1, 2}, []byte{1, 2, 3}, []byte{0xff})
	case n < 93:
		return e.list(mixed, e.between(0, 3))
	}
	return e.mapOf(mixed, e.between(0, 3))
}

func (e *env) list(k kind, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = e.value(k)
	}
	return out
}

// size draws a length from 0 to 40, mostly small.
func (e *env) size() int {
	switch n := e.r.IntN(100); {
	case n < 6:
		return 0
	case n < 12:
		return 1
	case n < 80:
		return e.between(2, 9)
	}
	return e.between(10, 40)
}

// mapKey draws a legal map key.
func (e *env) mapKey() any {
	switch n := e.r.IntN(100); {
	case n < 50:
		return e.between(0, 9)
	case n < 92:
		return pick(e, "a", "b", "c", "d", "e", "ab", "")
	}
	return pick(e, [2]byte{1, 2}, [2]byte{0, 0})
}

func (e *env) mapOf(k kind, n int) omap {
	seen := map[any]bool{}
	out := omap{}
	for range n {
		key := e.mapKey()
		if seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, pair{asBytes(key), e.value(k)})
	}
	return out
}

// asBytes turns a blob key, an array so that it can be compared, into bytes.
func asBytes(v any) any {
	if b, ok := v.([2]byte); ok {
		return b[:]
	}
	return v
}

// val makes a driver value of ours.
func val(v any) as.Value {
	switch t := v.(type) {
	case omap:
		return as.NewMapperValue(t)
	case []any:
		return as.NewListerValue(listOf(t))
	case as.Value:
		return t
	}
	return as.NewValue(v)
}

// bin makes a bin.
func bin(name string, v any) *as.Bin { return as.NewBin(name, val(v)) }
