package command

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/sindex"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A Filter says whether a record passes a filter expression. r is locked; with
// a nil r the filter only checks the expression. Any code but OK and
// FilteredOut is an error.
type Filter func(expr []byte, r *store.Record) wire.Code

// A Catalog is what all executors share. It must not change once in use.
type Catalog struct {
	Clock      *store.Clock
	Namespaces []*store.Namespace
	Table      *Table
	Filter     Filter
	Indexes    *sindex.Registry // nil is none
	Functions  *udf.Registry    // nil is none
}

// Namespace returns the namespace of a name, or nil.
func (c *Catalog) Namespace(name []byte) *store.Namespace {
	for _, n := range c.Namespaces {
		if n.Name == string(name) {
			return n
		}
	}
	return nil
}
