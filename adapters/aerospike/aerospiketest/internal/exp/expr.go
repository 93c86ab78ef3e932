package exp

import (
	"regexp"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
)

// An Expr is a compiled expression. It doesn't change and may be used by many at
// the same time.
type Expr struct {
	root    *node
	slots   int // of variables
	modules *Modules
}

// A node is an expression within an expression.
type node struct {
	op   uint8
	t    Type
	args []*node

	literal value          // of opLiteral
	name    []byte         // of a bin
	n       int64          // a modulus, or the slot of a variable or of the first of a let
	regex   *regexp.Regexp // of opRegex
	call    *call          // of opCall
}

// isUnknown reports whether a node is unknown by itself, which goes with any
// other type in a cond.
func (n *node) isUnknown() bool {
	if n.op == opLet {
		return n.args[len(n.args)-1].isUnknown()
	}
	return n.op == opUnknown
}

// A Truth is what a filter says.
type Truth uint8

// The three truths.
const (
	False Truth = iota
	True
	Unknown
)

// Type returns the type of the expression's value.
func (e *Expr) Type() Type { return e.root.t }

// Match evaluates a filter. An expression that is not a boolean is false.
func (e *Expr) Match(r Record) Truth {
	switch v := e.eval(r); {
	case v.t == unknown:
		return Unknown
	case v.isTrue():
		return True
	}
	return False
}

// Value evaluates an expression; ok is false if the value is unknown. A nil has
// no type. The value shares its memory with the expression and the record.
func (e *Expr) Value(r Record) (v store.Value, ok bool) {
	x := e.eval(r)
	return x.toStore(), x.t != unknown
}

func (e *Expr) eval(r Record) value {
	x := evaluation{r: r, modules: e.modules, left: maxWork}
	if e.slots > 0 {
		x.slots = make([]value, e.slots)
	}
	return x.eval(e.root)
}
