package lua

import (
	lua "github.com/yuin/gopher-lua"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// A state is an interpreter for one call. It belongs to one goroutine.
type state struct {
	l        *lua.LState
	budget   *budget
	meta     metatables
	registry *udf.Registry
	log      Log
	loaded   map[string]bool // modules that were required
}

// metatables are those of the types that modules see.
type metatables struct {
	number, record, list, maps, bytes, geo, stream *lua.LTable
}

// newState returns a state with what a module finds.
func newState(p *program) *state {
	l := lua.NewState(lua.Options{
		SkipOpenLibs: true, CallStackSize: 200, RegistrySize: 1 << 10, RegistryMaxSize: 1 << 17, RegistryGrowStep: 1 << 10, MinimizeStackMemory: true,
	})
	s := &state{l: l, budget: newBudget(), registry: p.registry, log: p.log, loaded: make(map[string]bool)}
	l.SetContext(s.budget)
	for name, open := range map[string]lua.LGFunction{lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString} {
		l.Push(l.NewFunction(open))
		l.Push(lua.LString(name))
		l.Call(1, 0)
	}
	s.sandbox()
	s.operators()
	s.indexing()
	s.mathLibrary()
	s.stringLibrary()
	s.tableLibrary()
	s.numberType()
	s.recordType()
	s.listType()
	s.mapType()
	s.bytesType()
	s.geoType()
	s.streamType()
	s.aerospike()
	s.system()
	return s
}

func (s *state) close() {
	s.budget.end()
	s.l.Close()
}

// sandbox takes away what leads out of the state, or past its bounds.
func (s *state) sandbox() {
	for _, name := range []string{"dofile", "loadfile", "load", "loadstring", "module", "require", "newproxy", "collectgarbage", "print", "_printregs"} {
		s.l.SetGlobal(name, lua.LNil)
	}
	s.l.SetGlobal("_G", s.l.NewTable())
	for _, name := range []string{"select", "unpack"} {
		if f, ok := s.l.GetGlobal(name).(*lua.LFunction); ok {
			s.global(name, unboxed(f.GFunction))
		}
	}
}

// global defines a function.
func (s *state) global(name string, f lua.LGFunction) { s.l.SetGlobal(name, s.l.NewFunction(f)) }

// library defines a table of functions.
func (s *state) library(name string, funcs map[string]lua.LGFunction) *lua.LTable {
	t := s.l.NewTable()
	s.l.SetFuncs(t, funcs)
	s.l.SetGlobal(name, t)
	return t
}

// userdata returns a value of Go as a module sees it.
func (s *state) userdata(v any, meta *lua.LTable) *lua.LUserData {
	return &lua.LUserData{Value: v, Env: s.l.Env, Metatable: meta}
}

// use takes bytes from the budget, or raises an error.
func (s *state) use(n int) {
	if !s.budget.use(n) {
		s.l.RaiseError("%s", s.budget.err.Error())
	}
}

// call calls a function of the module for one value.
func (s *state) call(f lua.LValue, args ...lua.LValue) lua.LValue {
	s.l.Push(f)
	for _, a := range args {
		s.l.Push(a)
	}
	s.l.Call(len(args), 1)
	v := s.l.Get(-1)
	s.l.Pop(1)
	return v
}

// text shows a value as tostring does.
func (s *state) text(v lua.LValue) string {
	if n, ok := asNumber(v); ok {
		return n.String()
	}
	return s.l.ToStringMeta(v).String()
}
