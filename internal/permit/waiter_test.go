//go:build go1.25

package permit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

var errGone = errors.New("the caller has gone")

// waiter is a call of Wait on a goroutine of its own, in a bubble.
type waiter struct {
	core     *permit.Core
	cancel   context.CancelCauseFunc
	answered chan struct{} // closed when Wait has returned
	use      permit.Use    // what it returned
	err      error
}

// wait calls Wait and returns when the call is in the queue, or has its answer.
func wait(c *permit.Core, n, maxWaiting int) *waiter {
	ctx, cancel := context.WithCancelCause(context.Background())
	return waitWith(ctx, cancel, c, n, maxWaiting)
}

// waitWith is wait under a context that cancel ends.
func waitWith(ctx context.Context, cancel context.CancelCauseFunc, c *permit.Core, n, maxWaiting int) *waiter {
	w := &waiter{core: c, cancel: cancel, answered: make(chan struct{})}
	go func() {
		w.use, w.err = c.Wait(ctx, n, maxWaiting)
		close(w.answered)
	}()
	synctest.Wait()
	return w
}

// done reports whether Wait has returned, once all that can run has run.
func (w *waiter) done() bool {
	synctest.Wait()
	return w.over()
}

// over reports whether Wait has returned.
func (w *waiter) over() bool {
	select {
	case <-w.answered:
		return true
	default:
		return false
	}
}

// requireWaiting fails if the call has been answered.
func (w *waiter) requireWaiting(t *testing.T) {
	t.Helper()
	require.False(t, w.done(), "answered")
}

// requireAdmitted fails unless the call has been admitted by now.
func (w *waiter) requireAdmitted(t *testing.T) {
	t.Helper()
	require.True(t, w.done(), "still waits")
	require.NoError(t, w.err)
}

// requireRefused fails unless the call has been refused for reason by now.
func (w *waiter) requireRefused(t *testing.T, reason spillway.Reason) spillway.Rejection {
	t.Helper()
	require.True(t, w.done(), "still waits")
	var r *spillway.Rejection
	require.ErrorAs(t, w.err, &r)
	require.Equal(t, reason, r.Reason)
	return *r
}

// leave gives back what the call was admitted with.
func (w *waiter) leave() { w.core.Leave(w.use, spillway.OutcomeOK) }

// abandon cancels the call and fails unless it returns the cause of that.
func (w *waiter) abandon(t *testing.T) {
	t.Helper()
	w.cancel(errGone)
	require.True(t, w.done(), "still waits")
	require.ErrorIs(t, w.err, errGone)
}
