//go:build go1.25

package deadline_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/internal/invariant"
)

// requireAllocs runs f often and fails if it allocates more than most on average.
// Where invariants are checked, as under the race detector, it only runs f.
func requireAllocs(t *testing.T, most float64, f func()) {
	t.Helper()
	allocs := testing.AllocsPerRun(500, f)
	if !invariant.Enabled {
		require.LessOrEqual(t, allocs, most)
	}
}

func TestExecutorGoAllocatesNothingInTheLongRun(t *testing.T) {
	e := newExecutor(t, deadline.Config{Workers: 2, Queue: 128, Drain: time.Minute})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	op := answer(1)
	requireAllocs(t, 8, func() { // in a hundred: the workers' contexts after each rest, and what the collector took from the pool
		for range 100 {
			if err := e.Go(ctx, op); err != nil {
				t.Error(err)
			}
		}
		if _, err := e.Do(ctx, op); err != nil {
			t.Error(err)
		}
	})
}

func TestExecutorDoAllocatesAContextAtMost(t *testing.T) {
	e := newExecutor(t, deadline.Config{Workers: 2, Queue: 128, Drain: time.Minute})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	op := answer(1)
	for name, ctx := range map[string]context.Context{"own": ctx, "shortened": context.Background()} {
		t.Run(name, func(t *testing.T) {
			requireAllocs(t, 1, func() {
				if _, err := e.Do(ctx, op); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestExecutorRefusalAllocatesNothing(t *testing.T) {
	e := newExecutor(t, deadline.Config{Drain: time.Minute})
	release := occupy(t, e, 1)
	defer release()
	expired, cancel := context.WithTimeout(context.Background(), -1)
	defer cancel()
	op := answer(1)
	requireAllocs(t, 0, func() {
		for _, err := range []error{e.Go(context.Background(), op), e.Go(expired, op)} {
			if err == nil {
				t.Error("accepted")
			}
		}
	})
	require.NoError(t, e.SetMode(spillway.RefuseAll))
	requireAllocs(t, 0, func() { _ = e.Go(context.Background(), op) })
}

func TestExecutorFutureAllocatesItselfAndAChannel(t *testing.T) {
	e := newExecutor(t, deadline.Config{Workers: 2, Queue: 128, Drain: time.Minute})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	op := answer(1)
	requireAllocs(t, 3, func() { // and the worker's context
		f, err := e.Submit(ctx, op)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = f.Wait(ctx)
	})
}

func TestGateAllocatesNothing(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	pass, refuse := deadline.Gate[int](time.Second)(answer(1)), deadline.Gate[int](time.Hour)(answer(1))
	requireAllocs(t, 0, func() {
		_, _ = pass(ctx)
		_, _ = refuse(ctx)
	})
}
