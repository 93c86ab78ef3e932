package lua

import (
	"errors"
	"fmt"
	"strings"

	lua "github.com/yuin/gopher-lua"
	"github.com/yuin/gopher-lua/parse"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// maxSource is how long a module may be.
const maxSource = 1 << 20

// Compiler returns a compiler of modules. What they log goes to log.
func Compiler(log Log) udf.Compiler {
	return func(file, source string, r *udf.Registry) (udf.Program, error) {
		proto, err := compile("udf/"+file, source)
		if err != nil {
			return nil, err
		}
		return &program{proto: proto, registry: r, log: log}, nil
	}
}

// A Log is told what modules log. It must be safe for concurrent use.
type Log func(level, message string)

// A program is a module that was compiled.
type program struct {
	proto    *lua.FunctionProto
	registry *udf.Registry
	log      Log
}

// compile compiles a text. The interpreter's compiler panics where it has no better
// word.
func compile(name, source string) (proto *lua.FunctionProto, err error) {
	r := &rewriter{line: 1}
	defer func() {
		if p := recover(); p != nil {
			proto, err = nil, &udf.SyntaxError{Line: r.line, Message: fmt.Sprint(p)}
		}
	}()
	if len(source) > maxSource {
		return nil, &udf.SyntaxError{Line: 1, Message: "chunk is too long"}
	}
	chunk, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, syntaxError(err)
	}
	r.block(chunk)
	if r.deep {
		return nil, &udf.SyntaxError{Line: r.line, Message: "chunk has too many syntax levels"}
	}
	proto, err = lua.Compile(chunk, name)
	var c *lua.CompileError
	if errors.As(err, &c) {
		return nil, &udf.SyntaxError{Line: c.Line, Message: c.Message}
	}
	return proto, err
}

func syntaxError(err error) error {
	var e *parse.Error
	if !errors.As(err, &e) {
		return &udf.SyntaxError{Line: 1, Message: err.Error()}
	}
	near := "<eof>"
	if e.Pos.Line >= 0 {
		near = "'" + e.Token + "'"
	}
	return &udf.SyntaxError{Line: max(e.Pos.Line, 1), Message: strings.Replace(e.Message, "parse error", "syntax error", 1) + " near " + near}
}

// Call implements udf.Program.
func (p *program) Call(function string, r *udf.Record, args []any) (any, error) {
	s := newState(p)
	defer s.close()
	f, err := s.load(p.proto, function)
	if err != nil {
		return nil, err
	}
	v, err := s.run(f, append([]lua.LValue{s.record(r)}, s.values(args)...))
	if err != nil {
		return nil, err
	}
	return s.result(v), nil
}

// Stream implements udf.Program.
func (p *program) Stream(function string, parts func() udf.Records, args []any, emit func(any) error) error {
	s := newState(p)
	defer s.close()
	f, err := s.load(p.proto, function)
	if err != nil {
		return err
	}
	for next := parts(); next != nil; next = parts() {
		if err := s.stream(f, next, args, emit); err != nil {
			return err
		}
	}
	return nil
}

// stream lets a function build a chain of operations on records, and the chain work.
func (s *state) stream(f *lua.LFunction, next udf.Records, args []any, emit func(any) error) error {
	chain := &stream{source: func() lua.LValue {
		s.budget.renew()
		r := next()
		if r == nil {
			return lua.LNil
		}
		return s.record(r)
	}}
	v, err := s.run(f, append([]lua.LValue{s.userdata(chain, s.meta.stream)}, s.values(args)...))
	if err != nil {
		return err
	}
	if u, ok := v.(*lua.LUserData); ok {
		chain, ok = u.Value.(*stream)
		if ok {
			return s.drain(chain, emit)
		}
	}
	return errors.New("function of a stream returned no stream")
}

// drain sends the values of a stream.
func (s *state) drain(c *stream, emit func(any) error) error {
	pull := c.server(s)
	for {
		var v lua.LValue
		err := s.protect(func() { v = pull() })
		if err != nil {
			return err
		}
		if v == lua.LNil {
			return nil
		}
		if err := emit(s.result(v)); err != nil {
			return err
		}
	}
}

// load runs a module, which defines its functions, and returns one of them.
func (s *state) load(proto *lua.FunctionProto, function string) (*lua.LFunction, error) {
	if _, err := s.run(s.l.NewFunctionFromProto(proto), nil); err != nil {
		return nil, err
	}
	f, ok := s.l.GetGlobal(function).(*lua.LFunction)
	if !ok || f.IsG {
		return nil, udf.ErrFunction
	}
	return f, nil
}

// run calls a function for one value.
func (s *state) run(f *lua.LFunction, args []lua.LValue) (v lua.LValue, err error) {
	err = s.protect(func() {
		s.l.Push(f)
		for _, a := range args {
			s.l.Push(a)
		}
		s.l.Call(len(args), 1)
		v = s.l.Get(-1)
		s.l.Pop(1)
	})
	return v, err
}

// protect calls f and turns what it raises into an error. After an error the stack
// is of no use any more.
func (s *state) protect(f func()) (err error) {
	defer func() {
		p := recover()
		if s.budget.err != nil {
			err = s.budget.err
			return
		}
		if p == nil {
			return
		}
		var api *lua.ApiError
		if e, ok := p.(error); ok && errors.As(e, &api) {
			err = errors.New(s.text(api.Object))
			return
		}
		err = fmt.Errorf("%v", p)
	}()
	f()
	return nil
}
