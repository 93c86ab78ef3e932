package aerospike_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/retry"
)

// tends watches how often a driver looks at a node.
type tends struct{ log *aerospiketest.Recorder }

func watchTends(srv *aerospiketest.Server, node int) tends {
	return tends{srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindInfo, Nodes: []int{node}})}
}

// begun returns how many looks have begun.
func (w tends) begun() (n int) {
	for _, s := range w.log.Served() {
		if strings.HasPrefix(s.Text, "node\npeers-generation\n") {
			n++
		}
	}
	return n
}

// pass returns when n whole looks are over that have begun since it was called.
func (w tends) pass(t *testing.T, n int) {
	t.Helper()
	for want := w.begun() + n + 1; w.begun() < want; {
		require.NoError(t, w.log.Wait(patient(t), w.log.Len()+1))
	}
}

// ledger is what a writer knows of its record: a counter that it adds to, one by one.
type ledger struct {
	key     *as.Key
	acked   int // additions that were answered
	doubted int // additions that may have been executed
}

// keep adds to the record until the test says stop. Whatever fails must fail in a way
// that callers can handle.
func (l *ledger) keep(t *testing.T, client *aerospike.Client, stop *atomic.Bool) {
	for !stop.Load() {
		err := client.Add(t.Context(), nil, l.key, as.BinMap{"n": 1})
		var ours *aerospike.Error
		switch {
		case err == nil:
			l.acked++
		case errors.As(err, &ours):
			require.Contains(t, []spillway.Outcome{spillway.OutcomeNetwork, spillway.OutcomeTimeout, spillway.OutcomeOverload}, ours.Outcome(), "%v", err)
			if ours.InDoubt {
				l.doubted++
			}
		default:
			require.ErrorIs(t, err, spillway.ErrBackpressure)
		}
	}
}

// G-AER-18; R126, L-15: a node is killed under load and comes back. Two looks of the driver later
// every read and write goes through again, without a retry of ours, each time; what was
// acknowledged is there, and what is there was acknowledged or in doubt; nothing is lost of
// the permits, and nobody is left behind.
func TestNodeIsLostAndComesBackUnderLoad(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3})
	client := connect(t, srv, swift, func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval = 20 * time.Millisecond
		c.ClientPolicy.Timeout = time.Second // a look at a node that has just died takes as long
		c.Limit = 40                         // nobody is refused
	})
	once, err := client.With(aerospike.NoRetry())
	require.NoError(t, err)
	ledgers := make([]*ledger, 12)
	writes := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsWrite}}) // which only counts
	var stop atomic.Bool
	var wg sync.WaitGroup
	t.Cleanup(func() { stop.Store(true); wg.Wait() })
	for i := range ledgers {
		ledgers[i] = &ledger{key: newKey(t, i)}
		put(t, client, ledgers[i].key, as.BinMap{"n": 0})
		wg.Add(2)
		go func() { defer wg.Done(); ledgers[i].keep(t, client, &stop) }()
		go func() {
			defer wg.Done()
			for !stop.Load() {
				_, _ = client.Get(t.Context(), nil, ledgers[i].key)
			}
		}()
	}
	loaded := func() { require.NoError(t, writes.Wait(patient(t), writes.Hits()+500)) }
	read, write, batch := as.NewPolicy(), as.NewWritePolicy(0, 0), as.NewBatchPolicy() // patient: one second isn't enough on any machine
	read.TotalTimeout, write.TotalTimeout, batch.TotalTimeout = patience, patience, patience
	recovered := func(name string) {
		for _, l := range ledgers {
			_, err := once.Get(patient(t), read, l.key)
			require.NoError(t, err, name)
			require.NoError(t, once.Touch(patient(t), write, l.key), name)
		}
		_, err := once.BatchGet(patient(t), batch, []*as.Key{ledgers[0].key, ledgers[1].key, ledgers[2].key, ledgers[3].key})
		require.NoError(t, err, name)
	}
	looks := watchTends(srv, 1)
	lost := srv.Node(0)
	loaded()
	for range 3 {
		lost.Kill()
		looks.pass(t, 2)
		recovered("lost")
		require.Len(t, client.GetNodes(), 2)
		loaded()

		require.NoError(t, lost.Restart())
		looks.pass(t, 2)
		recovered("back")
		require.Len(t, client.GetNodes(), 3)
		before := lost.Stats().Count(aerospiketest.KindsData)
		loaded()
		require.Greater(t, lost.Stats().Count(aerospiketest.KindsData), before, "it serves again")
	}
	stop.Store(true)
	wg.Wait()
	for _, l := range ledgers {
		rec, err := client.Get(patient(t), nil, l.key)
		require.NoError(t, err)
		require.GreaterOrEqual(t, rec.Bins["n"], l.acked, "an acknowledged write is lost")
		require.LessOrEqual(t, rec.Bins["n"], l.acked+l.doubted, "a write was executed that wasn't in doubt")
	}
	idle(t, client)
	balanced(t, client)
	require.NoError(t, srv.AwaitConns(patient(t), 0))
}

// G-AER-18; L-15: the only node is gone, and comes back: a write that may be repeated, and has the
// time, goes through, in more than one attempt.
func TestWriteOutlastsARestart(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	failed := make(chan struct{}, 1)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.ClientPolicy.TendInterval, c.ClientPolicy.Timeout = 20*time.Millisecond, 200*time.Millisecond
		c.Policies.Write = as.NewWritePolicy(0, 0)
		c.Policies.Write.TotalTimeout = short
		c.Writes = retry.ReadPolicy()
		c.Writes.MaxAttempts, c.Writes.Base, c.Writes.Floor, c.Writes.Cap = 1000, 5*time.Millisecond, 5*time.Millisecond, 20*time.Millisecond
		c.Writes.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) {
			select {
			case failed <- struct{}{}:
			default:
			}
		}}}
	})
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	srv.Node(0).Kill()
	done := make(chan error, 1)
	go func() { done <- idempotent.Put(patient(t), nil, newKey(t, 1), as.BinMap{"n": 1}) }()
	for range 5 {
		select {
		case <-failed:
		case err := <-done:
			t.Fatalf("it ended while the node was down: %v", err)
		}
	}
	require.NoError(t, srv.Node(0).Restart())
	require.NoError(t, <-done)
	require.GreaterOrEqual(t, client.Snapshot().Writes.Retries, uint64(5))
	require.Equal(t, 1, srv.Records("test", "s"))
	balanced(t, client)
}
