package aerospike_test

import (
	"context"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// closeWitness is a witness who sees attempts, too.
type closeWitness struct {
	witness
	tries witness
}

type tryNumber struct{}

func (w *closeWitness) BeginAttempt(ctx context.Context, call spillway.Call, number int) (context.Context, spillway.Observation) {
	_, o := w.tries.Begin(ctx, call)
	return context.WithValue(ctx, tryNumber{}, number), o
}

// G-AER-14: an observer who asks for attempts is told of each, within the call: of every method
// that isn't a stream.
func TestWatchersSeeEveryAttempt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(closeWitness)
	client := connect(t, srv, swift, func(c *aerospike.Config) { c.Observer = w })
	fill(t, client, 10)
	w.take()
	w.tries.take()
	for _, m := range methods(t) {
		_ = m.call(patient(t), client)
		began, ended, _ := w.take()
		require.Len(t, began, 1, m.name)
		tries, results, _ := w.tries.take()
		require.Len(t, results, len(tries), m.name)
		if began[0].Kind == spillway.KindStream {
			require.Empty(t, tries, m.name)
			continue
		}
		require.Len(t, tries, 1, m.name)
		require.Equal(t, began[0], tries[0], m.name)
		require.Equal(t, ended[0], results[0], "%s: of one attempt the same is to be said as of the call", m.name)
	}

	fill(t, client, 10)
	w.take()
	w.tries.take()
	busy := aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload}
	reads := []as.BatchRecordIfc{as.NewBatchReadHeader(nil, newKey(t, 1)), as.NewBatchReadHeader(nil, newKey(t, 2))}
	for name, call := range map[string]func() error{
		"Get":          func() error { return second(client.Get(patient(t), nil, newKey(t, 1))) },
		"BatchGet":     func() error { return second(client.BatchGet(patient(t), nil, []*as.Key{newKey(t, 1)})) },
		"BatchOperate": func() error { return client.BatchOperate(patient(t), nil, reads) },
	} {
		srv.Inject(busy)
		require.NoError(t, call(), name)
		_, ended, _ := w.take()
		require.Len(t, ended, 1, name)
		require.Equal(t, 2, ended[0].Attempts, name)
		tries, results, _ := w.tries.take()
		require.Len(t, tries, 2, name)
		require.Equal(t, 1, results[0].Attempts, name)
		require.Equal(t, 1, results[1].Attempts, name)
		require.NoError(t, results[1].Err, name)
		require.Equal(t, ended[0].Backend, results[0].Backend+results[1].Backend, name)
		if name != "BatchOperate" { // whose records have the error
			require.Equal(t, spillway.OutcomeOverload, results[0].Outcome, name)
		}
	}
	balanced(t, client)
}

// What is refused was no attempt at the backend.
func TestWatchersSeeRefusedAttempts(t *testing.T) {
	w := new(closeWitness)
	client := connect(t, aerospiketest.NewServer(t), func(c *aerospike.Config) { c.Observer, c.Mode = w, spillway.RefuseAll })
	require.ErrorIs(t, second(client.Get(patient(t), nil, newKey(t, 1))), spillway.ErrBackpressure)
	_, results, _ := w.tries.take()
	require.Len(t, results, 1)
	require.Zero(t, results[0].Attempts)
	require.Empty(t, results[0].Node)
	require.ErrorIs(t, results[0].Err, spillway.ErrBackpressure)
}

// rudeTry is an observer whose part for attempts panics, or forgets the context.
type rudeTry struct {
	witness
	panics bool
}

func (r *rudeTry) BeginAttempt(context.Context, spillway.Call, int) (context.Context, spillway.Observation) {
	if r.panics {
		panic("attempt")
	}
	return nil, rude{}
}

// G-AER-14; M-01, M-08: as for calls.
func TestAttemptObserverPanicsHarmNobody(t *testing.T) {
	for _, panics := range []bool{false, true} {
		client := connect(t, aerospiketest.NewServer(t), func(c *aerospike.Config) { c.Observer = &rudeTry{panics: panics} })
		put(t, client, newKey(t, 1), as.BinMap{"a": 1})
		require.NoError(t, second(client.Get(patient(t), nil, newKey(t, 1))))
		balanced(t, client)
	}
}

// A batch goes well although records of it fail; who watches learns how many. What was sent again
// and went well hasn't failed, nor has a record that isn't there.
func TestWatchersSeeHowManyRecordsFailed(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	w := new(witness)
	client := connect(t, srv, swift, func(c *aerospike.Config) { c.Observer = w })
	fill(t, client, 10)
	w.take()
	failed := func(call func() error) int {
		t.Helper()
		_ = call()
		_, ended, _ := w.take()
		require.Len(t, ended, 1)
		return ended[0].Failed
	}
	var keys []*as.Key
	for i := range 8 {
		keys = append(keys, newKey(t, i))
	}
	missing := newKey(t, "missing")
	require.Zero(t, failed(func() error {
		return client.BatchOperate(patient(t), nil, []as.BatchRecordIfc{as.NewBatchReadHeader(nil, missing), as.NewBatchDelete(nil, missing)})
	}))
	require.Zero(t, failed(func() error { return second(client.BatchDelete(patient(t), nil, nil, []*as.Key{missing})) }))
	srv.Inject(aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload})
	var reads []as.BatchRecordIfc
	for _, k := range keys {
		reads = append(reads, as.NewBatchReadHeader(nil, k))
	}
	require.Zero(t, failed(func() error { return client.BatchOperate(patient(t), nil, reads) }), "they were sent again")

	down := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Nodes: []int{0}}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload})
	at := 0
	for _, k := range keys {
		if k.PartitionId()%2 == 0 {
			at++
		}
	}
	require.Equal(t, at, failed(func() error {
		return second(client.BatchDelete(patient(t), nil, nil, keys))
	}), "those of one node")
	down.Remove()
	balanced(t, client)
}
