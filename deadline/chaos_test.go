//go:build go1.25

package deadline_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// chaos is an executor whose callers, jobs, sink, hooks, size and mode do anything at any
// time, as a seed says, and what became of its jobs.
type chaos struct {
	t       *testing.T
	e       *deadline.Executor[int]
	begin   time.Time
	now     atomic.Int32 // operations under way
	most    atomic.Int32
	workers int32 // the most there ever may be
	closed  atomic.Bool

	mu   sync.Mutex // guards what follows
	r    *rand.Rand
	jobs []*chaosJob
}

// chaosJob is one that was handed in.
type chaosJob struct {
	fire     bool // by Go
	items    int
	deadline time.Time
	accepted bool
	answered bool // whether the call returned: a hook on its goroutine may have ended that
	ran      int
	good     bool // it ran and returned no error
	told     int  // how often the sink was
}

type chaosKey struct{}

func (c *chaos) n(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.r.IntN(n)
}

func (c *chaos) span() time.Duration { return time.Duration(c.n(3000)) * time.Microsecond }

// anything is what sinks and hooks do.
func (c *chaos) anything() {
	switch c.n(12) {
	case 0:
		panic("chaos")
	case 1:
		runtime.Goexit()
	case 2:
		<-time.After(c.span())
	case 3:
		_ = c.e.Stats()
	case 4:
		c.resize()
	case 5:
		c.submit(3)
	case 6:
		c.submit(c.n(2)) // Do and Submit, which may not be possible here
	}
}

func (c *chaos) resize() { require.NoError(c.t, c.e.SetWorkers(1+c.n(int(c.workers)))) }

// submit hands a job in by one of the ways, and waits for it where there is something to wait for.
func (c *chaos) submit(way int) {
	j := &chaosJob{fire: way >= 3, items: 1, deadline: time.Now().Add(c.span())}
	if c.n(3) == 0 {
		j.deadline = time.Now().Add(500 * time.Millisecond) // far enough for guesses of the time
	}
	if way == 4 {
		j.items = 1 + c.n(5)
	}
	c.mu.Lock()
	c.jobs = append(c.jobs, j)
	c.mu.Unlock()
	ctx, cancel := context.WithDeadline(context.WithValue(context.Background(), chaosKey{}, j), j.deadline)
	stop := cancel
	if c.n(3) == 0 {
		time.AfterFunc(c.span()/2, cancel)
	}
	op := c.op(j, c.n(8), c.span())
	note := func(err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		j.accepted, j.answered = err == nil, true
	}
	switch way {
	case 0:
		_, err := c.e.Do(ctx, op)
		note(err)
	case 1, 2:
		hand := c.e.Submit
		if way == 2 {
			hand = c.e.TrySubmit
		}
		f, err := hand(ctx, op)
		note(err)
		if err != nil {
			break
		}
		if c.n(2) == 0 {
			<-f.Done()
		}
		_, _ = f.Wait(context.Background())
	default:
		note(c.e.GoN(ctx, j.items, op))
		time.AfterFunc(time.Second, stop)
		return
	}
	stop()
}

func (c *chaos) op(j *chaosJob, how int, takes time.Duration) spillway.Op[int] {
	return func(ctx context.Context) (int, error) {
		c.most.Store(max(c.most.Load(), c.now.Add(1)))
		defer c.now.Add(-1)
		c.mu.Lock()
		j.ran++
		late := !time.Now().Before(j.deadline)
		c.mu.Unlock()
		if late {
			c.t.Error("started after its deadline")
		}
		switch how {
		case 0:
			panic("job")
		case 1:
			runtime.Goexit()
		case 2:
			return 0, errOp
		case 3:
			<-time.After(takes)
		case 4:
			select {
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			case <-time.After(takes):
			}
		case 5:
			c.submit(c.n(5))
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		j.good = true
		return 1, nil
	}
}

func (c *chaos) sink(ctx context.Context, f deadline.Failure) {
	j := ctx.Value(chaosKey{}).(*chaosJob)
	c.mu.Lock()
	j.told++
	items := j.items
	c.mu.Unlock()
	if c.closed.Load() {
		c.t.Error("told after Close has returned")
	}
	if f.Items != items {
		c.t.Error("another number of items")
	}
	c.anything()
}

func runChaos(t *testing.T, seed uint64) {
	synctest.Test(t, func(t *testing.T) {
		c := &chaos{t: t, begin: time.Now(), r: rand.New(rand.NewPCG(seed, 1)), workers: 4}
		cfg := deadline.Config{
			Workers: 1 + c.n(4), Queue: 1 + c.n(6), MaxSubmitters: c.n(3), Drain: time.Duration(c.n(3)) * time.Millisecond, Sink: c.sink,
			TTL: time.Second,
		}
		if c.n(3) == 0 {
			cfg.Overflow, cfg.MaxSubmitters = deadline.DropOldest, 0
		}
		if c.n(3) == 0 {
			cfg.Predict = 0.5
		}
		if c.n(2) == 0 {
			cfg.Hooks = []deadline.Hooks{{
				Rejected:       func(context.Context, *spillway.Rejection) { c.anything() },
				WorkersChanged: func(int, int) {},
				Ran:            func(context.Context, time.Duration, time.Duration, error) { c.anything() },
			}}
		}
		c.e = newExecutor(t, cfg)
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				for range 15 {
					ended := make(chan struct{})
					go func() { // a hook may end it
						defer close(ended)
						defer func() { _ = recover() }()
						switch k := c.n(12); k {
						case 10:
							c.resize()
						case 11:
							_ = c.e.Stats()
						default:
							c.submit(k % 5)
						}
					}()
					<-ended
					if c.n(2) == 0 {
						time.Sleep(c.span() / 2)
					}
				}
			})
		}
		time.Sleep(time.Duration(c.n(40)) * time.Millisecond)
		if c.n(2) == 0 {
			all.Wait()
		}
		for range c.n(3) {
			go func() { _ = c.e.Close(context.Background()) }()
		}
		_ = c.e.Close(context.Background())
		synctest.Wait()
		all.Wait()
		c.closed.Store(true)
		time.Sleep(time.Minute)
		c.finish()
	})
}

func (c *chaos) finish() {
	st := c.e.Stats()
	require.Equal(c.t, st.Submitted, st.Outcomes())
	require.LessOrEqual(c.t, c.most.Load(), c.workers)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.EqualValues(c.t, len(c.jobs), st.Submitted)
	var lost, unanswered uint64
	for _, j := range c.jobs {
		require.LessOrEqual(c.t, j.ran, 1)
		if !j.answered {
			unanswered++
		}
		if !j.fire || !j.answered {
			continue
		}
		want := 0
		if j.accepted && !j.good {
			want = 1
		}
		require.Equal(c.t, want, j.told, "%+v", j)
		if !j.good {
			lost += uint64(j.items)
		}
	}
	if unanswered == 0 {
		require.Equal(c.t, lost, st.LostItems)
	}
}

// G-EXE-1, G-EXE-2, G-EXE-5, G-EXE-6, G-EXE-7, G-EXE-11: all features in any combination.
func TestExecutorChaosStress(t *testing.T) {
	for seed := range uint64(scaled(500)) {
		runChaos(t, seed)
		if t.Failed() {
			t.Fatal("seed ", seed)
		}
	}
}
