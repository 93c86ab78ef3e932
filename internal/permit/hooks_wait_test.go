//go:build go1.25

package permit_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// Who waits is told once, with what came of it; who is admitted or refused at once isn't.
func TestHooksAreToldOfAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type told struct {
			class spillway.Class
			wait  time.Duration
			err   error
		}
		var waits []told
		c := newCore(permit.Options{MaxWait: 5 * time.Second, Hooks: []permit.Hooks{{}, {
			Waited: func(ctx context.Context, wait time.Duration, err error) {
				class, _ := spillway.ClassFrom(ctx)
				waits = append(waits, told{class, wait, err})
			},
		}}})
		ctx := spillway.WithClass(t.Context(), spillway.Bulk)
		u, err := c.Wait(ctx, 1, 1)
		require.NoError(t, err)
		_, err = c.Wait(ctx, 1, 0)
		require.Error(t, err)
		require.Empty(t, waits)

		_, late := c.Wait(ctx, 1, 1)
		cause := errors.New("enough")
		ended, end := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { end(cause) })
		_, left := c.Wait(ended, 1, 1)
		require.ErrorIs(t, left, cause)
		require.EqualError(t, left, `core "test": waited 1s for a permit: enough`)
		time.AfterFunc(2*time.Second, func() { c.Leave(u, spillway.OutcomeOK) })
		u, err = c.Wait(ctx, 1, 1)
		require.NoError(t, err)
		c.Leave(u, spillway.OutcomeOK)
		require.Equal(t, []told{
			{spillway.Bulk, 5 * time.Second, late}, {spillway.Bulk, time.Second, left}, {spillway.Bulk, 2 * time.Second, nil},
		}, waits)
		requireWhole(t, c)
	})
}

// A12: the permit of who has waited comes back although the hook ends its goroutine, or
// panics.
func TestAHookOfAWaitMayDoAnything(t *testing.T) {
	for name, last := range map[string]func(){"goexit": runtime.Goexit, "panic": func() { panic("a rude hook") }} {
		synctest.Test(t, func(t *testing.T) {
			c := newCore(permit.Options{MaxWait: time.Minute, Hooks: []permit.Hooks{{
				Waited: func(context.Context, time.Duration, error) { last() },
			}}})
			u := enter(t, c, 1)
			returned := false
			var waiter sync.WaitGroup
			waiter.Go(func() {
				u, err := c.Wait(t.Context(), 1, 1)
				returned = err == nil
				c.Leave(u, spillway.OutcomeOK)
			})
			synctest.Wait()
			c.Leave(u, spillway.OutcomeOK)
			waiter.Wait()
			require.Equal(t, name == "panic", returned, name)
			requireWhole(t, c)
		})
	}
}

// A12: hooks are told when nothing is held any more, so that one which ends its goroutine
// takes nothing with it, and what it was told of has happened.
func TestHooksThatExitTakeNothingWithThem(t *testing.T) {
	told := map[string]int{}
	exit := func(name string) {
		told[name]++
		runtime.Goexit()
	}
	c := newCore(permit.Options{Track: spillway.TrackSite, HoldWarn: 1, Hooks: []permit.Hooks{{
		Rejected:     func(context.Context, *spillway.Rejection) { exit("rejected") },
		LimitChanged: func(_, _ int) { exit("limit") },
		ModeChanged:  func(_, _ spillway.Mode) { exit("mode") },
		HeldLong:     func(spillway.Holder) { exit("held") },
	}}})
	op := func(context.Context) (int, error) { spin(10); return 0, nil }
	u := enter(t, c, 1)
	for _, call := range []func(){
		func() { _, _ = permit.Do(t.Context(), c, 1, op) },
		func() { _ = c.SetMode(spillway.Shadow) },
		func() { _, _ = permit.Do(t.Context(), c, 1, op) },
		func() { c.Abort(enter(t, c, 1)) },
		func() { _ = c.SetMode(spillway.Enforce) },
		func() { _ = c.SetLimit(3) },
		func() { c.Leave(u, spillway.OutcomeOK) },
	} {
		var all sync.WaitGroup
		all.Go(call)
		all.Wait()
	}
	require.Equal(t, map[string]int{"rejected": 1, "limit": 1, "mode": 2, "held": 3}, told)
	st := c.Stats()
	require.Equal(t, 3, st.Limit)
	require.Equal(t, spillway.Enforce, st.Mode)
	require.Zero(t, st.InUse)
	require.Equal(t, st.Admitted, st.Ended.Total()+st.Aborted)
}
