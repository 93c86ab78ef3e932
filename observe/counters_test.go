//go:build go1.25

package observe_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

func TestCountersNeverGoBackConcurrentSafe(t *testing.T) {
	set, err := lane.NewSet[int](lane.SetConfig{
		Name: "s", Default: "a", Lanes: []lane.Config{{Name: "a", Limit: 1, MaxWaiting: 2, MaxWait: time.Millisecond}},
	})
	require.NoError(t, err)
	policy := retry.Policy{Name: "r", MaxAttempts: 3, Base: time.Microsecond, Cap: time.Microsecond, MaxElapsed: time.Second}
	r, err := retry.New[int](policy)
	require.NoError(t, err)
	e, err := deadline.New[int](deadline.Config{Name: "e", Workers: 1, Queue: 1, TTL: time.Minute})
	require.NoError(t, err)
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			op := func(context.Context) (int, error) { return 0, errorsOf[i] }
			for range 300 {
				_, _ = r.Do(t.Context(), func(ctx context.Context) (int, error) { return set.Do(ctx, op) })
				_, _ = e.Do(t.Context(), op)
			}
		})
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	all := observe.Join(observe.Set(set), observe.Retrier(r), observe.Executor(e))
	before := map[string]float64{}
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		for s := range observe.All(all) {
			for p := range s.Points() {
				if p.Metric.Kind != observe.Counter {
					continue
				}
				id := p.Metric.Name + fmt.Sprint(p.Attributes)
				require.GreaterOrEqual(t, p.Value, before[id], id)
				before[id] = p.Value
			}
		}
	}
	require.NoError(t, e.Close(t.Context()))
	require.Equal(t, 1200.0, points(all, "spillway.executor.submissions")["e"])
}

// errorsOf has an end of each kind for one of the workers.
var errorsOf = []error{nil, errors.New("no"), context.DeadlineExceeded, retry.Permanent(errors.New("never"))}
