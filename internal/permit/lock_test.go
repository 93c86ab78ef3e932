package permit_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// G-LAN-8, and the same of a limiter, refusals included: while somebody else has the lock,
// and doesn't let go of it, calls that find room or may not wait are through.
func TestCoreTakesNoLockWhereNobodyWaits(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, room := range []int{0, 3} {
		c := newCore(permit.Options{Limit: 2, Sample: 1, Room: room, MaxWait: time.Second})
		through := make(chan struct{})
		op := func(context.Context) (int, error) { return 0, nil }
		c.Alone(func() {
			go func() {
				defer close(through)
				for range 100 {
					_, _ = permit.Do(ctx, c, 1, op)
					u, _ := c.Enter(ctx, 1)
					p, _ := c.Admit(ctx, 1)
					if room == 0 {
						_, _ = permit.Do(ctx, c, 1, op) // is refused
					} else {
						_, _ = c.Wait(ctx, 1, 0)
					}
					p.Release()
					c.Leave(u, spillway.OutcomeOK)
				}
			}()
			select {
			case <-through:
			case <-ctx.Done():
				t.Error("it waits for the lock")
			}
		})
		<-through
		require.EqualValues(t, 300, c.Stats().Admitted)
		require.EqualValues(t, 100, c.Stats().Refused.Of(spillway.ReasonLimit))
		requireWhole(t, c)
	}
}
