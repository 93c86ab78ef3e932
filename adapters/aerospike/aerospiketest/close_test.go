package aerospiketest_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// A stopper is called by work of many steps, and stops it at the first.
type stopper struct {
	steps   atomic.Int64
	reached chan struct{}
	goOn    chan struct{}
}

func newStopper() *stopper {
	return &stopper{reached: make(chan struct{}), goOn: make(chan struct{})}
}

func (s *stopper) step() {
	if s.steps.Add(1) == 1 {
		close(s.reached)
		<-s.goOn
	}
}

// closeDuring closes the server while work is at its first step, and requires that it is
// the last. work returns when its connection has been reset, so the end has begun.
func closeDuring(t *testing.T, s *aerospiketest.Server, at *stopper, work func()) {
	t.Helper()
	gone, closed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		work()
	}()
	<-at.reached
	go func() {
		defer close(closed)
		s.Close()
	}()
	<-gone
	close(at.goOn)
	<-closed
	require.EqualValues(t, 1, at.steps.Load())
}

func TestCloseEndsABatchAtItsNextRecord(t *testing.T) {
	s, c := start(t)
	at := newStopper()
	require.NoError(t, s.RegisterFunc("m", "f", func(*aerospiketest.UDFRecord, []any) (any, error) {
		at.step()
		return nil, nil
	}))
	warm(t, c, 4)
	keys := make([]*as.Key, 20)
	for i := range keys {
		keys[i] = key(t, i)
	}
	p := batchPolicy()
	p.MaxRetries = 0
	closeDuring(t, s, at, func() { _, _ = c.BatchExecute(p, as.NewBatchUDFPolicy(), keys, "m", "f") })
}

func TestCloseEndsAnAggregationAtItsNextRecord(t *testing.T) {
	at := newStopper()
	s, c := start(t, aerospiketest.Config{UDFLog: func(string, string) { at.step() }})
	require.NoError(t, s.RegisterLua("m.lua", `function all(s) return s : map(function(r) info('one') return 1 end) end`))
	fill(t, c, 20)
	ask := frame{info1: 1, fields: [][]byte{
		field(0, []byte("test")), field(1, []byte("s")), field(7, make([]byte, 8)),
		field(30, []byte("m")), field(31, []byte("all")), field(32, nil), field(33, []byte{1}),
	}}.body()
	conn := dial(t, s.Addr()) // the driver's own part of an aggregation may end before
	closeDuring(t, s, at, func() {
		_, err := conn.Write(proto(2, 3, ask))
		assert.NoError(t, err)
		_, _, err = readFrame(conn)
		assert.Error(t, err)
	})
}

// A node that is going down waits for what runs on it; nobody else waits for the node.
func TestKillKeepsNobodyFromChangingTheCluster(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	at := newStopper()
	require.NoError(t, s.RegisterFunc("m", "f", func(*aerospiketest.UDFRecord, []any) (any, error) {
		at.step()
		return nil, nil
	}))
	k := key(t, 1)
	n := s.Node(k.PartitionId() % 2)
	gone, killed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = c.Execute(writePolicy(), k, "m", "f")
	}()
	<-at.reached
	go func() {
		defer close(killed)
		n.Kill()
	}()
	<-gone
	require.False(t, n.Up())
	require.NoError(t, s.MovePartitions(1-n.Index(), k.PartitionId()))
	s.Inject(aerospiketest.Fault{}).Remove()
	close(at.goOn)
	<-killed
}

// A list of operations that is cut short fails, but not in a way that a client may see.
func TestKillAnswersNothingThatItHasCutShort(t *testing.T) {
	s := aerospiketest.NewServer(t)
	ops := make([][]byte, 200)
	for i := range ops {
		ops[i] = rawOp(5, 1, "n", make([]byte, 8))
	}
	add := proto(2, 3, frame{info2: 1, fields: [][]byte{field(0, []byte("test")), field(4, make([]byte, 20))}, ops: ops}.body())
	arrived := s.Inject(aerospiketest.Fault{})
	for range 50 {
		conns := make([]net.Conn, 4)
		for i := range conns {
			conns[i] = dial(t, s.Addr())
		}
		var wg sync.WaitGroup
		for _, c := range conns {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for {
					if _, err := c.Write(add); err != nil {
						return
					}
					_, body, err := readFrame(c)
					if err != nil {
						return
					}
					assert.EqualValues(t, aerospiketest.CodeOK, body[5])
				}
			}()
		}
		require.NoError(t, arrived.Wait(soon(t), arrived.Hits()+20))
		s.Node(0).Kill()
		wg.Wait()
		require.NoError(t, s.Node(0).Restart())
	}
}
