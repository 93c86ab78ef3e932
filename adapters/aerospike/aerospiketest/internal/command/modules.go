package command

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/bits"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/cdt"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/exp"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/hll"
)

// modules are what the calls of expressions are carried out by.
func modules() exp.Modules {
	return exp.Modules{
		CDT:  exp.Module{Read: cdt.Read, Modify: cdt.Modify},
		Bits: exp.Module{Read: bits.Read, Modify: modifyBits},
		HLL:  exp.Module{Read: hll.Read, Modify: hll.Modify},

		Normalize: cdt.Normalize,
	}
}
