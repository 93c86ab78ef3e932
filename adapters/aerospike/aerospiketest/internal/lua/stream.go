package lua

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// A stream is a chain of operations on the values of a source. A function of a
// module builds it; it works when it is drained.
type stream struct {
	source puller
	ops    []streamOp
}

// A puller gives the next value, or nil at the end.
type puller func() lua.LValue

// A streamOp makes of a stream another one.
type streamOp struct {
	do   func(next puller) puller
	last bool // what follows is the client's
}

// server returns what the operations up to the first reduction make of the source.
// That is where a node's part ends: the rest is done with the values of all nodes.
func (c *stream) server(*state) puller {
	p := c.source
	for _, op := range c.ops {
		p = op.do(p)
		if op.last {
			break
		}
	}
	return p
}

func (s *state) streamOf() *stream {
	if c, ok := valueOf(s.l.Get(1)).(*stream); ok {
		return c
	}
	s.l.ArgError(1, "stream expected, got "+typeName(s.l.Get(1)))
	return nil
}

// then adds an operation to the stream that is the first argument, and returns it.
func (s *state) then(op streamOp) int {
	c := s.streamOf()
	s.use(itemSize)
	c.ops = append(c.ops, op)
	s.l.Push(s.l.Get(1))
	return 1
}

// streamType defines streams.
func (s *state) streamType() {
	methods := s.l.NewTable()
	s.l.SetFuncs(methods, map[string]lua.LGFunction{
		"filter": func(l *lua.LState) int { return s.then(streamOp{do: s.filter(l.CheckFunction(2))}) },
		"map":    func(l *lua.LState) int { return s.then(streamOp{do: s.transform(l.CheckFunction(2))}) },
		"aggregate": func(l *lua.LState) int {
			return s.then(streamOp{do: s.aggregate(s.initial(l.Get(2)), l.CheckFunction(3))})
		},
		"reduce": func(l *lua.LState) int { return s.then(streamOp{do: s.reduce(l.CheckFunction(2)), last: true}) },
		"groupby": func(l *lua.LState) int {
			by := l.CheckFunction(2)
			s.then(streamOp{do: s.group(by)})
			return s.then(streamOp{do: func(next puller) puller { return next }, last: true}) // a single value
		},
	})
	s.meta.stream = s.l.NewTable()
	s.meta.stream.RawSetString("__index", methods)
}

func (s *state) filter(f *lua.LFunction) func(puller) puller {
	return func(next puller) puller {
		return func() lua.LValue {
			for {
				v := next()
				if v == lua.LNil || lua.LVAsBool(s.call(f, v)) {
					return v
				}
			}
		}
	}
}

// transform ends with the first value for which the function gives nil, as on a real
// server.
func (s *state) transform(f *lua.LFunction) func(puller) puller {
	return func(next puller) puller {
		return func() lua.LValue {
			v := next()
			if v == lua.LNil {
				return v
			}
			return s.call(f, v)
		}
	}
}

func (s *state) reduce(f *lua.LFunction) func(puller) puller {
	return func(next puller) puller {
		done := false
		return func() lua.LValue {
			if done {
				return lua.LNil
			}
			done = true
			v := next()
			if v == lua.LNil {
				return v
			}
			for {
				w := next()
				if w == lua.LNil {
					return v
				}
				v = s.call(f, v, w)
			}
		}
	}
}

// initial returns what makes an aggregate's first value, of its own each time.
func (s *state) initial(v lua.LValue) func() lua.LValue {
	return func() lua.LValue {
		switch x := valueOf(v).(type) {
		case *udf.Map:
			return s.value(x.Clone())
		case *udf.List:
			return s.value(&udf.List{Flags: x.Flags, Items: append([]any{}, x.Items...)})
		}
		return v
	}
}

// flushAt is the number from which on an aggregate is passed on before the end, as
// on a real server.
const flushAt = 1000

func (s *state) aggregate(initial func() lua.LValue, f *lua.LFunction) func(puller) puller {
	return func(next puller) puller {
		done := false
		return func() lua.LValue {
			if done {
				return lua.LNil
			}
			v := initial()
			for {
				w := next()
				if w == lua.LNil {
					done = true
					return v
				}
				v = s.call(f, v, w)
				if n, ok := asNumber(v); ok && n.float() >= flushAt {
					return v
				}
			}
		}
	}
}

// group puts the values of a stream into a map of lists, by what a function gives.
func (s *state) group(by *lua.LFunction) func(puller) puller {
	return func(next puller) puller {
		done := false
		return func() lua.LValue {
			if done {
				return lua.LNil
			}
			done = true
			m := new(udf.Map)
			for {
				v := next()
				if v == lua.LNil {
					return s.value(m)
				}
				s.use(4 * itemSize)
				k := s.result(s.call(by, v))
				l, ok := m.Get(k).(*udf.List)
				if !ok {
					l = new(udf.List)
					if !m.Set(k, l) {
						s.l.RaiseError("a value can't be grouped by nil")
					}
				}
				l.Items = append(l.Items, s.result(v))
			}
		}
	}
}
