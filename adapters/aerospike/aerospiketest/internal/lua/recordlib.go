package lua

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

func (s *state) record(r *udf.Record) lua.LValue { return s.userdata(r, s.meta.record) }

// recordOf returns a record that is an argument.
func (s *state) recordOf(arg int) *udf.Record {
	if r, ok := valueOf(s.l.Get(arg)).(*udf.Record); ok {
		return r
	}
	s.l.ArgError(arg, "record expected, got "+typeName(s.l.Get(arg)))
	return nil
}

// recordType defines records.
func (s *state) recordType() {
	s.meta.record = s.l.NewTable()
	s.l.SetFuncs(s.meta.record, map[string]lua.LGFunction{
		"__index": func(l *lua.LState) int {
			l.Push(s.value(s.recordOf(1).Get(l.CheckString(2))))
			return 1
		},
		"__newindex": func(l *lua.LState) int {
			s.recordOf(1).Set(l.CheckString(2), s.result(l.Get(3)))
			return 0
		},
		"__tostring": func(*lua.LState) int { return s.newText("Record") },
	})
	number := func(f func(*udf.Record) int64) lua.LGFunction {
		return func(*lua.LState) int { return s.push(integer(f(s.recordOf(1)))) }
	}
	size := number(func(r *udf.Record) int64 {
		bins, _ := r.Saved()
		return int64(store.Size(bins))
	})
	t := s.library("record", map[string]lua.LGFunction{
		"gen":              number(func(r *udf.Record) int64 { return int64(r.Generation) }),
		"ttl":              number(func(r *udf.Record) int64 { return r.TTL }),
		"numbins":          number(func(r *udf.Record) int64 { return int64(len(r.Names())) }),
		"last_update_time": number(func(r *udf.Record) int64 { return r.Updated }),
		"device_size":      number(func(*udf.Record) int64 { return 0 }),
		"memory_size":      size,
		"record_size":      size,
	})
	s.l.SetFuncs(t, s.recordParts())
}

// recordParts are the functions on records that give no numbers.
func (s *state) recordParts() map[string]lua.LGFunction {
	return map[string]lua.LGFunction{
		"setname": func(l *lua.LState) int {
			if r := s.recordOf(1); r.Exists && r.SetName != "" {
				l.Push(lua.LString(r.SetName))
			} else {
				l.Push(lua.LNil)
			}
			return 1
		},
		"key": func(l *lua.LState) int {
			l.Push(s.value(udf.Key(s.recordOf(1).Key)))
			return 1
		},
		"digest": func(l *lua.LState) int {
			d := s.recordOf(1).Digest
			l.Push(s.value(udf.NewBytes(d[:])))
			return 1
		},
		"bin_names": func(l *lua.LState) int {
			r := s.recordOf(1)
			if !r.Exists {
				l.Push(lua.LNil)
				return 1
			}
			t := l.NewTable()
			for _, name := range r.Names() {
				t.Append(lua.LString(name))
			}
			l.Push(t)
			return 1
		},
		"set_ttl": func(*lua.LState) int {
			s.recordOf(1).SetTTL(s.wholeArg(2))
			return 0
		},
		"drop_key": func(*lua.LState) int {
			s.recordOf(1).Key = nil
			return 0
		},
	}
}
