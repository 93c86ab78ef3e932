package aerospike_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// shadowTime is the time that the policies of these tests give. It is more than the
// contexts have left, and nothing takes as long.
const shadowTime = 10 * patience

// traffic is what an application does: what it got, call by call, and what the server saw
// of it. Faults come where they came before.
func traffic(t *testing.T, srv *aerospiketest.Server, c as.ClientIfc) (results []string, seen []aerospiketest.Served) {
	t.Helper()
	srv.Truncate()
	read, write, batch, scan := as.NewPolicy(), as.NewWritePolicy(0, 0), as.NewBatchPolicy(), as.NewScanPolicy()
	for _, p := range []*as.BasePolicy{read, &write.BasePolicy, &batch.BasePolicy, &scan.BasePolicy} {
		p.TotalTimeout, p.SocketTimeout, p.MaxRetries, p.SleepBetweenRetries = shadowTime, shadowTime, 3, time.Millisecond
	}
	note := func(what string, v any, aerr as.Error) {
		if aerr == nil {
			results = append(results, fmt.Sprintf("%s: %v", what, v))
			return
		}
		// Its text has port numbers in it, and how often the driver looked for a connection.
		ae, ok := aerr.(*as.AerospikeError)
		code := aerospike.Classify(aerr).Code
		results = append(results, fmt.Sprintf("%s: %v, %v, in doubt %v, of the driver %v", what, v, code, aerr.IsInDoubt(), ok && ae.Node != nil))
	}
	keys := []*as.Key{newKey(t, 0), newKey(t, 1), newKey(t, 2)}
	log := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindsData | aerospiketest.KindAdmin})
	defer log.Stop()
	round := func(name string, fault *aerospiketest.Fault) {
		if fault != nil {
			defer srv.Inject(*fault).Remove()
		}
		note(name+" put", nil, c.Put(write, keys[0], as.BinMap{"i": 1}))
		note(name+" add", nil, c.Add(write, keys[0], as.BinMap{"i": 2}))
		rec, aerr := c.Get(read, keys[0])
		note(name+" get", binsOf(rec), aerr)
		_, aerr = c.Get(read, newKey(t, "missing"))
		note(name+" missing", nil, aerr)
		rec, aerr = c.Operate(write, keys[1], as.AddOp(as.NewBin("i", 1)), as.GetBinOp("i"))
		note(name+" operate", binsOf(rec), aerr)
		recs, aerr := c.BatchGet(batch, keys)
		note(name+" batch", len(recs), aerr)
		existed, aerr := c.Delete(write, keys[2])
		note(name+" delete", existed, aerr)
		rs, aerr := c.ScanAll(scan, "test", "s")
		note(name+" scan", nil, aerr)
		if aerr == nil {
			records, errs := taken(rs)
			note(name+" scanned", []int{records, errs}, nil)
		}
		_, aerr = c.QueryUsers(nil)
		note(name+" users", nil, aerr)
	}
	round("well", nil)
	for _, f := range []aerospiketest.Fault{
		{Times: 1, Action: aerospiketest.ActionReset},
		{Times: 2, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeTimeout},
		{Times: 5, Action: aerospiketest.ActionReset},
		{Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload},
		{Skip: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden},
	} {
		round(fmt.Sprintf("%v/%v", f.Action, f.Code), &f)
	}
	round("well again", nil)
	return results, log.Served()
}

func binsOf(rec *as.Record) as.BinMap {
	if rec == nil {
		return nil
	}
	return rec.Bins
}

// likened takes out of what the server saw what no two runs have in common: numbers of
// jobs, and how much of the time that a client allows was over before it said so.
func likened(seen []aerospiketest.Served) []aerospiketest.Served {
	like := make([]aerospiketest.Served, len(seen))
	for i, s := range seen {
		s.Task = 0
		s.Timeout, s.SocketTimeout = s.Timeout.Round(patience), s.SocketTimeout.Round(patience)
		like[i] = s
	}
	return like
}

// G-AER-17; R32, B-14: in mode Shadow calls have the results that they have with the driver alone,
// and the server sees the same commands, attempt by attempt, with the same timeouts,
// although the lanes are full all the time. In mode Enforce neither is so.
func TestShadowChangesNothing(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	driver := raw(t, srv)
	_, aerr := driver.WarmUp(4) // a first attempt that finds no connection is counted like any
	require.Nil(t, aerr)
	want, wantSeen := traffic(t, srv, driver)
	again, againSeen := traffic(t, srv, driver)
	require.Equal(t, want, again, "this test can't tell")
	require.Equal(t, likened(wantSeen), likened(againSeen), "this test can't tell")

	for _, mode := range []spillway.Mode{spillway.Shadow, spillway.Off} {
		cfg := aerospike.DefaultConfig()
		cfg.Mode = mode
		cfg.MinBudget = time.Hour // everybody is late
		client, err := aerospike.Wrap(driver, cfg)
		require.NoError(t, err)
		got, gotSeen := traffic(t, srv, compatOf(t, client))
		require.Equal(t, want, got, mode)
		require.Equal(t, likened(wantSeen), likened(gotSeen), mode)
		require.Zero(t, client.Snapshot().Expired)
		require.Equal(t, mode == spillway.Shadow, client.Snapshot().WouldExpire > 0)
		balanced(t, client)
	}
	client, err := aerospike.Wrap(driver, aerospike.DefaultConfig())
	require.NoError(t, err)
	got, gotSeen := traffic(t, srv, compatOf(t, client))
	require.NotEqual(t, want, got)
	require.NotEqual(t, likened(wantSeen), likened(gotSeen))
	balanced(t, client)
}

// wave sends n calls at once, to where a gate keeps all that are let in, and returns when
// those have ended that were not, and held others are there.
func wave(t *testing.T, gate *aerospiketest.Gate, wg *sync.WaitGroup, n, held int, call func(i int) error) {
	t.Helper()
	refused := make(chan struct{}, n)
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := call(i); err != nil {
				require.ErrorIs(t, err, spillway.ErrBackpressure)
				refused <- struct{}{}
			}
		}()
	}
	for range n - held {
		<-refused
	}
	require.NoError(t, gate.Wait(patient(t), held))
}

// load is a script that has more of everything than a client allows, and returns what
// came of it. let is how many calls of a wave are let in.
func load(t *testing.T, mode spillway.Mode, let func(limit, calls int) int) aerospike.Snapshot {
	t.Helper()
	srv := aerospiketest.NewServer(t)
	long := as.NewPolicy()
	long.TotalTimeout = time.Hour
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Mode = mode
		c.Lanes = aerospike.DefaultLanes(8)
		c.MinBudget = 2 * patience // more than patient has
		c.Policies.Base, c.Policies.Write = long, as.NewWritePolicy(0, 0)
		c.Policies.Write.TotalTimeout = time.Hour
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	var wg sync.WaitGroup
	for _, w := range []struct {
		kind  aerospiketest.Kind
		limit int
		call  func(i int) error
	}{
		{aerospiketest.KindExists, 8, func(i int) error { return second(client.Exists(ctx, nil, newKey(t, i))) }},
		{aerospiketest.KindGet, 8, func(i int) error {
			_, err := client.Get(ctx, nil, newKey(t, i))
			if errors.Is(err, as.ErrKeyNotFound) {
				return nil
			}
			return err
		}},
		{aerospiketest.KindPut, 4, func(i int) error { return client.Put(ctx, nil, newKey(t, i), as.BinMap{"i": i}) }},
		{aerospiketest.KindScan, 1, func(int) error { return drained(client.ScanAll(ctx, nil, "test", "s")) }},
	} {
		gate := srv.Hold(aerospiketest.Match{Kinds: w.kind})
		wave(t, gate, &wg, 20, let(w.limit, 20), w.call)
		gate.Release()
		wg.Wait()
	}
	for range 7 { // too late
		_ = client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"i": 1})
		_, _ = client.BatchGet(patient(t), nil, []*as.Key{newKey(t, 1), newKey(t, 2)})
	}
	fault := srv.Inject(aerospiketest.Fault{Action: aerospiketest.ActionReset})
	twice := as.NewWritePolicy(0, 0)
	twice.TotalTimeout = time.Hour
	twice.MaxRetries, twice.SleepBetweenRetries = 2, time.Millisecond
	idempotent, err := client.With(aerospike.Idempotent())
	require.NoError(t, err)
	for range 5 { // the driver would send it again
		require.Error(t, client.Put(ctx, twice, newKey(t, 1), as.BinMap{"i": 1}))
		require.Error(t, idempotent.Put(ctx, twice, newKey(t, 1), as.BinMap{"i": 1}), "we, too")
		require.Error(t, client.Put(ctx, nil, newKey(t, 1), as.BinMap{"i": 1}), "nor the driver")
	}
	fault.Remove()
	snap := client.Snapshot()
	balanced(t, client)
	return snap
}

// G-AER-17; R32, B-14: what mode Shadow counts is what Enforce then does.
func TestShadowCountsWhatEnforceThenDoes(t *testing.T) {
	shadow := load(t, spillway.Shadow, func(_, calls int) int { return calls })
	enforce := load(t, spillway.Enforce, func(limit, _ int) int { return limit })
	require.EqualValues(t, 14, enforce.Expired)
	require.EqualValues(t, 5, enforce.NotRetried)
	require.Equal(t, enforce.Expired, shadow.WouldExpire)
	require.Equal(t, enforce.NotRetried, shadow.WouldNotRetry)
	refused := map[string]uint64{aerospike.LaneRead: 2 * 12, aerospike.LaneWrite: 16, aerospike.LaneStream: 19}
	for _, name := range []string{aerospike.LaneRead, aerospike.LaneWrite, aerospike.LaneBatch, aerospike.LaneStream} {
		would, did := shadow.Lane("A1", name), enforce.Lane("A1", name)
		require.Equal(t, refused[name], did.Refused.Total(), name)
		require.Equal(t, did.Refused.Total(), would.WouldRefuse, name)
		require.Zero(t, would.Refused.Total(), name)
		require.Zero(t, did.WouldRefuse, name)
	}
	require.Zero(t, shadow.Expired+shadow.NotRetried+enforce.WouldExpire+enforce.WouldNotRetry)
}

// G-AER-17: beside the driver's own call, one in mode Shadow allocates no more than one in mode
// Enforce: what it costs to find the key's node.
func TestShadowAllocatesNoMore(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	driver := raw(t, srv)
	cfg := aerospike.DefaultConfig()
	cfg.Mode = spillway.Shadow
	client, err := aerospike.Wrap(driver, cfg)
	require.NoError(t, err)
	key, policy, ctx := newKey(t, 1), as.NewPolicy(), patient(t)
	put(t, client, key, as.BinMap{"a": 1})
	least := func(f func()) float64 {
		n := testing.AllocsPerRun(100, f)
		for range 10 { // whoever else is at work in the process only adds
			n = min(n, testing.AllocsPerRun(100, f))
		}
		return n
	}
	bare := least(func() { _, _ = driver.Get(policy, key) })
	guarded := least(func() { _, _ = client.Get(ctx, policy, key) })
	require.LessOrEqual(t, guarded, bare+1)
	balanced(t, client)
}
