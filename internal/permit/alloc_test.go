package permit_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/internal/permit"
)

// requireNoAllocs runs f often and fails if it allocates. Where invariants are
// checked, as under the race detector, it only runs f.
func requireNoAllocs(t *testing.T, f func()) {
	t.Helper()
	allocs := testing.AllocsPerRun(1000, f)
	if !invariant.Enabled {
		require.Zero(t, allocs)
	}
}

// G-LIM-6.
func TestCoreAdmissionAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	c := newCore(permit.Options{Limit: 10, Sample: 4})
	for name, call := range map[string]func() error{
		"Enter": func() error {
			u, err := c.Enter(ctx, 3)
			c.Leave(u, spillway.OutcomeOK)
			return err
		},
		"Wait": func() error {
			u, err := c.Wait(ctx, 3, 10)
			c.Leave(u, spillway.OutcomeOK)
			return err
		},
		"Admit": func() error {
			p, err := c.Admit(ctx, 3)
			p.Release()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			requireNoAllocs(t, func() {
				if err := call(); err != nil {
					t.Error(err)
				}
			})
			requireWhole(t, c)
		})
	}
}

// G-LIM-6.
func TestCoreRefusalAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	c := newCore(permit.Options{Limit: 2, Hooks: []permit.Hooks{{
		Rejected: func(context.Context, *spillway.Rejection) {},
	}}})
	enter(t, c, 2)
	for name, call := range map[string]func() error{
		"Enter": func() error { _, err := c.Enter(ctx, 1); return err },
		"Wait":  func() error { _, err := c.Wait(ctx, 1, 0); return err },
		"Admit": func() error { _, err := c.Admit(ctx, 1); return err },
	} {
		t.Run(name, func(t *testing.T) {
			requireNoAllocs(t, func() {
				if call() == nil {
					t.Error("admitted")
				}
			})
		})
	}
}

// Who waits costs a channel and a list element the first time; they are kept.
func TestCoreWaitersAreUsedAgainAndAllocateNothing(t *testing.T) {
	ctx := context.Background()
	c := newCore(permit.Options{})
	turn := make(chan permit.Use)
	go func() {
		for u := range turn {
			c.Leave(u, spillway.OutcomeOK)
		}
	}()
	defer close(turn)
	requireNoAllocs(t, func() {
		u, err := c.Enter(ctx, 1)
		if err != nil {
			t.Error(err)
		}
		turn <- u
		if u, err = c.Wait(ctx, 1, 1); err != nil {
			t.Error(err)
		}
		c.Leave(u, spillway.OutcomeOK)
	})
	requireWhole(t, c)
}
