package aerospike_test

import (
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// The driver reads the arguments of batches and aggregations on goroutines of its own, where
// a nil among them is a panic that nobody can catch: it must not get there.
func TestNilArgumentsDoNotEndTheProcess(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Mode = spillway.Shadow })
	a, b := newKey(t, 1), newKey(t, 2)
	keys := []*as.Key{a, b}
	ok := as.NewBatchWrite(nil, a, as.PutOp(as.NewBin("a", 1)))
	operate := func(ctx ctxt, c *aerospike.Client, bad as.BatchRecordIfc) error {
		return c.BatchOperate(ctx, nil, []as.BatchRecordIfc{ok, bad})
	}
	seen := srv.Record()
	for field, call := range map[string]func(ctxt, *aerospike.Client) error{
		"ops[1]": func(ctx ctxt, c *aerospike.Client) error {
			return second(c.BatchGetOperate(ctx, nil, keys, as.GetOp(), nil))
		},
		"args[0]": func(ctx ctxt, c *aerospike.Client) error {
			return second(c.BatchExecute(ctx, nil, nil, keys, "m", "f", nil))
		},
		"args[1]": func(ctx ctxt, c *aerospike.Client) error {
			return second(c.QueryAggregate(ctx, nil, statement(), "m", "f", as.NewValue(nil), nil))
		},
		"records[0].Ops[0]": func(ctx ctxt, c *aerospike.Client) error {
			return c.BatchGetComplex(ctx, nil, []*as.BatchRead{as.NewBatchReadOps(nil, a, nil)})
		},
		"records[0]": func(ctx ctxt, c *aerospike.Client) error { return c.BatchGetComplex(ctx, nil, []*as.BatchRead{nil}) },
		"records[1]": func(ctx ctxt, c *aerospike.Client) error { return operate(ctx, c, nil) },
		"records[1].Ops[0]": func(ctx ctxt, c *aerospike.Client) error {
			return operate(ctx, c, as.NewBatchReadOps(nil, b, nil))
		},
		"records[1].Ops[1]": func(ctx ctxt, c *aerospike.Client) error {
			return operate(ctx, c, as.NewBatchWrite(nil, b, as.TouchOp(), nil))
		},
		"records[1].FunctionArgs[0]": func(ctx ctxt, c *aerospike.Client) error {
			return operate(ctx, c, as.NewBatchUDF(nil, b, "m", "f", nil))
		},
	} {
		require.Equal(t, map[string]any{field: nil}, faultsOf(t, call(patient(t), client)))
	}
	for _, none := range []as.BatchRecordIfc{(*as.BatchRead)(nil), (*as.BatchWrite)(nil), (*as.BatchDelete)(nil), (*as.BatchUDF)(nil)} {
		require.Equal(t, map[string]any{"records[1]": nil}, faultsOf(t, operate(patient(t), client, none)))
	}
	require.Zero(t, seen.Len())

	background, failures := background(t, client, nil)
	for _, none := range []as.BatchRecordIfc{nil, (*as.BatchWrite)(nil)} {
		require.NoError(t, background.BatchOperate(patient(t), nil, []as.BatchRecordIfc{none, ok}))
		f := <-failures
		require.Equal(t, map[string]any{"records[0]": nil}, faultsOf(t, f.Err))
		require.Equal(t, 2, f.Items)
	}
	require.Zero(t, seen.Len())
	idle(t, client)
}
