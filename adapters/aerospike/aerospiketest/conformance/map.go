package main

import (
	"math"

	as "github.com/aerospike/aerospike-client-go/v7"
)

func runMap(e *env) {
	mapFixed(e)
	for range e.cases {
		if e.chance(30) {
			mapNested(e)
		} else {
			mapFlat(e)
		}
	}
}

var mapReturns = []struct {
	d string
	t as.MapReturnTypes
}{{"none", as.MapReturnType.NONE}, {"index", as.MapReturnType.INDEX}, {"revindex", as.MapReturnType.REVERSE_INDEX},
	{"rank", as.MapReturnType.RANK}, {"revrank", as.MapReturnType.REVERSE_RANK}, {"count", as.MapReturnType.COUNT},
	{"key", as.MapReturnType.KEY}, {"value", as.MapReturnType.VALUE}, {"key-value", as.MapReturnType.KEY_VALUE},
	{"exists", as.MapReturnType.EXISTS}, {"unordered-map", as.MapReturnType.UNORDERED_MAP}, {"ordered-map", as.MapReturnType.ORDERED_MAP},
	{"value", as.MapReturnType.VALUE}, {"key-value", as.MapReturnType.KEY_VALUE}}

func (e *env) mapReturn(ranges bool) (as.MapReturnTypes, string) {
	r := mapReturns[e.r.IntN(len(mapReturns))]
	if e.chance(20) && (ranges || e.chance(10)) {
		return r.t | as.MapReturnType.INVERTED, r.d + "|inverted"
	}
	return r.t, r.d
}

func (e *env) mapPolicy() (*as.MapPolicy, string) {
	o := pick(e, as.MapOrder.UNORDERED, as.MapOrder.KEY_ORDERED, as.MapOrder.KEY_VALUE_ORDERED)
	if e.chance(12) {
		m, d := as.MapWriteMode.UPDATE, "mode=update"
		switch e.r.IntN(3) {
		case 0:
			m, d = as.MapWriteMode.UPDATE_ONLY, "mode=update-only"
		case 1:
			m, d = as.MapWriteMode.CREATE_ONLY, "mode=create-only"
		}
		return as.NewMapPolicy(o, m), sprintf("{order=%s %s}", mapOrderName(o), d)
	}
	f := pick(e, 0, 0, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3)
	d := sprintf("{order=%s flags=%s}", mapOrderName(o), flagText(f, "create-only", "update-only", "nofail", "partial"))
	if e.chance(8) {
		return as.NewMapPolicyWithFlagsAndPersistedIndex(o, f), d + " persisted index"
	}
	return as.NewMapPolicyWithFlags(o, f), d
}

func valuesOf(m omap) []any {
	out := make([]any, len(m))
	for i, p := range m {
		out[i] = p.V
	}
	return out
}

// nearKey draws a key that is often in the map and rarely of a type that is
// not allowed.
func (e *env) nearKey(m omap) any {
	if len(m) > 0 && e.chance(65) {
		return m[e.r.IntN(len(m))].K
	}
	if e.chance(6) {
		return pick[any](e, 1.5, nil, true, []any{1})
	}
	return asBytes(e.mapKey())
}

func (e *env) keyBound(m omap) any {
	switch e.r.IntN(12) {
	case 0, 1:
		return nil
	case 2:
		return as.NewInfinityValue()
	}
	return e.nearKey(m)
}

func (e *env) mapOp(p place, m omap) op {
	if e.chance(40) {
		return e.mapModify(p, m)
	}
	return e.mapSelect(p, m)
}

func (e *env) mapModify(p place, m omap) op {
	pol, pd := e.mapPolicy()
	k := e.nearKey(m)
	v := e.nearby(p.k, valuesOf(m))
	switch e.r.IntN(10) {
	case 0, 1, 2:
		return op{as.MapPutOp(pol, p.bin, val(k), val(v), p.ctx...), sprintf("put%s %s=%s %s", p, show(k), show(v), pd)}
	case 3, 4:
		some := e.mapOf(p.k, e.between(0, 4))
		if len(m) > 0 && e.chance(50) {
			old := m[e.r.IntN(len(m))].K
			fresh := omap{{old, e.value(p.k)}}
			for _, q := range some {
				if show(q.K) != show(old) {
					fresh = append(fresh, q)
				}
			}
			some = fresh
		}
		some = plainKeys(some)
		return op{as.MapPutItemsOp(pol, p.bin, withValues(some), p.ctx...), sprintf("put-items%s %s %s", p, show(some.sorted()), pd)}
	case 5, 6:
		n := pick[any](e, 1, -2, 0.5, math.MaxInt64, "x", 10)
		if e.chance(40) {
			return op{as.MapDecrementOp(pol, p.bin, val(k), val(n), p.ctx...), sprintf("decrement%s %s %s %s", p, show(k), show(n), pd)}
		}
		return op{as.MapIncrementOp(pol, p.bin, val(k), val(n), p.ctx...), sprintf("increment%s %s %s %s", p, show(k), show(n), pd)}
	case 7:
		return op{as.MapClearOp(p.bin, p.ctx...), "clear" + p.d}
	case 8:
		return op{as.MapSetPolicyOp(pol, p.bin, p.ctx...), sprintf("set-policy%s %s", p, pd)}
	}
	o := pick(e, as.MapOrder.UNORDERED, as.MapOrder.KEY_ORDERED, as.MapOrder.KEY_VALUE_ORDERED)
	return op{as.MapCreateOp(p.bin, o, p.ctx), sprintf("create%s %s", p, mapOrderName(o))}
}

// plainKeys drops blob keys, which a Go map can't hold.
func plainKeys(m omap) omap {
	out := omap{}
	for _, p := range m {
		if _, blob := p.K.([]byte); !blob {
			out = append(out, p)
		}
	}
	return out
}

func withValues(m omap) map[any]any {
	out := map[any]any{}
	for _, p := range m {
		out[p.K] = val(p.V)
	}
	return out
}

func (e *env) mapSelect(p place, m omap) op {
	c, b := p.ctx, p.bin
	remove := e.chance(40)
	verb := "get"
	if remove {
		verb = "remove"
	}
	i, n := e.index(p.n), e.between(0, 5)
	k, v := e.nearKey(m), e.nearby(p.k, valuesOf(m))
	shape := e.r.IntN(18)
	single := shape == 0 || shape == 3 || shape == 6
	rt, rd := e.mapReturn(!single)

	atLeast := 0
	if rt&as.MapReturnType.INVERTED != 0 {
		atLeast = 1 // server 8.1.0.3 dies on an empty list of values, inverted
	}
	choose := func(d string, get, rem func() *as.Operation) op {
		if remove {
			return op{rem(), verb + d + " " + rd}
		}
		return op{get(), verb + d + " " + rd}
	}
	switch shape {
	case 0:
		return choose(sprintf("-by-index%s %d", p, i),
			func() *as.Operation { return as.MapGetByIndexOp(b, i, rt, c...) },
			func() *as.Operation { return as.MapRemoveByIndexOp(b, i, rt, c...) })
	case 1:
		return choose(sprintf("-by-index-range%s from %d", p, i),
			func() *as.Operation { return as.MapGetByIndexRangeOp(b, i, rt, c...) },
			func() *as.Operation { return as.MapRemoveByIndexRangeOp(b, i, rt, c...) })
	case 2:
		return choose(sprintf("-by-index-range%s %d,%d", p, i, n),
			func() *as.Operation { return as.MapGetByIndexRangeCountOp(b, i, n, rt, c...) },
			func() *as.Operation { return as.MapRemoveByIndexRangeCountOp(b, i, n, rt, c...) })
	case 3:
		return choose(sprintf("-by-rank%s %d", p, i),
			func() *as.Operation { return as.MapGetByRankOp(b, i, rt, c...) },
			func() *as.Operation { return as.MapRemoveByRankOp(b, i, rt, c...) })
	case 4:
		return choose(sprintf("-by-rank-range%s from %d", p, i),
			func() *as.Operation { return as.MapGetByRankRangeOp(b, i, rt, c...) },
			func() *as.Operation { return as.MapRemoveByRankRangeOp(b, i, rt, c...) })
	case 5:
		return choose(sprintf("-by-rank-range%s %d,%d", p, i, n),
			func() *as.Operation { return as.MapGetByRankRangeCountOp(b, i, n, rt, c...) },
			func() *as.Operation { return as.MapRemoveByRankRangeCountOp(b, i, n, rt, c...) })
	case 6, 7:
		return choose(sprintf("-by-key%s %s", p, show(k)),
			func() *as.Operation { return as.MapGetByKeyOp(b, val(k), rt, c...) },
			func() *as.Operation { return as.MapRemoveByKeyOp(b, val(k), rt, c...) })
	case 8:
		lo, hi := e.keyBound(m), e.keyBound(m)
		return choose(sprintf("-by-key-range%s [%s,%s)", p, show(lo), show(hi)),
			func() *as.Operation { return as.MapGetByKeyRangeOp(b, rng(lo), rng(hi), rt, c...) },
			func() *as.Operation { return as.MapRemoveByKeyRangeOp(b, rng(lo), rng(hi), rt, c...) })
	case 9:
		some := []any{}
		for range e.between(atLeast, 3) {
			some = append(some, e.nearKey(m))
		}
		return choose(sprintf("-by-key-list%s %s", p, show(some)),
			func() *as.Operation { return as.MapGetByKeyListOp(b, vals(some), rt, c...) },
			func() *as.Operation { return as.MapRemoveByKeyListOp(b, vals(some), rt, c...) })
	case 10:
		return choose(sprintf("-by-key-rel-index%s %s from %d", p, show(k), i),
			func() *as.Operation { return as.MapGetByKeyRelativeIndexRangeOp(b, val(k), i, rt, c...) },
			func() *as.Operation { return as.MapRemoveByKeyRelativeIndexRangeOp(b, val(k), i, rt, c...) })
	case 11:
		return choose(sprintf("-by-key-rel-index%s %s %d,%d", p, show(k), i, n),
			func() *as.Operation { return as.MapGetByKeyRelativeIndexRangeCountOp(b, val(k), i, n, rt, c...) },
			func() *as.Operation { return as.MapRemoveByKeyRelativeIndexRangeCountOp(b, val(k), i, n, rt, c...) })
	case 12, 13:
		return choose(sprintf("-by-value%s %s", p, show(v)),
			func() *as.Operation { return as.MapGetByValueOp(b, val(v), rt, c...) },
			func() *as.Operation { return as.MapRemoveByValueOp(b, val(v), rt, c...) })
	case 14:
		lo, hi := e.bound(p.k, valuesOf(m)), e.bound(p.k, valuesOf(m))
		return choose(sprintf("-by-value-range%s [%s,%s)", p, show(lo), show(hi)),
			func() *as.Operation { return as.MapGetByValueRangeOp(b, rng(lo), rng(hi), rt, c...) },
			func() *as.Operation { return as.MapRemoveByValueRangeOp(b, rng(lo), rng(hi), rt, c...) })
	case 15:
		some := []any{}
		for range e.between(atLeast, 3) {
			some = append(some, e.nearby(p.k, valuesOf(m)))
		}
		return choose(sprintf("-by-value-list%s %s", p, show(some)),
			func() *as.Operation { return as.MapGetByValueListOp(b, vals(some), rt, c...) },
			func() *as.Operation { return as.MapRemoveByValueListOp(b, vals(some), rt, c...) })
	case 16:
		return choose(sprintf("-by-value-rel-rank%s %s from %d", p, show(v), i),
			func() *as.Operation { return as.MapGetByValueRelativeRankRangeOp(b, val(v), i, rt, c...) },
			func() *as.Operation { return as.MapRemoveByValueRelativeRankRangeOp(b, val(v), i, rt, c...) })
	}
	return choose(sprintf("-by-value-rel-rank%s %s %d,%d", p, show(v), i, n),
		func() *as.Operation { return as.MapGetByValueRelativeRankRangeCountOp(b, val(v), i, n, rt, c...) },
		func() *as.Operation { return as.MapRemoveByValueRelativeRankRangeCountOp(b, val(v), i, n, rt, c...) })
}

// looseBin sorts the lists answered for a bin: an unordered map answers ranges
// in an order that is left open. With several operations the bin holds a list
// of answers, which keeps its order.
func looseBin(r any, name string, several bool) any {
	o, ok := r.(obj)
	if !ok {
		return r
	}
	bins, ok := o["bins"].(obj)
	if !ok {
		return r
	}
	if l, ok := bins[name].([]any); ok && several {
		for i := range l {
			l[i] = looseDeep(l[i])
		}
		return r
	}
	bins[name] = looseDeep(bins[name])
	return r
}

// looseDeep sorts a list and the pairs of maps.
func looseDeep(v any) any {
	switch t := v.(type) {
	case []any:
		for i := range t {
			t[i] = looseDeep(t[i])
		}
		sortJSON(t)
		return t
	case obj:
		for _, name := range []string{"omap", "map"} {
			if l, ok := t[name].([]any); ok {
				sortJSON(l)
			}
		}
	}
	return v
}

func mapFlat(e *env) {
	k := e.key(e.id % 64)
	kd := e.kind()
	m := e.mapOf(kd, e.size())
	order := pick(e, as.MapOrder.UNORDERED, as.MapOrder.KEY_ORDERED, as.MapOrder.KEY_ORDERED, as.MapOrder.KEY_VALUE_ORDERED)
	init := "map"
	switch e.r.IntN(24) {
	case 0:
		init = "no record"
	case 1:
		init = "no bin"
	case 2:
		init = "list"
	}
	if init != "map" {
		m, order = nil, as.MapOrder.UNORDERED
	}
	p := place{bin: "m", n: len(m), k: kd}
	first := e.mapOp(p, m)
	pol := writePolicy()
	pol.RespondPerEachOp = e.chance(25)
	size := e.chance(25)
	ops := []op{first}
	if size {
		ops = append(ops, op{as.MapSizeOp("m"), "size"})
	}
	e.do(sprintf("%s %s %s; each=%v: %s", init, mapOrderName(order), show(m), pol.RespondPerEachOp, descs(ops)), func() any {
		e.fresh(k)
		switch init {
		case "map":
			e.mustPut(k, bin("m", m), bin("z", 1))
			if order != as.MapOrder.UNORDERED {
				e.must(k, op{as.MapSetPolicyOp(as.NewMapPolicyWithFlags(order, 0), "m"), ""})
			}
		case "no bin":
			e.mustPut(k, bin("z", 1))
		case "list":
			e.mustPut(k, bin("m", []any{1, 2}), bin("z", 1))
		}
		r := e.operate(pol, k, ops...)
		if order == as.MapOrder.UNORDERED {
			r = looseBin(r, "m", len(ops) > 1)
		}
		return []any{r, e.get(k)}
	})
}
