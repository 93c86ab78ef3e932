//go:build go1.25

package debugz_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/retry"
)

// dialError panics whenever it is asked anything, if it is nil: what a driver returns that has
// forgotten that a nil pointer in an error is none.
type dialError struct{ inner error }

func (e *dialError) Error() string { return "dial: " + e.inner.Error() }
func (e *dialError) Unwrap() error { return e.inner }

// G-DBZ-11: an error that panics when it is asked what it says takes nothing from the page, at no
// look, in no form: its component is shown as it is, with the error's type.
func TestPageSurvivesErrorsThatPanic(t *testing.T) {
	for _, texts := range []bool{false, true} {
		t.Run(fmt.Sprintf("texts=%v", texts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				broken := (*dialError)(nil)
				log := debugz.NewLog(10)
				log.Transitions("db")(lifecycle.Transition{From: lifecycle.Connecting, To: lifecycle.Disconnected, Reason: "dial failed", Err: broken})
				log.Retry().OnRetry(t.Context(), retry.Event{Name: "reads", Err: broken})

				page := newPage(t, func(c *debugz.Config) { c.ErrorTexts, c.Log, c.Interval = texts, log, 1 },
					snapshots(observe.Snapshot{Component: "lifecycle", Name: "db", Lifecycle: &lifecycle.Stats{Failed: 1, LastError: broken}}),
					snapshots(observe.Snapshot{Component: "lane", Name: "well", Laned: laneOf(1, 0, 1, ms)}))
				for range 2 {
					for _, form := range []string{"html", "text", "json", "metrics", "openmetrics"} {
						require.NotEmpty(t, get(t, page, form))
					}
					time.Sleep(time.Second)
				}
				s := look(t, page)
				require.Equal(t, "idle", s.of(t, "lane", "well").Verdict)
				require.Equal(t, "disconnected", s.of(t, "lifecycle", "db").Verdict)
				require.Equal(t, "unknown (*debugz_test.dialError)", s.of(t, "lifecycle", "db").Figures["last_error"])
				require.Equal(t, "connecting → disconnected (dial failed)", s.Events[0].What, "it isn't lost")
				require.Equal(t, "unknown (*debugz_test.dialError)", s.Events[0].Error)
				require.Equal(t, "retried after unknown", s.Refusals[0].What)
			})
		})
	}
}
