package aerospiketest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// merged ends with one context and has the values of another. Before Go 1.25 context.Cause
// asks the other.
type merged struct {
	context.Context

	values context.Context
}

func (m merged) Value(key any) any { return m.values.Value(key) }

// With Go 1.24, too, a wait that a stranger's context ends says why.
func TestWaitsStrangersContextThatIsDoneIsTheReason(t *testing.T) {
	s, c := start(t)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	ctx := merged{over, t.Context()}
	g := s.Hold(aerospiketest.Match{})
	require.ErrorIs(t, g.Wait(ctx, 1), context.Canceled)
	g.Release()
	require.ErrorIs(t, s.Inject(aerospiketest.Fault{Action: aerospiketest.ActionCode, Code: 9}).Wait(ctx, 1), context.Canceled)
	require.ErrorIs(t, s.Record(aerospiketest.Match{}).Wait(ctx, 1), context.Canceled)
	require.True(t, c.IsConnected())
	require.ErrorIs(t, s.AwaitConns(ctx, 0), context.Canceled)
}
