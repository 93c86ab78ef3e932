package retry_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/invariant"
	"github.com/spillway-go/spillway/retry"
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

// R86: a call that needs no retry allocates nothing, whatever is configured, and what the
// operation closes over stays on the stack; nor does an answer that isn't worth
// repeating. G-RET-14.
func TestRetrierAllocatesNothingWithoutRetries(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	full := retry.ReadPolicy()
	full.Budget = newBudget(t, retry.DefaultBudgetConfig())
	full.MaxElapsed = time.Minute
	full.Hooks = []retry.Hooks{{OnRetry: func(context.Context, retry.Event) {}}}
	notFound := &classError{spillway.OutcomePermanent}
	for name, p := range map[string]retry.Policy{"default": retry.DefaultPolicy(), "write": retry.WritePolicy(), "all": full} {
		r := newRetrier(t, p)
		var want error
		v := 3
		for call, do := range map[string]func() (int, error){
			"Do": func() (int, error) { return r.Do(ctx, func(context.Context) (int, error) { return v, want }) },
			"DoReport": func() (int, error) {
				got, _, err := r.DoReport(ctx, func(context.Context) (int, error) { return v, want })
				return got, err
			},
		} {
			for _, err := range []error{nil, notFound} {
				t.Run(name+"/"+call, func(t *testing.T) {
					want = err
					requireNoAllocs(t, func() {
						if got, err := do(); got != v || err != want { //nolint:errorlint // the very same
							t.Error(got, err)
						}
					})
				})
			}
		}
		requireConserved(t, r.Stats())
	}
}

// Neither granting nor denying costs memory.
func TestBudgetAllocatesNothing(t *testing.T) {
	b := newBudget(t, retry.DefaultBudgetConfig())
	requireNoAllocs(t, func() {
		b.Withdraw()
		b.Deposit()
		b.Refund()
		b.Stats()
	})
}
