package aerospiketest_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// disturb does one thing to a server, at random, and undoes what would keep commands from
// arriving for good.
func disturb(t *testing.T, s *aerospiketest.Server, r *rand.Rand) {
	nodes := s.Nodes()
	n := nodes[r.IntN(len(nodes))]
	some := aerospiketest.Match{Kinds: 1 << r.IntN(11)}
	switch r.IntN(10) {
	case 0:
		n.Kill()
		assert.NoError(t, n.Restart())
	case 1:
		n.Pause()
		n.Resume()
	case 2:
		n.SetAccept(aerospiketest.Accept{Refuse: true})
		n.SetAccept(aerospiketest.Accept{Delay: 100 * time.Microsecond})
	case 3:
		if len(nodes) < 5 {
			_, err := s.AddNode()
			assert.NoError(t, err)
		}
	case 4:
		g := s.Hold(some)
		g.Step(1)
		g.Release()
	case 5:
		action := []aerospiketest.Action{aerospiketest.ActionReset, aerospiketest.ActionSwallow, aerospiketest.ActionTruncate}[r.IntN(3)]
		s.Inject(aerospiketest.Fault{Match: some, Times: 2, Action: action, After: r.IntN(2) == 0})
	case 6:
		assert.NoError(t, s.MovePartitions(n.Index(), r.IntN(aerospiketest.Partitions)))
		n.SetStrict(r.IntN(2) == 0)
	case 7:
		log := s.Record(some)
		log.Reset()
		log.Stop()
	case 8:
		assert.NoError(t, s.SetUnavailable(r.IntN(aerospiketest.Partitions)))
		n.SetRack(r.IntN(3))
	case 9:
		s.Truncate()
		s.Advance(time.Second)
	}
}

// load sends commands of many kinds until stop is closed. They may all fail.
func load(t *testing.T, c *as.Client, stop <-chan struct{}) *sync.WaitGroup {
	const limit = 200 * time.Millisecond
	write, batch, scan, query := writePolicy(), batchPolicy(), scanPolicy(), queryPolicy()
	for _, p := range []*as.BasePolicy{&write.BasePolicy, &batch.BasePolicy, &scan.BasePolicy, &query.BasePolicy} {
		p.TotalTimeout, p.SocketTimeout, p.MaxRetries = limit, limit, 0
	}
	wg := new(sync.WaitGroup)
	loop := func(f func(k *as.Key)) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					f(key(t, i%50))
				}
			}
		}()
	}
	loop(func(k *as.Key) { _ = c.PutBins(write, k, as.NewBin("a", 1)) })
	loop(func(k *as.Key) {
		_, _ = c.Operate(write, k, as.ListAppendOp("l", 1), as.AddOp(as.NewBin("a", 1)), as.GetOp())
	})
	loop(func(k *as.Key) { _, _ = c.BatchGet(batch, []*as.Key{k, key(t, 1), key(t, 2)}) })
	loop(func(*as.Key) {
		_, _ = c.ExecuteUDF(query, as.NewStatement("test", "s"), "m", "add", as.NewValue("x"), as.NewValue(1))
	})
	loop(func(*as.Key) {
		if rs, err := c.ScanAll(scan, "test", "s"); err == nil {
			for range rs.Results() {
			}
		}
	})
	return wg
}

func TestServerSurvivesWhateverIsDoneToItUnderLoad(t *testing.T) {
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3, Capacity: aerospiketest.Capacity{Parallel: 4, Queue: 2}})
	require.NoError(t, s.RegisterLua("m.lua", module))
	c := connect(t, s, func(p *as.ClientPolicy) { p.Timeout = time.Second })
	arrived := s.Inject(aerospiketest.Fault{})
	stop := make(chan struct{})
	wg := load(t, c, stop)
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for range 40 {
		disturb(t, s, r)
		require.NoError(t, arrived.Wait(soon(t), arrived.Hits()+5))
	}
	s.Close()
	require.Zero(t, s.Stats().OpenConns)
	require.Zero(t, s.Stats().InFlight)
	require.Empty(t, leaked())
	close(stop)
	wg.Wait()
}
