package lane_test

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
)

// liveBackend answers each byte that it is sent with the same byte, and counts by it how
// many it has at work at once.
type liveBackend struct {
	net.Listener
	now, peak [256]atomic.Int64
	took      time.Duration // how long it takes for an answer
}

func serveLive(tb testing.TB, took time.Duration) *liveBackend {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	b := &liveBackend{Listener: listener, took: took}
	var all sync.WaitGroup
	all.Add(1)
	go func() {
		defer all.Done()
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			all.Add(1)
			go func() {
				defer all.Done()
				b.answer(c)
			}()
		}
	}()
	tb.Cleanup(func() {
		_ = listener.Close()
		all.Wait()
	})
	return b
}

func (b *liveBackend) answer(c net.Conn) {
	defer func() { _ = c.Close() }()
	var who [1]byte
	for {
		if _, err := io.ReadFull(c, who[:]); err != nil {
			return
		}
		now, peak := b.now[who[0]].Add(1), &b.peak[who[0]]
		for p := peak.Load(); now > p && !peak.CompareAndSwap(p, now); p = peak.Load() {
		}
		b.work()
		b.now[who[0]].Add(-1)
		if _, err := c.Write(who[:]); err != nil {
			return
		}
	}
}

func (b *liveBackend) work() {
	if b.took == 0 {
		runtime.Gosched()
		return
	}
	<-time.After(b.took)
}

// client is a connection to the backend, for one caller.
func (b *liveBackend) client(tb testing.TB) spillway.Op[int] {
	c, err := net.Dial("tcp", b.Addr().String())
	if err != nil {
		panic(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return func(ctx context.Context) (int, error) {
		class, _ := spillway.ClassFrom(ctx)
		who := []byte{class[0]}
		if _, err := c.Write(who); err != nil {
			return 0, err
		}
		_, err := io.ReadFull(c, who)
		return 1, err
	}
}

const (
	criticalLimit = 8
	bulkLimit     = 4
)

func liveSet(tb testing.TB) *lane.Set[int] {
	tb.Helper()
	s, err := lane.NewSet[int](lane.SetConfig{
		Name: "db", Default: "critical", Classes: map[spillway.Class]string{spillway.Critical: "critical", spillway.Bulk: "bulk"},
		Lanes: []lane.Config{
			{Name: "critical", Limit: criticalLimit, MaxWaiting: criticalLimit, MaxWait: 50 * time.Millisecond},
			{Name: "bulk", Limit: bulkLimit, MaxWaiting: 2 * bulkLimit, MaxWait: 10 * time.Millisecond, Predict: true},
		},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// R56, W9, live: with bulk at twenty times its limit the critical, at half of its own,
// isn't refused once, and the backend never sees more of either than its lane lets in. How
// long they take is BenchmarkSetIsolation's: a test has a machine to itself too seldom.
func TestSetBulkDoesNotMoveTheCriticalLive(t *testing.T) {
	b, s := serveLive(t, 0), liveSet(t)
	ctx := context.Background()
	var bulk, critical sync.WaitGroup
	var over atomic.Bool
	var bulkDone, bulkRefused atomic.Int64
	for range 20 * bulkLimit {
		op := b.client(t)
		bulk.Add(1)
		go func() {
			defer bulk.Done()
			ctx := spillway.WithClass(ctx, spillway.Bulk)
			for !over.Load() {
				switch _, err := s.Do(ctx, op); {
				case err == nil:
					bulkDone.Add(1)
				case errors.Is(err, spillway.ErrBackpressure):
					bulkRefused.Add(1)
					runtime.Gosched()
				default:
					panic(err)
				}
			}
		}()
	}
	failed := make(chan error, criticalLimit/2)
	for range criticalLimit / 2 {
		op := b.client(t)
		critical.Add(1)
		go func() {
			defer critical.Done()
			ctx := spillway.WithClass(ctx, spillway.Critical)
			for range 250 {
				if _, err := s.Do(ctx, op); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	critical.Wait()
	over.Store(true)
	bulk.Wait()
	require.Empty(t, failed, "every critical call succeeds")
	require.EqualValues(t, 250*criticalLimit/2, s.Lane("critical").Stats().Admitted)
	require.LessOrEqual(t, b.peak['c'].Load(), int64(criticalLimit))
	require.LessOrEqual(t, b.peak['b'].Load(), int64(bulkLimit))
	require.Greater(t, bulkRefused.Load(), bulkDone.Load(), "twenty times too many")
}
