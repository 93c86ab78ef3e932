package aerospike_test

import (
	"context"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// merged ends with one context and has the values of another. Before Go 1.25 context.Cause
// asks the other.
type merged struct {
	context.Context

	values context.Context
}

func (m merged) Value(key any) any { return m.values.Value(key) }

// F10: with Go 1.24, too, a call whose context is a stranger's and done makes nothing and says so.
func TestStrangersContextThatIsDoneMakesNoCall(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	ctx := merged{over, t.Context()}
	b, _ := background(t, client, nil)
	task, err := client.CreateComplexIndex(patient(t), nil, "test", "s", "ix", "l", as.STRING, as.ICT_LIST)
	require.NoError(t, err)
	before := srv.Stats().Count(aerospiketest.KindsData)
	require.ErrorIs(t, client.Touch(ctx, nil, newKey(t, 1)), context.Canceled)
	stream, err := client.ScanAll(ctx, nil, "test", "s")
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, stream)
	require.ErrorIs(t, b.Touch(ctx, nil, newKey(t, 1)), context.Canceled)
	require.ErrorIs(t, task.Wait(ctx), context.Canceled)
	_, err = client.WarmUp(ctx, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, before, srv.Stats().Count(aerospiketest.KindsData))
	require.Zero(t, b.Stats().Submitted)
	idle(t, client)
}

// Nor is the end of the other one an error.
func TestStrangersContextThatLivesEndsNothing(t *testing.T) {
	client := connect(t, aerospiketest.NewServer(t))
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := client.WarmUp(merged{patient(t), over}, 1)
	require.NoError(t, err)
}

// The error of a detached call that such a context ends has a cause to show.
func TestStrangersContextEndsADetachedCall(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	detached, err := client.With(aerospike.Detach())
	require.NoError(t, err)
	gate := srv.Hold(aerospiketest.Match{})
	ctx, cancel := context.WithCancel(patient(t))
	done := make(chan error, 1)
	go func() { done <- detached.Put(merged{ctx, t.Context()}, nil, newKey(t, 1), as.BinMap{"n": 1}) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	gate.Release()
}
