package exp

import (
	"bytes"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// field compiles an expression that names a part of the record.
func (p *parser) field(x *node, n int) bool {
	var ok bool
	switch {
	case x.op == opBin && n == 2:
		var t int64
		if t, ok = p.int(); !ok || t < int64(Nil) || t > int64(HLL) {
			return false
		}
		x.t = Type(t)
		return p.binName(x)
	case x.op == opBinType && n == 1:
		x.t = Int
		return p.binName(x)
	case x.op == opKey && n == 1:
		var t int64
		t, ok = p.int()
		x.t = Type(t)
		return ok && (t == int64(Int) || t == int64(String) || t == int64(Blob))
	case x.op == opDigestModulo && n == 1:
		x.t = Int
		x.n, ok = p.int()
		x.n = int64(int32(x.n))
		return ok && x.n != 0
	}
	return false
}

func (p *parser) binName(x *node) bool {
	var ok bool
	x.name, ok = p.name()
	return ok && len(x.name) <= wire.MaxBinName && bytes.IndexByte(x.name, 0) < 0
}

// variable compiles the use of a variable.
func (p *parser) variable(x *node) bool {
	name, ok := p.name()
	i := p.find(name)
	if !ok || i < 0 || !p.scope[i].ready || p.scope[i].t == other {
		return false
	}
	x.t, x.n = p.scope[i].t, int64(i)
	return true
}

func (p *parser) find(name []byte) int {
	for i := range p.scope {
		if bytes.Equal(p.scope[i].name, name) {
			return i
		}
	}
	return -1
}

// let compiles definitions and the expression that they are for. A variable may
// be used by the definitions after its own. No two in scope have the same name.
func (p *parser) let(x *node, n, depth int) bool {
	if n < 3 || n%2 == 0 {
		return false
	}
	outer := len(p.scope)
	x.n = int64(outer)
	for range n / 2 {
		name, ok := p.name()
		if !ok || !validVariable(name) || p.find(name) >= 0 {
			return false
		}
		i := len(p.scope)
		p.scope = append(p.scope, variable{name: name})
		p.most = max(p.most, len(p.scope))
		def := p.node(depth)
		if def == nil {
			return false
		}
		x.args = append(x.args, def)
		p.scope[i].t, p.scope[i].ready = def.t, true
	}
	body := p.node(depth)
	if body == nil {
		return false
	}
	x.args = append(x.args, body)
	x.t = body.t
	p.scope = p.scope[:outer]
	return true
}

func validVariable(name []byte) bool {
	for i, c := range name {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return len(name) > 0
}
