//go:build go1.25

package lifecycle_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

// A Close that comes while somebody repeats Connect ends that: the machine isn't dialled
// again by who doesn't know of the Close.
func TestMachineCloseEndsARepeatedConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &backend{}
		m := newMachine(t, b)
		r, err := retry.New[struct{}](retry.ReadPolicy())
		require.NoError(t, err)
		result := make(chan error, 1)
		go func() {
			_, err := r.Do(t.Context(), func(ctx context.Context) (struct{}, error) {
				return struct{}{}, m.Connect(ctx, func(ctx context.Context) (*conn, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})
			})
			result <- err
		}()
		synctest.Wait()
		require.NoError(t, m.Close(t.Context()))
		synctest.Wait()
		require.Len(t, result, 1, "nobody dials any more")
		require.ErrorIs(t, <-result, lifecycle.ErrConnectAborted)
		require.Equal(t, lifecycle.Disconnected, m.State())
	})
}

// What none of these is worth is a retry: docs/errors.md.
func TestSentinelsAreNotWorthARetry(t *testing.T) {
	for err, want := range map[error]spillway.Outcome{
		lifecycle.ErrNotConnected:     spillway.OutcomeLocal,
		lifecycle.ErrConnecting:       spillway.OutcomeLocal,
		lifecycle.ErrAlreadyConnected: spillway.OutcomeLocal,
		lifecycle.ErrClosing:          spillway.OutcomeLocal,
		lifecycle.ErrConnectAborted:   spillway.OutcomeLocal,
		lifecycle.ErrOrphaned:         spillway.OutcomeLocal,
		lifecycle.ErrStillClosing:     spillway.OutcomeLocal,
		lifecycle.ErrRemoved:          spillway.OutcomeLocal,
		lifecycle.ErrNoConnection:     spillway.OutcomePermanent,
	} {
		require.Equal(t, want, spillway.OutcomeOf(err), err)
		require.Equal(t, retry.Stop, retry.Classify(err), err)
	}
}
