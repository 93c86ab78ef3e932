//go:build go1.25

package deadline_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// Row 14, B-07: every fault is named, with its field and value, at once.
func TestConfigFaultsAreAllNamedAtOnce(t *testing.T) {
	_, err := deadline.New[int](deadline.Config{
		Name: " ", Workers: 0, Queue: -1, Overflow: 7, MaxSubmitters: -2, TTL: -1, Predict: 1.5,
		Mode: 9, Drain: deadline.MaxTTL + 1, RetryAfter: -time.Second,
	})
	var cfg *spillway.ConfigError
	require.ErrorAs(t, err, &cfg)
	require.Equal(t, "executor", cfg.Component)
	var fields []string
	for _, f := range cfg.Faults {
		fields = append(fields, f.Field)
	}
	require.Equal(t, []string{"Name", "Workers", "Queue", "Overflow", "MaxSubmitters", "TTL", "Predict", "Mode", "Drain", "RetryAfter"}, fields)
}

func TestConfigLimitsAreInclusive(t *testing.T) {
	good := deadline.Config{Name: "x", Workers: 1}
	for name, change := range map[string]func(c *deadline.Config) (good bool){
		"workers":          func(c *deadline.Config) bool { c.Workers = deadline.MaxWorkers; return true },
		"too many workers": func(c *deadline.Config) bool { c.Workers = deadline.MaxWorkers + 1; return false },
		"negative workers": func(c *deadline.Config) bool { c.Workers = -1; return false },
		"queue":            func(c *deadline.Config) bool { c.Queue = deadline.MaxQueue; return true },
		"too long a queue": func(c *deadline.Config) bool { c.Queue = deadline.MaxQueue + 1; return false },
		"huge queue":       func(c *deadline.Config) bool { c.Queue = math.MaxInt; return false },
		"submitters":       func(c *deadline.Config) bool { c.MaxSubmitters = deadline.MaxSubmitters; return true },
		"many submitters":  func(c *deadline.Config) bool { c.MaxSubmitters = math.MaxInt; return false },
		"ttl":              func(c *deadline.Config) bool { c.TTL = deadline.MaxTTL; return true },
		"too long":         func(c *deadline.Config) bool { c.TTL = math.MaxInt64; return false },
		"predict":          func(c *deadline.Config) bool { c.Predict = 1; return true },
		"predict less":     func(c *deadline.Config) bool { c.Predict = -0.1; return false },
		"predict NaN":      func(c *deadline.Config) bool { c.Predict = math.NaN(); return false },
		"drop oldest":      func(c *deadline.Config) bool { c.Overflow, c.Queue = deadline.DropOldest, 1; return true },
		"drop what":        func(c *deadline.Config) bool { c.Overflow = deadline.DropOldest; return false },
		"drop and park": func(c *deadline.Config) bool {
			c.Overflow, c.Queue, c.MaxSubmitters = deadline.DropOldest, 1, 1
			return false
		},
		"nothing but a name": func(*deadline.Config) bool { return true },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			want := change(&cfg)
			e, err := deadline.New[int](cfg)
			require.Equal(t, want, err == nil, "%v", err)
			if want {
				require.NoError(t, e.Close(t.Context()))
			}
		})
	}
}
