//go:build go1.25

package permit_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// leaver is a meter that ends its goroutine in one of its methods.
type leaver struct {
	method string
	left   atomic.Int64
}

func (l *leaver) call(method string) {
	if method == l.method {
		l.left.Add(1)
		runtime.Goexit()
	}
}

func (l *leaver) Begin(context.Context, time.Duration) uint8 { l.call("begin"); return 0 }
func (l *leaver) Full(time.Duration)                         { l.call("full") }
func (l *leaver) End(spillway.Sample)                        { l.call("end") }

// A12, G-LIM-3, G-LIM-10: a meter may end the goroutine of its caller, which no recover
// stops, wherever it is called: no permit is lost, and no place in the queue.
func TestMeterThatExitsTakesNothingWithIt(t *testing.T) {
	ways := map[string]func(ctx context.Context, c *permit.Core){
		"enter": func(ctx context.Context, c *permit.Core) {
			if u, err := c.Enter(ctx, 1); err == nil {
				c.Leave(u, spillway.OutcomeOK)
			}
		},
		"admit": func(ctx context.Context, c *permit.Core) {
			p, _ := c.Admit(ctx, 1)
			p.Release()
		},
		"wait": func(ctx context.Context, c *permit.Core) {
			if u, err := c.Wait(ctx, 1, 3); err == nil {
				c.Leave(u, spillway.OutcomeOK)
			}
		},
		"lend": func(ctx context.Context, c *permit.Core) {
			if u, ok := c.Lend(ctx, 1, 1); ok {
				c.Leave(u, spillway.OutcomeOK)
			}
		},
		"do": func(ctx context.Context, c *permit.Core) {
			_, _ = permit.Do(ctx, c, 1, func(context.Context) (int, error) { return 0, nil })
		},
	}
	for name, way := range ways {
		for _, method := range []string{"begin", "full", "end"} {
			for _, track := range []spillway.Track{spillway.TrackOff, spillway.TrackSite} {
				for _, busy := range []bool{false, true} {
					left := exit(t, way, method, permit.Options{Limit: 2, Room: 3, MaxWait: time.Hour, Track: track}, busy)
					waits := name != "enter" && name != "lend"
					if method == "full" && busy && waits || method != "full" && (!busy || waits) {
						require.Positive(t, left, "%s %s", name, method)
					}
				}
			}
		}
	}
}

// exit makes a call whose goroutine the meter ends, of a core that is busy or not, and
// returns how often it ended one.
func exit(t *testing.T, way func(context.Context, *permit.Core), method string, opts permit.Options, busy bool) (left int) {
	synctest.Test(t, func(t *testing.T) {
		c, m := newCore(opts), &leaver{method: method}
		var u permit.Use
		if busy {
			u = enter(t, c, 2)
		}
		require.NoError(t, c.SetMeter(m, 1))
		go way(context.Background(), c)
		synctest.Wait()
		go c.Leave(u, spillway.OutcomeOK)
		synctest.Wait()
		require.NoError(t, c.SetMeter(nil, 0))
		require.False(t, c.Armed())
		requireWhole(t, c)
		left = int(m.left.Load())
	})
	return left
}

// G-LIM-10, B14: a meter that ends the goroutine of who comes to wait, after he was
// granted what he waits for: it goes on to the next.
func TestMeterThatExitsInTheInstantOfAGrantLosesNoPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Hour})
		u := enter(t, c, 1)
		m := &slowLeaver{leave: make(chan struct{})}
		require.NoError(t, c.SetMeter(m, 1))
		go func() { _, _ = c.Wait(context.Background(), 1, 2) }()
		synctest.Wait()
		require.NoError(t, c.SetMeter(nil, 0))
		next := wait(c, 1, 2)
		c.Leave(u, spillway.OutcomeOK)
		next.requireWaiting(t)
		close(m.leave)
		next.requireAdmitted(t)
		next.leave()
		require.EqualValues(t, 1, c.Stats().Canceled)
		requireWhole(t, c)
	})
}

// slowLeaver ends the goroutine of who comes to wait when it is told to.
type slowLeaver struct {
	nothing
	leave chan struct{}
}

func (l *slowLeaver) Full(time.Duration) {
	<-l.leave
	runtime.Goexit()
}
