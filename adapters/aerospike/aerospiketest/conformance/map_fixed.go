package main

import (
	"math"

	as "github.com/aerospike/aerospike-client-go/v7"
)

// mapFixed has the cases that must be there in every run.
func mapFixed(e *env) {
	k := e.key("f")
	un := as.NewMapPolicyWithFlags(as.MapOrder.UNORDERED, 0)
	or := as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, 0)
	rt := as.MapReturnType
	each := func(d string, init omap, ordered bool, list ...*as.Operation) {
		start := "absent"
		if init != nil {
			start = show(init)
		}
		e.do(sprintf("map ordered=%v %s: %s", ordered, start, d), func() any {
			e.fresh(k)
			if init != nil {
				e.mustPut(k, bin("m", init))
				if ordered {
					e.must(k, op{as.MapSetPolicyOp(or, "m"), ""})
				}
			}
			ops := make([]op, len(list))
			for i, o := range list {
				ops[i].o = o
			}
			return []any{e.operate(writePolicy(), k, ops...), e.get(k)}
		})
	}
	abc := omap{{"c", 1}, {"a", 3}, {"b", 2}}
	each("put to nothing", nil, false, as.MapPutOp(un, "m", "a", 1))
	each("put ordered to nothing", nil, false, as.MapPutOp(or, "m", "b", 1), as.MapPutOp(or, "m", "a", 1))
	each("size, clear of nothing", nil, false, as.MapSizeOp("m"))
	each("clear of nothing", nil, false, as.MapClearOp("m"))
	each("increment to nothing", nil, false, as.MapIncrementOp(un, "m", "a", 5))
	each("decrement to nothing", nil, false, as.MapDecrementOp(un, "m", "a", 5))
	each("index range of all keys", abc, true, as.MapGetByIndexRangeOp("m", 0, rt.KEY))
	each("rank range of all keys", abc, true, as.MapGetByRankRangeOp("m", 0, rt.KEY))
	each("index range of all pairs", abc, true, as.MapGetByIndexRangeOp("m", 0, rt.KEY_VALUE))
	each("rank range of all pairs", abc, true, as.MapGetByRankRangeOp("m", 0, rt.KEY_VALUE))
	each("rank range of all as ordered map", abc, true, as.MapGetByRankRangeOp("m", 0, rt.ORDERED_MAP))
	each("index 0 of an unordered map", abc, false, as.MapGetByIndexOp("m", 0, rt.KEY_VALUE))
	each("index of c in an unordered map", abc, false, as.MapGetByKeyOp("m", "c", rt.INDEX), as.MapGetByKeyOp("m", "c", rt.RANK))
	each("get by an absent key, every kind", abc, true, as.MapGetByKeyOp("m", "x", rt.VALUE), as.MapGetByKeyOp("m", "x", rt.KEY_VALUE), as.MapGetByKeyOp("m", "x", rt.INDEX), as.MapGetByKeyOp("m", "x", rt.COUNT), as.MapGetByKeyOp("m", "x", rt.EXISTS), as.MapGetByKeyOp("m", "x", rt.RANK), as.MapGetByKeyOp("m", "x", rt.KEY))
	each("remove by an absent key", abc, true, as.MapRemoveByKeyOp("m", "x", rt.VALUE))
	each("remove the last keys", omap{{"a", 1}}, true, as.MapRemoveByKeyOp("m", "a", rt.VALUE))
	each("increment past the largest integer", omap{{"a", math.MaxInt64}}, true, as.MapIncrementOp(or, "m", "a", 1))
	each("increment a string", omap{{"a", "s"}}, true, as.MapIncrementOp(or, "m", "a", 1))
	each("increment a float by an integer", omap{{"a", 1.5}}, true, as.MapIncrementOp(or, "m", "a", 1))
	each("increment an integer by a float", omap{{"a", 1}}, true, as.MapIncrementOp(or, "m", "a", 1.7))
	each("create-only on an old key", abc, true, as.MapPutOp(as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, 1), "m", "a", 9))
	each("create-only no-fail on an old key", abc, true, as.MapPutOp(as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, 5), "m", "a", 9))
	each("update-only on a new key", abc, true, as.MapPutOp(as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, 2), "m", "x", 9))
	each("update-only no-fail on a new key", abc, true, as.MapPutOp(as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, 6), "m", "x", 9))
	each("create-only items, partial no-fail", abc, true, as.MapPutItemsOp(as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, 13), "m", map[any]any{"a": 9, "x": 8}))
	each("create-only items, no-fail", abc, true, as.MapPutItemsOp(as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, 5), "m", map[any]any{"a": 9, "x": 8}))
	each("create-only items", abc, true, as.MapPutItemsOp(as.NewMapPolicyWithFlags(as.MapOrder.KEY_ORDERED, 1), "m", map[any]any{"a": 9, "x": 8}))
	each("put with an unordered policy keeps the order", abc, true, as.MapPutOp(un, "m", "aa", 9))
	each("put with an ordered policy into an unordered map", abc, false, as.MapPutOp(or, "m", "aa", 9))
	each("set-policy back to unordered", abc, true, as.MapSetPolicyOp(un, "m"))
	each("set-policy key-value ordered", abc, true, as.MapSetPolicyOp(as.NewMapPolicyWithFlags(as.MapOrder.KEY_VALUE_ORDERED, 0), "m"))
	each("persisted index", nil, false, as.MapPutOp(as.NewMapPolicyWithFlagsAndPersistedIndex(as.MapOrder.KEY_ORDERED, 0), "m", "b", 1), as.MapPutOp(or, "m", "a", 2))
	each("mixed keys in order", omap{{"a", 1}, {3, 2}, {[]byte{1, 2}, 3}, {-1, 4}, {"", 5}}, true, as.MapGetByIndexRangeOp("m", 0, rt.KEY))
	each("key range [nil,\"a\")", omap{{"a", 1}, {3, 2}, {-1, 4}, {"", 5}}, true, as.MapGetByKeyRangeOp("m", nil, "a", rt.KEY))
	each("key range [0,inf)", omap{{"a", 1}, {3, 2}, {-1, 4}, {"", 5}}, true, as.MapGetByKeyRangeOp("m", 0, as.NewInfinityValue(), rt.KEY))
	for _, bad := range []any{1.5, nil, true, []any{1}, omap{}} {
		each("put with key "+show(bad), abc, true, as.MapPutOp(or, "m", val(bad), 1))
		each("put unordered with key "+show(bad), nil, false, as.MapPutOp(un, "m", val(bad), 1))
	}
	e.do("put a whole map with a float key", func() any {
		e.fresh(k)
		return []any{code(e.c.PutBins(writePolicy(), k, bin("m", omap{{1.5, 1}}))), e.get(k)}
	})
	e.do("put a whole map with the same key twice", func() any {
		e.fresh(k)
		return []any{code(e.c.PutBins(writePolicy(), k, bin("m", omap{{1, 1}, {1, 2}})))}
	})
	for _, r := range mapReturns[:12] {
		each("rank range 0,2 "+r.d, abc, true, as.MapGetByRankRangeCountOp("m", 0, 2, r.t))
		each("value list "+r.d, abc, true, as.MapGetByValueListOp("m", []any{3, 1, 7}, r.t))
		each("remove key list "+r.d, abc, true, as.MapRemoveByKeyListOp("m", []any{"b", "x"}, r.t))
		each("key b "+r.d, abc, true, as.MapGetByKeyOp("m", "b", r.t))
		each("value range inverted "+r.d, abc, true, as.MapGetByValueRangeOp("m", 2, 3, r.t|rt.INVERTED))
	}
}

// mapNested works one to three levels down.
func mapNested(e *env) {
	k := e.key(64 + e.id%64)
	kd := pick(e, ints, ints, strs, mixed)
	inner := e.mapOf(kd, e.between(0, 6))
	p := place{bin: "m", n: len(inner), k: kd}
	create := e.chance(25)
	var v any = inner
	for range e.between(1, 3) {
		v = e.wrap(&p, v, create)
	}
	ops := []op{e.mapOp(p, inner)}
	if e.chance(30) {
		ops = append(ops, op{as.MapSizeOp("m", p.ctx...), "size" + p.d})
	}
	e.do(sprintf("m=%s: %s", show(v), descs(ops)), func() any {
		e.fresh(k)
		e.mustPut(k, bin("m", v), bin("z", 1))
		return []any{looseBin(e.operate(writePolicy(), k, ops...), "m", len(ops) > 1), e.get(k)}
	})
}
