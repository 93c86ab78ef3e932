package command

import (
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/cdt"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

func doCDTRead(r *Run, op *wire.Op) wire.Code { return r.readBin(op, cdt.Read) }

func doCDTModify(r *Run, op *wire.Op) wire.Code { return r.modifyBin(op, cdt.Modify) }
