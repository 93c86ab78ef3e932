package aerospike_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// witness is an observer and a middleware that write down what they see.
type witness struct {
	mu     sync.Mutex
	began  []spillway.Call
	ended  []spillway.CallResult
	around []string
	told   chan struct{} // has one for each end, if it isn't nil
}

type seenCall struct{ w *witness }

func (w *witness) Begin(ctx context.Context, call spillway.Call) (context.Context, spillway.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = append(w.began, call)
	return ctx, seenCall{w}
}

func (s seenCall) End(result spillway.CallResult) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	s.w.ended = append(s.w.ended, result)
	if s.w.told != nil {
		s.w.told <- struct{}{}
	}
}

func (w *witness) use(ctx context.Context, call spillway.Call, next func(context.Context) error) error {
	w.mu.Lock()
	w.around = append(w.around, call.Operation)
	w.mu.Unlock()
	return next(ctx)
}

// take returns what was seen, and forgets it.
func (w *witness) take() (began []spillway.Call, ended []spillway.CallResult, around []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	began, ended, around = w.began, w.ended, w.around
	w.began, w.ended, w.around = nil, nil, nil
	return began, ended, around
}

// G-AER-14; M-06, R154: who watches sees every call of every method exactly once, with its
// end.
func TestWatchersSeeEveryCallOnce(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	client := connect(t, srv, func(c *aerospike.Config) { c.Observer, c.Use = w, []spillway.Middleware{w.use} })
	fill(t, client, 10)
	w.take()
	for _, m := range methods(t) {
		err := m.call(patient(t), client)
		began, ended, around := w.take()
		require.Len(t, began, 1, m.name)
		require.Equal(t, m.name, began[0].Operation)
		require.Equal(t, "aerospike", began[0].System)
		require.Equal(t, []string{m.name}, around)
		require.Len(t, ended, 1, m.name)
		require.Equal(t, spillway.OutcomeOf(ended[0].Err), ended[0].Outcome)
		if err == nil && m.name != "ListUDF" {
			require.NoError(t, ended[0].Err, m.name)
			require.Equal(t, 1, ended[0].Attempts, m.name)
			require.Positive(t, ended[0].Backend, m.name)
		}
		if began[0].Kind == spillway.KindStream && began[0].Operation == "ScanAll" {
			require.Equal(t, srv.Records("test", "s"), ended[0].Rows, "a stream's records are counted")
		}
	}
}

// G-AER-14: refusals are seen too, and that nobody was asked.
func TestWatchersSeeRefusals(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Observer, c.Use, c.Mode = w, []spillway.Middleware{w.use}, spillway.RefuseAll
	})
	for _, m := range methods(t) {
		require.ErrorIs(t, m.call(patient(t), client), spillway.ErrBackpressure)
		began, ended, around := w.take()
		require.Len(t, began, 1, m.name)
		require.Equal(t, []string{m.name}, around)
		require.Len(t, ended, 1, m.name)
		require.Zero(t, ended[0].Attempts, m.name)
		require.Equal(t, spillway.OutcomeLocal, ended[0].Outcome, m.name)
	}
}

// Retries are one call with several attempts, of single records and of batches.
func TestWatchersCountAttempts(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	client := connect(t, srv, swift, func(c *aerospike.Config) { c.Observer = w })
	fill(t, client, 3)
	w.take()
	busy := aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload}
	srv.Inject(busy)
	_, err := client.Get(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	_, ended, _ := w.take()
	require.Len(t, ended, 1)
	require.Equal(t, 2, ended[0].Attempts)
	require.Equal(t, "A1", ended[0].Node)

	srv.Inject(busy)
	reads := []as.BatchRecordIfc{as.NewBatchReadHeader(nil, newKey(t, 1)), as.NewBatchReadHeader(nil, newKey(t, 2))}
	require.NoError(t, client.BatchOperate(patient(t), nil, reads))
	_, ended, _ = w.take()
	require.Len(t, ended, 1)
	require.Equal(t, 2, ended[0].Attempts)
}

type rude struct{ begin, end bool }

func (r rude) Begin(ctx context.Context, _ spillway.Call) (context.Context, spillway.Observation) {
	if r.begin {
		panic("begin")
	}
	return nil, r
}
func (r rude) End(spillway.CallResult) { panic("end") }

// G-AER-14; M-01, M-08: a panic in an observer harms nobody, and neither does a context that it
// forgets.
func TestObserverPanicsHarmNobody(t *testing.T) {
	for _, o := range []rude{{begin: true}, {end: true}} {
		srv := aerospiketest.NewServer(t)
		client := connect(t, srv, func(c *aerospike.Config) { c.Observer = o })
		fill(t, client, 10)
		_, err := client.Get(patient(t), nil, newKey(t, 1))
		require.NoError(t, err)
		require.NoError(t, drained(client.ScanAll(patient(t), nil, "test", "s")))
		_, err = client.ListUDF(patient(t), nil)
		require.NoError(t, err)
		balanced(t, client)
	}
}

// Somebody who gives up while the driver is still at work on his call is told so, and
// the observer too: the driver's end, later, is nobody's business. (The race detector
// would find who looks at the call then.)
func TestObserverOfACallThatOutlivesItsCaller(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	client := connect(t, srv, func(c *aerospike.Config) { c.Observer = w })
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindAdmin})
	ctx, cancel := context.WithCancel(patient(t))
	done := make(chan error, 1)
	go func() { _, err := client.QueryUsers(ctx, nil); done <- err }()
	require.NoError(t, gate.Wait(patient(t), 1))
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	_, ended, _ := w.take()
	require.Len(t, ended, 1)
	require.ErrorIs(t, ended[0].Err, context.Canceled)
	gate.Release()
	balanced(t, client)
}

// A middleware that fails a stream which was started doesn't leave it behind.
func TestMiddlewareThatFailsAStream(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	failed := errors.New("not today")
	repeat := false
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Use = []spillway.Middleware{func(ctx context.Context, call spillway.Call, next func(context.Context) error) error {
			if call.Kind != spillway.KindStream {
				return next(ctx)
			}
			err := next(ctx)
			if repeat {
				return next(ctx)
			}
			return errors.Join(err, failed)
		}}
	})
	fill(t, client, 100)
	policy := as.NewScanPolicy()
	policy.RecordQueueSize = 1
	stream, err := client.ScanAll(patient(t), policy, "test", "s")
	require.ErrorIs(t, err, failed)
	require.Nil(t, stream)
	objects, err := client.ScanAllObjects(patient(t), policy, make(chan *item), "test", "s")
	require.ErrorIs(t, err, failed)
	require.Nil(t, objects)
	repeat = true
	require.NoError(t, drained(client.ScanAll(patient(t), policy, "test", "s")))
	balanced(t, client)
}

// A middleware that hedges gets an error from the second next, and not the first one's permit.
func TestMiddlewareCallsNextTwiceAtOnce(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	overlap := make(chan error, 1)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Use = []spillway.Middleware{func(ctx context.Context, call spillway.Call, next func(context.Context) error) error {
			if call.Operation != "Get" && call.Kind != spillway.KindStream {
				return next(ctx)
			}
			gate := srv.Hold(aerospiketest.Match{})
			first := make(chan error, 1)
			go func() { first <- next(ctx) }()
			if err := gate.Wait(ctx, 1); err != nil {
				return err
			}
			if call.Kind != spillway.KindStream { // whose next has returned by now
				overlap <- next(ctx)
			}
			gate.Release()
			return <-first
		}}
	})
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	rec, err := client.Get(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	require.Equal(t, 1, rec.Bins["a"])
	require.ErrorContains(t, <-overlap, "while an earlier next of the same call was under way")
	require.NoError(t, drained(client.ScanAll(patient(t), nil, "test", "s")))
	balanced(t, client)
}

// The context's end and the stream's own race for it: whoever wins, the observer is told
// once.
func TestStreamEndsOnceConcurrentSafe(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	client := connect(t, srv, func(c *aerospike.Config) { c.Observer = w })
	fill(t, client, 5)
	w.take()
	for range 20 {
		ctx, cancel := context.WithCancel(patient(t))
		stream, err := client.ScanAll(ctx, nil, "test", "s")
		require.NoError(t, err)
		go cancel()
		go func() { _ = stream.Close() }()
		for _, err := range stream.All() {
			if err != nil {
				break // whose it is, is open
			}
		}
		<-stream.Done()
	}
	_, ended, _ := w.take()
	require.Len(t, ended, 20)
	balanced(t, client)
}

// R142: what a middleware keeps from being made is no answer. A record that isn't there with no
// error, or no stream, would be a panic of its caller's.
func TestMiddlewareThatSkipsACallFailsIt(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Use = []spillway.Middleware{func(context.Context, spillway.Call, func(context.Context) error) error { return nil }}
	})
	log := srv.Record()
	ctx, key := patient(t), newKey(t, 1)
	_, read := client.Get(ctx, nil, key)
	_, stream := client.ScanAll(ctx, nil, "test", "s")
	_, batch := client.BatchGet(ctx, nil, []*as.Key{key})
	for _, err := range []error{read, stream, batch, client.Put(ctx, nil, key, as.BinMap{"a": 1})} {
		require.ErrorContains(t, err, "a middleware returned no error for a call that has failed: it has not called next")
	}
	require.Zero(t, log.Len())
	idle(t, client)
}

// G-AER-14, R142: a middleware that makes a success of a failure has nothing to return: no record,
// no stream, no task. It is an error, and still the failure that it was; and the observer hears
// of it once.
func TestMiddlewareThatHidesAFailure(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	w := new(witness)
	hide := func(ctx context.Context, _ spillway.Call, next func(context.Context) error) error {
		_ = next(ctx)
		return nil
	}
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Observer, c.Use, c.Mode = w, []spillway.Middleware{hide}, spillway.RefuseAll
	})
	compat := compatOf(t, client)
	ch := make(chan *item)
	for name, call := range map[string]func() error{
		"Get":            func() error { return second(client.Get(patient(t), nil, newKey(t, 1))) },
		"Put":            func() error { return client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1}) },
		"BatchGet":       func() error { return second(client.BatchGet(patient(t), nil, []*as.Key{newKey(t, 1)})) },
		"ScanAll":        func() error { return second(client.ScanAll(patient(t), nil, "test", "s")) },
		"ScanAllObjects": func() error { return second(client.ScanAllObjects(patient(t), nil, ch, "test", "s")) },
		"QueryExecute":   func() error { return second(client.QueryExecute(patient(t), nil, nil, statement(), as.TouchOp())) },
		"CreateIndex":    func() error { return second(client.CreateIndex(patient(t), nil, "test", "s", "ix", "a", as.NUMERIC)) },
		"Recordset": func() error {
			_, aerr := compat.Query(nil, statement())
			return asError(aerr)
		},
	} {
		err := call()
		require.ErrorContains(t, err, "a middleware returned no error", name)
		require.ErrorIs(t, err, spillway.ErrBackpressure, name)
		began, ended, _ := w.take()
		require.Len(t, began, 1, name)
		require.Len(t, ended, 1, name)
	}
	idle(t, client)
}
