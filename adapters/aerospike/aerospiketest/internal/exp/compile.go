package exp

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/geo"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Compiler compiles expressions whose calls are carried out by its modules.
type Compiler struct{ Modules Modules }

// Compile compiles an expression. It keeps b, which must not change any more.
// An expression that is malformed or has errors of type is not ok.
func (c *Compiler) Compile(b []byte) (e *Expr, ok bool) {
	p := parser{b: b, modules: &c.Modules}
	root := p.node(0)
	if root == nil || len(p.b) != 0 || root.t == other {
		return nil, false
	}
	return &Expr{root: root, slots: p.most, modules: &c.Modules}, true
}

// A parser makes nodes of bytes. Its methods return nil for what is wrong.
type parser struct {
	b       []byte
	modules *Modules
	nodes   int
	scope   []variable // innermost last
	most    int        // the most variables in scope
	weight  int        // of regular expressions
}

// A variable is one of a let around what is compiled.
type variable struct {
	name  []byte
	t     Type
	ready bool // its definition is complete
}

// node compiles the next expression.
func (p *parser) node(depth int) *node {
	p.nodes++
	if depth > maxDepth || p.nodes > maxNodes {
		return nil
	}
	if msgpack.Peek(p.b) != msgpack.ListKind {
		return p.value()
	}
	n, rest, ok := msgpack.ListLen(p.b)
	if !ok || n == 0 {
		return nil
	}
	op, rest, ok := msgpack.Int(rest)
	if !ok || op < 0 || op >= opLiteral {
		return nil
	}
	p.b = rest
	x := &node{op: uint8(op)}
	if !p.body(x, n-1, depth+1) {
		return nil
	}
	return x
}

// body compiles what follows the code of an expression of n arguments.
func (p *parser) body(x *node, n, depth int) bool {
	switch x.op {
	case opRegex:
		return n == 3 && p.regex(x, depth)
	case opDigestModulo, opKey, opBin, opBinType:
		return p.field(x, n)
	case opVar:
		return n == 1 && p.variable(x)
	case opLet:
		return p.let(x, n, depth)
	case opQuoted:
		return n == 1 && p.quoted(x)
	case opCall:
		return n == 4 && p.call(x, depth)
	}
	s, ok := signatureOf(x.op)
	if !ok || n < s.least || s.most >= 0 && n > s.most {
		return false
	}
	for range n {
		a := p.node(depth)
		if a == nil {
			return false
		}
		x.args = append(x.args, a)
	}
	return s.check(x)
}

// int reads an integer that is a part of the code, not an expression.
func (p *parser) int() (v int64, ok bool) {
	v, p.b, ok = msgpack.Int(p.b)
	return v, ok
}

// name reads a name: a string without a particle type.
func (p *parser) name() (v []byte, ok bool) {
	v, p.b, ok = msgpack.Bytes(p.b)
	return v, ok
}

// value compiles a literal.
func (p *parser) value() *node {
	kind := msgpack.Peek(p.b)
	raw, rest, ok := msgpack.Value(p.b)
	if !ok {
		return nil
	}
	p.b = rest
	v := value{data: raw}
	switch {
	case kind == msgpack.Nil:
		v = value{t: Nil}
	case kind.IsBool():
		v = boolean(kind == msgpack.True)
	case kind.IsInt():
		v.t = Int
		v.n, _, ok = msgpack.Int(raw)
	case kind == msgpack.Float:
		v.t = Float
		v.f, _, ok = msgpack.Number(raw)
	case kind == msgpack.String, kind == msgpack.Blob, kind == msgpack.GeoJSON:
		ok = v.bytes(raw)
	case kind == msgpack.MapKind:
		v = p.modules.literal(Map, raw)
	default:
		v.t = other
	}
	if !ok {
		return nil
	}
	return &node{op: opLiteral, t: v.t, literal: v}
}

// bytes makes a value of a string whose first byte is a particle type.
func (v *value) bytes(raw []byte) bool {
	s, _, ok := msgpack.Bytes(raw)
	if !ok || len(s) == 0 {
		return false
	}
	v.data = s[1:]
	switch s[0] {
	case wire.ParticleString:
		v.t = String
	case wire.ParticleBlob:
		v.t = Blob
	case wire.ParticleHLL:
		v.t = HLL
	case wire.ParticleGeoJSON:
		v.t = Geo
		v.shape, ok = geo.Parse(v.data)
	default:
		return false
	}
	return ok
}

// quoted compiles a literal list.
func (p *parser) quoted(x *node) bool {
	kind := msgpack.Peek(p.b)
	raw, rest, ok := msgpack.Value(p.b)
	if !ok || kind != msgpack.ListKind {
		return false
	}
	p.b = rest
	*x = node{op: opLiteral, t: List, literal: p.modules.literal(List, raw)}
	return true
}
