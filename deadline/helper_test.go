//go:build go1.25

package deadline_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/internal/invariant"
)

var errOp = errors.New("the operation failed")

// newExecutor returns an executor named "test", with one worker and a TTL of an hour
// if cfg says nothing else. At the end of the test it is closed, every goroutine has
// to be gone, and every job accounted for.
func newExecutor(t testing.TB, cfg deadline.Config) *deadline.Executor[int] {
	t.Helper()
	cfg.Name = "test"
	cfg.Workers = max(cfg.Workers, 1)
	if cfg.TTL == 0 {
		cfg.TTL = time.Hour
	}
	e, err := deadline.New[int](cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = e.Close(context.Background())
		requireConserved(t, e)
		st := e.Stats()
		require.Zero(t, st.Parked+st.Depth+st.Busy, "left after Close")
	})
	return e
}

// requireConserved fails unless every job is accounted for. G-EXE-7.
func requireConserved(t testing.TB, e *deadline.Executor[int]) {
	t.Helper()
	st := e.Stats()
	require.Equal(t, st.Submitted, uint64(st.Parked+st.Depth+st.Busy)+st.Outcomes(), "%+v", st)
}

// answer is an operation that returns v.
func answer(v int) spillway.Op[int] {
	return func(context.Context) (int, error) { return v, nil }
}

// lasting is an operation that takes d, or until its context ends.
func lasting(d time.Duration) spillway.Op[int] {
	return func(ctx context.Context) (int, error) {
		select {
		case <-time.After(d):
			return 1, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// stubborn is an operation that takes d, whatever its context says.
func stubborn(d time.Duration) spillway.Op[int] {
	return func(context.Context) (int, error) {
		time.Sleep(d)
		return 1, nil
	}
}

// waiting is an operation that returns when release is closed.
func waiting(release <-chan struct{}) spillway.Op[int] {
	return func(context.Context) (int, error) {
		<-release
		return 1, nil
	}
}

// occupy keeps n workers busy until the returned function is called.
func occupy(t testing.TB, e *deadline.Executor[int], n int) (release func()) {
	t.Helper()
	gate, started := make(chan struct{}), make(chan struct{}, n)
	for range n {
		require.NoError(t, e.Go(context.Background(), func(context.Context) (int, error) {
			started <- struct{}{}
			<-gate
			return 0, nil
		}))
	}
	for range n {
		<-started
	}
	return sync.OnceFunc(func() { close(gate) })
}

// must returns a function that gives the future of a job that has to be admitted.
func must(t testing.TB) func(*deadline.Future[int], error) *deadline.Future[int] {
	t.Helper()
	return func(f *deadline.Future[int], err error) *deadline.Future[int] {
		t.Helper()
		require.NoError(t, err)
		return f
	}
}

// result waits for a future without an end.
func result(f *deadline.Future[int]) (int, error) { return f.Wait(context.Background()) }

// scaled is n, or a tenth of it where each step is checked and the race detector looks on.
func scaled(n int) int {
	if invariant.Enabled {
		return n / 10
	}
	return n
}

// requireReason fails unless err is a refusal for the reason.
func requireReason(t testing.TB, want spillway.Reason, err error) {
	t.Helper()
	_ = rejectionOf(t, want, err)
}

// rejectionOf gives the refusal, which has to be for the reason.
func rejectionOf(t testing.TB, want spillway.Reason, err error) *spillway.Rejection {
	t.Helper()
	var r *spillway.Rejection
	require.ErrorAs(t, err, &r)
	require.Equal(t, want, r.Reason, "%v", err)
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.Equal(t, spillway.OutcomeLocal, spillway.OutcomeOf(err))
	return r
}

// failures is a sink that keeps what it is told.
type failures struct {
	mu   sync.Mutex
	list []deadline.Failure
}

func (s *failures) sink(_ context.Context, f deadline.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, f)
}

func (s *failures) all() []deadline.Failure {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]deadline.Failure(nil), s.list...)
}
