package adaptive

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

// G-ADA-13, X19: a controller whose numbers can't be right goes back to the static limit,
// says so, measures nothing, and stays there until somebody decides otherwise.
func TestControllerFallsBackToTheStaticLimit(t *testing.T) {
	for name, poison := range map[string]func(*state){
		"no number":  func(s *state) { s.latency = math.NaN() },
		"endless":    func(s *state) { s.healthy = math.Inf(1) },
		"negative":   func(s *state) { s.peak = -5; s.healthy = -1 },
		"no learned": func(s *state) { s.refs[0].value = math.NaN() },
	} {
		l, err := limiter.New[int](limiter.Config{Name: "db", Limit: 10})
		require.NoError(t, err)
		cfg := DefaultConfig(50)
		cfg.Trusted = true
		var told []Change
		cfg.Hooks = []Hooks{{Changed: func(c Change) { told = append(told, c) }}}
		c, err := Drive(l, cfg)
		require.NoError(t, err)
		window := func(at time.Duration) {
			for i := range 60 {
				now := at + time.Duration(i)*time.Millisecond
				c.meter.End(spillway.Sample{At: now, Took: time.Millisecond, InUse: l.Limit(), Weight: 1})
			}
		}
		window(time.Second)
		require.Equal(t, 6, l.Limit())
		poison(&c.state)
		window(2 * time.Second)
		require.Equal(t, 10, l.Limit(), name)
		st := c.Stats()
		require.True(t, st.Broken)
		require.Equal(t, uint64(1), st.Changes.Of(Fallback))
		last := told[len(told)-1]
		require.Equal(t, []any{Fallback, 10.0}, []any{last.Cause, last.To})
		windows := st.Windows
		window(3 * time.Second)
		require.Equal(t, windows, c.Stats().Windows)

		require.NoError(t, c.SetMode(spillway.Enforce))
		require.False(t, c.Stats().Broken)
		require.Equal(t, 4, l.Limit())
		window(4 * time.Second)
		require.Equal(t, 6, l.Limit(), name)
	}
}
