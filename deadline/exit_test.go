//go:build go1.25

package deadline_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// G-EXE-2, G-EXE-6: a sink or a hook that took long and then ended the worker's goroutine has
// taken time from the jobs behind, too.
func TestExecutorStartsNothingLateBehindASinkThatExits(t *testing.T) {
	exit := func() { time.Sleep(time.Second); runtime.Goexit() }
	for name, cfg := range map[string]deadline.Config{
		"sink": {Sink: func(context.Context, deadline.Failure) { exit() }},
		"hook": {Hooks: []deadline.Hooks{{Ran: func(context.Context, time.Duration, time.Duration, error) { exit() }}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg.Queue, cfg.Drain = 8, time.Hour
				e := newExecutor(t, cfg)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				end := time.Now().Add(time.Second)
				require.NoError(t, e.Go(t.Context(), func(context.Context) (int, error) { return 0, errOp }))
				f := must(t)(e.Submit(ctx, func(context.Context) (int, error) {
					if !time.Now().Before(end) {
						t.Error("started late")
					}
					return 1, nil
				}))
				_, err := result(f)
				require.ErrorIs(t, err, spillway.ErrBackpressure)
			})
		})
	}
}

// Stats.Late: a job that was running in a rush when Close cut the work off is late like any
// other, though nobody is left to say that the last reading of the clock is old.
func TestExecutorBriskJobThatIsCutOffIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExecutor(t, deadline.Config{Queue: 512})
		release := occupy(t, e, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for range 100 {
			require.NoError(t, e.Go(ctx, answer(1)))
		}
		require.NoError(t, e.Go(ctx, stubborn(time.Hour)))
		for range 100 {
			require.NoError(t, e.Go(ctx, answer(1)))
		}
		release()
		synctest.Wait()
		require.Error(t, e.Close(context.Background()))
		require.Equal(t, uint64(1), e.Stats().Late)
	})
}
