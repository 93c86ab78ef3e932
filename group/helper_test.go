package group_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/group"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
)

var errMember = errors.New("member failed")

func newLimiter(t testing.TB, limit int) *limiter.Limiter[int] {
	t.Helper()
	l, err := limiter.New[int](limiter.Config{Name: "test", Limit: limit})
	require.NoError(t, err)
	return l
}

// newLane returns a lane in which a producer may wait for a minute.
func newLane(t testing.TB, limit int) *lane.Lane[int] {
	t.Helper()
	l, err := lane.New[int](lane.Config{Name: "test", Limit: limit, MaxWaiting: 64, MaxWait: time.Minute})
	require.NoError(t, err)
	return l
}

func newGroup(t testing.TB, a group.Admission, cfg group.Config) *group.Group[int] {
	t.Helper()
	g, err := group.New[int](t.Context(), a, cfg)
	require.NoError(t, err)
	return g
}

func answer(v int) spillway.Op[int] {
	return func(context.Context) (int, error) { return v, nil }
}

func fail(err error) spillway.Op[int] {
	return func(context.Context) (int, error) { return 0, err }
}

// untilDone waits for its context, and returns what that says.
func untilDone(ctx context.Context) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func goexit() { runtime.Goexit() }

// requireConserved checks the sum that must hold at any time.
func requireConserved(t testing.TB, s group.Stats) {
	t.Helper()
	require.Equal(t, s.Submitted,
		uint64(s.Admitting)+uint64(s.Running)+s.Refused+s.Ended.Total()+s.Aborted, "%+v", s)
}

// admissionFunc is an admission of one's own.
type admissionFunc func(context.Context) (spillway.Permit, error)

func (f admissionFunc) Admit(ctx context.Context) (spillway.Permit, error) { return f(ctx) }

// raise makes peak at least n.
func raise(peak *atomic.Int32, n int32) {
	for {
		old := peak.Load()
		if old >= n || peak.CompareAndSwap(old, n) {
			return
		}
	}
}

// count yields 0 to n-1.
func count(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}
