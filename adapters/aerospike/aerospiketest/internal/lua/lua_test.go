package lua

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// evaluate calls a function f(rec) of a module of that text.
func evaluate(t testing.TB, source string) (any, error) {
	t.Helper()
	r := udf.NewRegistry(Compiler(nil))
	require.NoError(t, r.Put("m.lua", source))
	return r.Call("m", "f", udf.NewRecord(udf.Header{}, nil), nil)
}

func TestNumbersAreIntegersOrFloats(t *testing.T) {
	for expr, want := range map[string]any{
		"1 + 2": int64(3), "1.0 + 2": 3.0, "1.5 + 1.5": 3.0, "7 / 2": 3.5, "8 / 2": 4.0, "2 ^ 3": 8.0, "7 % 3": int64(1), "-7 % 3": int64(2), "-7.5 % 2": 0.5,
		"9223372036854775807": int64(math.MaxInt64), "9223372036854775807 + 1": int64(math.MinInt64), "9007199254740993 - 1": int64(9007199254740992),
		"'10' + 1": int64(11), "'0x10' * 1": int64(16), "1e3": 1000.0, "-(2.0)": -2.0, "-3": int64(-3), "1/0": math.Inf(1), "-1/0": math.Inf(-1),
		"1 == 1.0": true, "1 < 1.5": true, "2.0 <= 2": true, "2.0 >= 3": false, "'a' < 'b'": true, "1 ~= 1.0": false, "nil == false": false, "'1' == 1": false,
		"1 .. 2": "12", "1.0 .. ''": "1.0", "tostring(2^53)": "9.007199254741e+15", "tostring(4.0)": "4.0", "type(4.0)": "number", "type(1)": "number", "tostring(0/0 ~= 0/0)": "true",
		"math.floor(3.7)": int64(3), "math.ceil(3.2)": int64(4), "math.floor(4.0)": int64(4), "math.max(1, 2.5)": 2.5, "math.min(2, 1)": int64(1), "math.abs(-2)": int64(2), "math.sqrt(16)": 4.0,
		"math.type(1)": "integer", "math.type(1.0)": "float", "math.type('1')": nil, "math.tointeger(3.0)": int64(3), "math.fmod(7, 3)": 1.0, "math.pi > 3": true, "math.huge > 1e300": true,
		"tonumber('12')": int64(12), "tonumber('1.50')": 1.5, "tonumber('x')": nil, "tonumber('ff', 16)": int64(255), "tonumber('3.0')": 3.0, "#'abc'": int64(3), "#{1, 2}": int64(2),
		"({10, 20, 30})[4 / 2]": int64(20), "('abcdef'):sub(4 / 2)": "bcdef", "select(2.0, 'a', 'b')": "b", "string.format('%d %s %5.2f|%x|%q', 3.0, 2.0, 1.234, 255, 'a\"b')": `3 2.0  1.23|ff|"a\"b"`,
		"string.rep('ab', 3, '-')": "ab-ab-ab", "('hello'):upper()": "HELLO", "('key=val'):match('(%w+)=(%w+)')": "key", "('a.b'):find('.', 1, true)": int64(2),
		"(('abc'):gsub('%w', '%0%0'))": "aabbcc", "(('abc'):gsub('b', function(x) return x .. 1 end))": "ab1c", "(('abc'):gsub('%w', {a = 'x'}))": "xbc", "select(2, ('aaa'):gsub('a', 'b', 2))": int64(2),
		"table.concat({1, 2.0, 'x'}, ',')": "1,2.0,x", "table.unpack({7, 8})": int64(7), "#load('return {1,2,3}')()": int64(3), "select('#', load('x x'))": int64(2),
		"pcall(error, 'x')": false, "os.getenv('HOME')": nil, "type(os.time())": "number", "_G.print": nil, "rawequal(1, 1)": true, "rawget({[2] = 5}, 2.0)": int64(5), "not nil": true, "(1 or error())": int64(1),
	} {
		got, err := evaluate(t, "function f(rec) return "+expr+" end")
		require.NoError(t, err, expr)
		require.Equal(t, want, got, expr)
	}
}

func TestStatementsAreRewritten(t *testing.T) {
	for source, want := range map[string]any{
		"local s = 0 for i = 4 / 2, 8 / 2, 1.0 do s = s + i end return s":                               int64(9),
		"local t = {} t[2 / 1] = 'x' return t[2]":                                                       "x",
		"local t = {3, 1.5, 2} table.sort(t) return t[1] .. t[3]":                                       "1.53",
		"local t = {3, 1, 2} table.sort(t, function(a, b) return a > b end) return t[1]":                int64(3),
		"local a, b = 1, 2 a, b = b, a return a - b":                                                    int64(1),
		"local i, t = 1, {} i, t[i] = i + 1, 20 return t[1]":                                            int64(20),
		"local t = {} t.a, t[2], x = (function() return 1, 2, 3 end)() return t.a + t[2] + x":           int64(6),
		"local i = 0 repeat i = i + 1 until i >= 3 return i":                                            int64(3),
		"local i = 10 while i > 5 do i = i - 2 if i == 6 then break end end return i":                   int64(6),
		"local t = setmetatable({}, {__add = function(a, b) return 'sum' end}) return t + 1":            "sum",
		"local t = setmetatable({}, {__lt = function(a, b) return true end}) return t < t":              true,
		"local t = setmetatable({}, {__concat = function(a, b) return 'cat' end}) return t .. 1":        "cat",
		"local t = setmetatable({}, {__index = function(_, k) return k end}) local k = 'q' return t[k]": "q",
		"local t = {} table.insert(t, 1) table.insert(t, 1, 2) return t[1] + table.remove(t)":           int64(3),
		"local t = {a = 1} for k, v in pairs(t) do return k .. v end":                                   "a1",
		"do local function g(...) return select('#', ...) end return g(1, nil, 3) end":                  int64(3),
		"local ok, e = pcall(function() return nil + 1 end) return e":                                   "udf/m.lua:1: attempt to perform arithmetic on a nil value",
		"local ok, e = pcall(function() return 1 < 'x' end) return e":                                   "udf/m.lua:1: attempt to compare number with string",
		"local ok, e = pcall(function() return 1 % 0 end) return ok":                                    false,
		"return 1, 2": int64(1), "return": nil, "return {}": nil, "return f": nil,
	} {
		got, err := evaluate(t, "function f(rec) "+source+" end")
		require.NoError(t, err, source)
		require.Equal(t, want, got, source)
	}
}

func TestListsMapsAndBytes(t *testing.T) {
	for source, want := range map[string]string{
		"local l = list{1, 2} list.append(l, 'x') list.prepend(l, 0) list.insert(l, 2, 9) return l":                        `List(0, 9, 1, 2, "x")`,
		"local l = list{1, 2, 3, 4} list.remove(l, 2) list.trim(l, 3) return l":                                            "List(1, 3)",
		"return list{list.take(list{1, 2, 3}, 2), list.drop(list{1, 2, 3}, 2)}":                                            "List(List(1, 2), List(3))",
		"local a = list{1} list.concat(a, list{2}) return list.merge(a, list.clone(a))":                                    "List(1, 2, 1, 2)",
		"local l = list() l[3] = 1 return list{l[1], l[3], l[9], #l, list.size(l)}":                                        "List(1, 3, 3)",
		"local m = map{a = 1} m.b = 2 m.a = nil m[5] = 'x' return m":                                                       `Map("b"->2, 5->"x")`,
		"local s = list() for k, v in map.pairs(map{a = 1}) do list.append(s, k) list.append(s, v) end return s":           `List("a", 1)`,
		"local s = 0 for v in map.values(map{a = 1, b = 2}) do s = s + v end return list{s}":                               "List(3)",
		"return map.merge(map{a = 1}, map{a = 2}, function(x, y) return x + y end)":                                        `Map("a"->3)`,
		"return map.diff(map{a = 1}, map{a = 2, b = 3})":                                                                   `Map("b"->3)`,
		"local m = map{a = 1} local c = map.clone(m) map.remove(c, 'a') return list{map.size(m), #c}":                      "List(1, 0)",
		"local b = bytes(2) b[1] = 7 bytes.set_int16(b, 3, -2) return b":                                                   "07 00 FF FE",
		"local b = bytes() bytes.append_string(b, 'hi') bytes.append_int32_le(b, 1) return list{b, bytes.size(b)}":         "List(68 69 01 00 00 00, 6)",
		"local b = bytes(8) bytes.set_int64(b, 1, -5) return list{bytes.get_int64(b, 1), bytes.get_byte(b, 8)}":            "List(-5, 251)",
		"local b = bytes() bytes.append_var_int(b, 300) local v, n = bytes.get_var_int(b, 1) return list{v, n}":            "List(300, 2)",
		"local b = bytes() bytes.append_string(b, 'abc') return list{bytes.get_string(b, 2, 2), bytes.get_bytes(b, 1, 1)}": `List("bc", 61)`,
		"local b = bytes(1) return list{bytes.get_int16(b, 1) == nil, bytes.set_size(b, 3), #b, bytes.get_type(b)}":        "List(true, true, 3, 4)",
		"return list{tostring(list{1}), tostring(map{a = 1}), type(list()), tostring(bytes(1))}":                           `List("List(1)", "Map(\"a\"->1)", "userdata", "00")`,
	} {
		got, err := evaluate(t, "function f(rec) "+source+" end")
		require.NoError(t, err, source)
		require.Equal(t, want, new(state).show(got), source)
	}
}

func TestNothingOutlivesItsBounds(t *testing.T) {
	for source, want := range map[string]error{
		"while true do end":                                                         errInstructions,
		"while true do pcall(error) end":                                            nil,
		"local function g() return g() end return g()":                              errInstructions,
		"local s = 'x' while true do s = s .. s end":                                nil,
		"local t = {} while true do t[#t + 1] = string.rep('x', 1000000) .. #t end": errMemory,
		"local t = {} t[60000000] = 1":                                              errMemory,
		"local l = list() l[10000000] = 1":                                          errMemory,
		"return string.rep('x', 1e9)":                                               nil,
		"return string.format('%999d', 1)":                                          nil,
		"return ('a'):rep(5000):find('.-.-.-.-b')":                                  nil,
		"local function g() return 1 + g() end return g()":                          nil,
		"return dofile('/etc/passwd')":                                              nil,
		"return io.open('/etc/passwd')":                                             nil,
		"return os.execute('true')":                                                 nil,
		"return require('os')":                                                      nil,
		"return ('x'):dump()":                                                       nil,
		"return coroutine.create(f)":                                                nil,
		"return debug.getregistry()":                                                nil,
		"error({})":                                                                 nil,
	} {
		_, err := evaluate(t, "function f(rec) "+source+" end")
		require.Error(t, err, source)
		if want != nil && !errors.Is(err, errTime) { // the machine may be busy
			require.ErrorIs(t, err, want, source)
		}
	}
	r := udf.NewRegistry(Compiler(nil))
	require.NoError(t, r.Put("m.lua", "while true do end"))
	_, err := r.Call("m", "f", udf.NewRecord(udf.Header{}, nil), nil)
	require.Error(t, err)
}

func TestModulesThatDoNotCompile(t *testing.T) {
	deep, chain := "return ", "return 1"
	for range 2000 {
		deep, chain = deep+"(", chain+"+1"
	}
	for source, line := range map[string]int{"function (": 1, "x\n\ny z": 3, deep + "1": 1, chain: 1, "goto nowhere": 1, "'open": 1, "function f(": 1} {
		err := udf.NewRegistry(Compiler(nil)).Put("m.lua", source)
		var e *udf.SyntaxError
		require.ErrorAs(t, err, &e, source)
		require.NotEmpty(t, e.Message)
		if len(source) < 20 && line > 1 {
			require.Equal(t, line, e.Line, source)
		}
	}
	err := udf.NewRegistry(Compiler(nil)).Put("m.lua", "asdf\n\nreturned ret end")
	require.EqualError(t, err, "line 3: syntax error near 'returned'")
}

func TestStreams(t *testing.T) {
	once := func(r udf.Records) func() udf.Records {
		return func() udf.Records {
			was := r
			r = nil
			return was
		}
	}
	records := func(n int) udf.Records {
		i := 0
		return func() *udf.Record {
			if i++; i > n {
				return nil
			}
			v, err := udf.Encode(int64(i))
			require.NoError(t, err)
			return udf.NewRecord(udf.Header{Exists: true}, []store.Bin{{Name: "a", Value: v}})
		}
	}
	const helpers = `local function get(r) return r.a end local function add(a, b) return a + b end local function odd(a) return a % 2 == 1 end
		local function count(m, r) m.n = (m.n or 0) + 1 return m end local function one(n) return n + 1 end local function parity(n) return n % 2 end
		local function bad() error('bad') end local function loop() while true do end end `
	for source, want := range map[string]string{
		"s : map(get)": "List(1, 2, 3, 4, 5)",
		"s : map(get) : filter(odd) : map(function(x) return x * y end)": "List(2, 6, 10)",
		"s : map(get) : reduce(add)":                                     "List(15)",
		"s : map(get) : reduce(add) : map(bad)":                          "List(15)",
		"s : aggregate(map(), count)":                                    "List(Map(\"n\"->5))",
		"s : aggregate(998, one)":                                        "List(1000, 1000, 999)",
		"s : map(get) : groupby(parity)":                                 "List(Map(1->List(1, 3, 5), 0->List(2, 4)))",
		"s : map(bad)":                                                   "",
		"s : map(loop)":                                                  "",
		"5":                                                              "",
	} {
		r := udf.NewRegistry(Compiler(nil))
		require.NoError(t, r.Put("m.lua", helpers+"function f(s, y) return "+source+" end"))
		out := new(udf.List)
		err := r.Stream("m", "f", once(records(5)), []any{int64(2)}, func(v any) error {
			out.Items = append(out.Items, v)
			return nil
		})
		if want == "" {
			require.Error(t, err, source)
			continue
		}
		require.NoError(t, err, source)
		require.Equal(t, want, new(state).show(out), source)
	}
	r := udf.NewRegistry(Compiler(nil))
	require.NoError(t, r.Put("m.lua", helpers+"function f(s) return s : map(get) end"))
	full := errors.New("full")
	require.ErrorIs(t, r.Stream("m", "f", once(records(5)), nil, func(any) error { return full }), full)
	require.ErrorIs(t, r.Stream("m", "none", once(records(5)), nil, nil), udf.ErrFunction)
	require.ErrorIs(t, r.Stream("none", "f", once(records(5)), nil, nil), udf.ErrModule)
}

func TestLogsAndModules(t *testing.T) {
	var lines []string
	r := udf.NewRegistry(Compiler(func(level, text string) { lines = append(lines, level+" "+text) }))
	require.NoError(t, r.Put("other.lua", "shared = 5 function twice(x) return 2 * x end"))
	require.NoError(t, r.Put("m.lua", "require('other') function f(rec) info('%d of %s', 1, 2.0) warn('w') print('a', 1) aerospike:log(3, 'd') require('other') return twice(shared) end"))
	v, err := r.Call("m", "f", udf.NewRecord(udf.Header{}, nil), nil)
	require.NoError(t, err)
	require.Equal(t, int64(10), v)
	require.Equal(t, []string{"info 1 of 2.0", "warn w", "info a\t1", "debug d"}, lines)
}

func TestRecordsAreSeenAsTheyAre(t *testing.T) {
	h := udf.Header{SetName: "s", Exists: true, Generation: 3, TTL: 9, Updated: 5, Key: append([]byte{wire.ParticleString}, "k"...)}
	r := udf.NewRegistry(Compiler(nil))
	require.NoError(t, r.Put("m.lua", `function f(r) return list{record.gen(r), record.ttl(r), record.setname(r), record.key(r), record.last_update_time(r),
		bytes.size(record.digest(r)), record.numbins(r), #record.bin_names(r), record.device_size(r), tostring(r)} end`))
	v, err := r.Call("m", "f", udf.NewRecord(h, []store.Bin{{Name: "a"}}), nil)
	require.NoError(t, err)
	require.Equal(t, `List(3, 9, "s", "k", 5, 20, 1, 1, 0, "Record")`, new(state).show(v))
}

func BenchmarkCall(b *testing.B) {
	r := udf.NewRegistry(Compiler(nil))
	require.NoError(b, r.Put("m.lua", "function f(rec, x) return x + 1 end"))
	rec := udf.NewRecord(udf.Header{}, nil)
	for b.Loop() {
		if _, err := r.Call("m", "f", rec, []any{int64(1)}); err != nil {
			b.Fatal(err)
		}
	}
}
