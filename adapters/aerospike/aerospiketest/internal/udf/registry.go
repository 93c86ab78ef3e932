package udf

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
)

// Errors of calls, in the words of a real server.
var (
	ErrModule   = errors.New("UDF: Execution Error 1")
	ErrFunction = errors.New("function not found")
)

// A Func is a function in Go.
type Func func(r *Record, args []any) (any, error)

// Records gives the next record of a stream, or nil at its end.
type Records func() *Record

// A Program is a module that was compiled. It is safe for concurrent use.
type Program interface {
	// Call calls a function with a record.
	Call(function string, r *Record, args []any) (any, error)
	// Stream calls a function with each stream of records that parts gives, until
	// it gives none, and emit with each value of the stream that the function makes
	// of it. It ends with the first error of emit.
	Stream(function string, parts func() Records, args []any, emit func(any) error) error
}

// A Compiler makes a program of a module's text. Its errors are [*SyntaxError]s.
type Compiler func(file, source string, r *Registry) (Program, error)

// A SyntaxError says why a module doesn't compile.
type SyntaxError struct {
	Line    int
	Message string
}

// Error implements error.
func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// A Module is a file of functions.
type Module struct {
	File, Source string
	Hash         string // hexadecimal

	program Program
}

// A Registry has modules and functions. All methods are safe for concurrent use.
type Registry struct {
	compile Compiler

	mu      sync.RWMutex
	modules map[string]*Module // guarded by mu; by file
	funcs   map[[2]string]Func // guarded by mu; by package and function
}

// NewRegistry returns a registry of modules that c compiles.
func NewRegistry(c Compiler) *Registry {
	return &Registry{compile: c, modules: make(map[string]*Module), funcs: make(map[[2]string]Func)}
}

// Put adds a module, in place of one of the same file. On an error, that the module
// doesn't compile, nothing has changed.
func (r *Registry) Put(file, source string) error {
	p, err := r.compile(file, source, r)
	if err != nil {
		return err
	}
	sum := sha1.Sum([]byte(source))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.modules[file] = &Module{File: file, Source: source, Hash: hex.EncodeToString(sum[:]), program: p}
	return nil
}

// Remove removes a module, if it is there.
func (r *Registry) Remove(file string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.modules, file)
}

// Get returns the module of a file.
func (r *Registry) Get(file string) (*Module, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	m, ok := r.modules[file]
	return m, ok
}

// List returns the modules by their files.
func (r *Registry) List() []*Module {
	r.mu.RLock()
	defer r.mu.RUnlock()
	l := make([]*Module, 0, len(r.modules))
	for _, m := range r.modules {
		l = append(l, m)
	}
	slices.SortFunc(l, func(a, b *Module) int { return strings.Compare(a.File, b.File) })
	return l
}

// Register adds a function in Go, or removes it with nil.
func (r *Registry) Register(pkg, function string, f Func) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f == nil {
		delete(r.funcs, [2]string{pkg, function})
		return
	}
	r.funcs[[2]string{pkg, function}] = f
}

// program returns the program of a package, which is a file without its extension.
func (r *Registry) program(pkg string) (Program, bool) {
	m, ok := r.Get(pkg + ".lua")
	if !ok {
		return nil, false
	}
	return m.program, true
}

// Call calls a function with a record. It returns an error, and never panics, when
// the function fails or isn't there.
func (r *Registry) Call(pkg, function string, rec *Record, args []any) (v any, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, fmt.Errorf("%s.%s panicked: %v", path.Base(pkg), function, p)
		}
	}()
	r.mu.RLock()
	f := r.funcs[[2]string{pkg, function}]
	r.mu.RUnlock()
	if f != nil {
		return f(rec, args)
	}
	p, ok := r.program(pkg)
	if !ok {
		return nil, ErrModule
	}
	return p.Call(function, rec, args)
}

// Stream calls a function with streams of records. See [Program.Stream].
func (r *Registry) Stream(pkg, function string, parts func() Records, args []any, emit func(any) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s.%s panicked: %v", path.Base(pkg), function, p)
		}
	}()
	p, ok := r.program(pkg)
	if !ok {
		return ErrModule
	}
	return p.Stream(function, parts, args, emit)
}
