//go:build go1.25

package permit_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// trap is a context of the caller's own that does something else instead when a
// method of it is called for the nth time.
type trap struct {
	context.Context
	method string
	nth    int
	spring func()
	calls  int
}

func (tr *trap) call(method string) {
	if method != tr.method {
		return
	}
	if tr.calls++; tr.calls == tr.nth {
		tr.spring()
	}
}

func (tr *trap) Done() <-chan struct{}       { tr.call("Done"); return tr.Context.Done() }
func (tr *trap) Err() error                  { tr.call("Err"); return tr.Context.Err() }
func (tr *trap) Value(key any) any           { tr.call("Value"); return tr.Context.Value(key) }
func (tr *trap) Deadline() (time.Time, bool) { tr.call("Deadline"); return tr.Context.Deadline() }

// A12: a context is its caller's code, which may panic or exit at any of its calls:
// that goes through to the caller, and no permit and no place in the queue is lost.
func TestCoreContextsThatPanicOrExitTakeNothingWithThem(t *testing.T) {
	uses := map[string]func(ctx context.Context, c *permit.Core){
		"enter": func(ctx context.Context, c *permit.Core) {
			if u, err := c.Enter(ctx, 1); err == nil {
				c.Leave(u, spillway.OutcomeOK)
			}
		},
		"wait": func(ctx context.Context, c *permit.Core) {
			if u, err := c.Wait(ctx, 1, 1); err == nil {
				c.Leave(u, spillway.OutcomeOK)
			}
		},
		"lend": func(ctx context.Context, c *permit.Core) {
			if u, ok := c.Lend(ctx, 1, 1); ok {
				c.Leave(u, spillway.OutcomeOK)
			}
		},
		"do": func(ctx context.Context, c *permit.Core) {
			_, _ = permit.Do(ctx, c, 1, func(ctx context.Context) (int, error) { return 0, ctx.Err() })
		},
	}
	springs := map[string]func(){"panic": func() { panic("a context's own") }, "exit": runtime.Goexit}
	sprung := map[string]int{}
	for name, use := range uses {
		for how, spring := range springs {
			for _, method := range []string{"Done", "Err", "Value", "Deadline"} {
				for nth := 1; nth <= 6; nth++ {
					for _, end := range []string{"free", "granted", "gone"} {
						fell := fall(t, use, end, method, nth, spring)
						if fell {
							sprung[name+" "+how+" "+method]++
						}
					}
				}
			}
		}
	}
	require.Positive(t, sprung["wait panic Done"], "%v", sprung)
	require.Positive(t, sprung["wait exit Err"], "%v", sprung)
	require.Positive(t, sprung["wait exit Deadline"], "%v", sprung)
	for name := range uses {
		require.Positive(t, sprung[name+" panic Value"], "%v", sprung)
	}
}

// fall makes a call whose context springs, and reports whether it did.
func fall(t *testing.T, use func(context.Context, *permit.Core), end, method string, nth int, spring func()) (fell bool) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{
			Limit: 2, Room: 1, MaxWait: time.Hour, Predict: true, Estimate: true, Nested: true, Track: spillway.TrackSite,
		})
		var u permit.Use
		if end != "free" {
			u = enter(t, c, 2)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		tr := &trap{Context: ctx, method: method, nth: nth, spring: func() { fell = true; spring() }}
		over := make(chan struct{})
		go func() {
			defer close(over)
			defer func() { _ = recover() }()
			use(tr, c)
		}()
		synctest.Wait()
		if end == "gone" {
			cancel()
			synctest.Wait()
		}
		c.Leave(u, spillway.OutcomeOK)
		<-over
		st := c.Stats()
		require.Zero(t, st.InUse+st.Waiting, fmt.Sprint(end, method, nth))
		requireWhole(t, c)
	})
	return fell
}

// longPast is a context that isn't done, though its deadline is as far back as can be.
type longPast struct{ context.Context }

func (longPast) Deadline() (time.Time, bool) { return time.Time{}, true }

// C11, D21: times that are far away are far away, not near.
func TestCorePredictsNothingGoodForADeadlineLongPast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Hour, Predict: true})
		u := enter(t, c, 1)
		first := wait(c, 1, 9)
		for range 50 { // until it believes itself
			w := wait(c, 1, 9)
			time.Sleep(time.Millisecond)
			c.Leave(u, spillway.OutcomeOK)
			first.requireAdmitted(t)
			u, first = first.use, w
		}
		over := make(chan error, 1)
		go func() {
			_, err := c.Wait(longPast{context.Background()}, 1, 9)
			over <- err
		}()
		synctest.Wait()
		require.Len(t, over, 1, "answered at once")
		var r *spillway.Rejection
		require.ErrorAs(t, <-over, &r)
		require.Equal(t, spillway.ReasonPredicted, r.Reason)
		c.Leave(u, spillway.OutcomeOK)
		first.requireAdmitted(t)
		first.leave()
		requireWhole(t, c)
	})
}
