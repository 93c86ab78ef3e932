package lua

import (
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// aerospike defines what a function does with its record, and logs.
func (s *state) aerospike() {
	does := func(f func(*udf.Record) int) lua.LGFunction {
		return func(*lua.LState) int { return s.push(integer(int64(f(s.recordOf(2))))) } // 1 is the library
	}
	s.library("aerospike", map[string]lua.LGFunction{
		"create": does((*udf.Record).Create),
		"update": does((*udf.Record).Update),
		"remove": does((*udf.Record).Remove),
		"exists": func(l *lua.LState) int {
			l.Push(lua.LBool(s.recordOf(2).Exists))
			return 1
		},
		"get_current_time": func(*lua.LState) int { return s.push(integer(time.Now().UnixMilli())) },
		"set_context":      func(*lua.LState) int { return s.push(integer(0)) },
		"log": func(l *lua.LState) int {
			s.print(levelName(s.wholeArg(2)), s.text(l.Get(3)))
			return 0
		},
	})
	for _, level := range []string{"trace", "debug", "info", "warn"} {
		s.global(level, func(l *lua.LState) int {
			s.format(l)
			s.print(level, s.text(l.Get(-1)))
			return 0
		})
	}
	s.global("print", func(l *lua.LState) int {
		var text strings.Builder
		for i := 1; i <= l.GetTop(); i++ {
			if i > 1 {
				text.WriteString("\t")
			}
			text.WriteString(s.text(l.Get(i)))
			s.fits(len(text.String()))
		}
		s.print("info", text.String())
		return 0
	})
}

func (s *state) print(level, text string) {
	if s.log != nil {
		s.log(level, text)
	}
}

func levelName(n int64) string {
	switch {
	case n <= 1:
		return "warn"
	case n == 2:
		return "info"
	case n == 3:
		return "debug"
	}
	return "trace"
}

// system defines the clock, and how modules find text and other modules to run.
func (s *state) system() {
	s.library("os", map[string]lua.LGFunction{
		"time":     func(*lua.LState) int { return s.push(integer(time.Now().Unix())) },
		"clock":    func(*lua.LState) int { return s.push(float(float64(time.Now().UnixMicro()) / 1e6)) },
		"difftime": func(*lua.LState) int { return s.push(float(s.arg(1).float() - s.arg(2).float())) },
		"date":     func(*lua.LState) int { return s.newText(time.Now().UTC().Format(time.ANSIC)) },
		"getenv": func(l *lua.LState) int {
			l.Push(lua.LNil)
			return 1
		},
	})
	s.global("collectgarbage", func(*lua.LState) int { return s.push(integer(0)) })
	s.global("load", s.loadText)
	s.global("loadstring", s.loadText)
	s.global("require", func(l *lua.LState) int {
		name := l.CheckString(1)
		if s.loaded[name] {
			l.Push(lua.LTrue)
			return 1
		}
		m, ok := s.registry.Get(name + ".lua")
		if !ok {
			l.RaiseError("module '%s' not found", name)
			return 0
		}
		s.loaded[name] = true
		proto, err := compile("udf/"+m.File, m.Source)
		if err != nil {
			l.RaiseError("%s", err.Error())
		}
		v := s.call(l.NewFunctionFromProto(proto))
		if v == lua.LNil {
			v = lua.LTrue
		}
		l.Push(v)
		return 1
	})
}

func (s *state) loadText(l *lua.LState) int {
	text := l.CheckString(1)
	s.use(16 * len(text))
	proto, err := compile("load", text)
	if err != nil {
		l.Push(lua.LNil)
		l.Push(lua.LString(err.Error()))
		return 2
	}
	l.Push(l.NewFunctionFromProto(proto))
	return 1
}
