package permit_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/hammer"
	"github.com/spillway-go/spillway/internal/permit"
)

// A hook that does all at once what it shouldn't: calls back in, then panics.
func rude(core **permit.Core, told map[string]int) permit.Hooks {
	back := func(name string) {
		told[name]++
		if told[name] > 1 {
			return // told by its own call
		}
		c := *core
		c.Stats()
		c.Holders()
		_ = c.SetLimit(c.Limit() + 1)
		_ = c.SetMode(spillway.Shadow)
		_ = c.SetMode(spillway.Enforce)
		if p, err := c.Admit(context.Background(), 1); err == nil {
			p.Release()
		}
		panic("a rude hook")
	}
	return permit.Hooks{
		Rejected:     func(context.Context, *spillway.Rejection) { back("rejected") },
		LimitChanged: func(_, _ int) { back("limit") },
		ModeChanged:  func(_, _ spillway.Mode) { back("mode") },
		HeldLong:     func(spillway.Holder) { back("held") },
	}
}

// B11, F11, P5.
func TestHooksMayCallBackInAndPanic(t *testing.T) {
	var c *permit.Core
	told, toldSecond := map[string]int{}, map[string]int{}
	c = newCore(permit.Options{
		Track: spillway.TrackSite, HoldWarn: 1,
		Hooks: []permit.Hooks{rude(&c, told), {}, rude(&c, toldSecond)},
	})
	u := enter(t, c, 1)
	_, err := c.Enter(t.Context(), 1)
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	require.NoError(t, c.SetLimit(1))
	require.NoError(t, c.SetMode(spillway.Off))
	require.NoError(t, c.SetMode(spillway.Enforce))
	c.Leave(u, spillway.OutcomeOK)
	for _, name := range []string{"rejected", "limit", "mode", "held"} {
		require.Positive(t, told[name], name)
		require.Positive(t, toldSecond[name], "%s: the panic of one hook keeps it from the next", name)
	}
	requireWhole(t, c)
}

// A12: a hook that never returns to its caller holds no permit.
func TestHooksMayEndTheirGoroutine(t *testing.T) {
	c := newCore(permit.Options{
		Track: spillway.TrackSite, HoldWarn: 1,
		Hooks: []permit.Hooks{{HeldLong: func(spillway.Holder) { runtime.Goexit() }}},
	})
	for _, end := range []func(permit.Use){
		func(u permit.Use) { c.Leave(u, spillway.OutcomeOK) },
		c.Abort,
		func(u permit.Use) { c.Own(u).Release() },
		func(u permit.Use) { c.Own(u).ReleaseAfter(time.Hour) },
	} {
		returned := false
		hammer.Together(1, func(int) {
			end(enter(t, c, 1))
			returned = true
		})
		require.False(t, returned, "the hook was told")
	}
	st := c.Stats()
	require.Equal(t, st.Ghosts, st.InUse)
	require.Equal(t, 1, st.Ghosts)
	require.Equal(t, uint64(4), st.Ended.Total()+st.Aborted)
}

// F11: who is told of a hold finds its permit free.
func TestHooksAreToldOfALongHoldWhenItsPermitIsBack(t *testing.T) {
	var c *permit.Core
	var inUse []int
	c = newCore(permit.Options{Limit: 5, Track: spillway.TrackSite, HoldWarn: 1, Hooks: []permit.Hooks{{
		HeldLong: func(spillway.Holder) { inUse = append(inUse, c.Stats().InUse) },
	}}})
	u := enter(t, c, 3)
	p, err := c.Admit(t.Context(), 2)
	require.NoError(t, err)
	p.Release()
	c.Abort(u)
	require.Equal(t, []int{3, 0}, inUse)
}

func TestHooksAreToldWhatChanged(t *testing.T) {
	type change struct{ from, to any }
	var changes []change
	c := newCore(permit.Options{Limit: 3, Hooks: []permit.Hooks{{
		LimitChanged: func(from, to int) { changes = append(changes, change{from, to}) },
		ModeChanged:  func(from, to spillway.Mode) { changes = append(changes, change{from, to}) },
	}}})
	require.NoError(t, c.SetLimit(5))
	require.NoError(t, c.SetLimit(5))
	require.Error(t, c.SetLimit(0))
	require.NoError(t, c.SetMode(spillway.Off))
	require.NoError(t, c.SetMode(spillway.Off))
	require.Error(t, c.SetMode(9))
	require.Equal(t, []change{{3, 5}, {spillway.Enforce, spillway.Off}}, changes)
}

func TestHooksAreToldOfARefusalWithTheCallersContextAndError(t *testing.T) {
	var classes []spillway.Class
	var told []*spillway.Rejection
	c := newCore(permit.Options{Hooks: []permit.Hooks{{
		Rejected: func(ctx context.Context, r *spillway.Rejection) {
			class, _ := spillway.ClassFrom(ctx)
			classes, told = append(classes, class), append(told, r)
		},
	}}})
	enter(t, c, 1)
	ctx := spillway.WithClass(t.Context(), spillway.Bulk)
	_, err := c.Enter(ctx, 1)
	require.Equal(t, []spillway.Class{spillway.Bulk}, classes)
	require.Same(t, err, told[0])
	_, err = c.Enter(ctx, 2) // no refusal, but a fault
	require.IsType(t, &spillway.WeightError{}, err)
	require.Len(t, told, 1)
}

func TestHooksAreToldOfARefusalWithItsWait(t *testing.T) {
	var told []*spillway.Rejection
	c := newCore(permit.Options{MaxWait: time.Microsecond, Hooks: []permit.Hooks{{
		Rejected: func(_ context.Context, r *spillway.Rejection) { told = append(told, r) },
	}}})
	enter(t, c, 1)
	_, err := c.Wait(t.Context(), 1, 1)
	require.Same(t, err, told[0])
	require.Equal(t, spillway.ReasonMaxWait, told[0].Reason)
	require.GreaterOrEqual(t, told[0].Wait, time.Microsecond)
}
