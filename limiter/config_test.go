package limiter_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
)

// L-22, R14: the zero Config and its like are errors, not "for ever".
func TestLimiterConfigNamesEveryFaultAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		cfg    limiter.Config
		faults map[string]any
	}{
		"zero":         {limiter.Config{}, map[string]any{"Name": "", "Limit": 0}},
		"blank name":   {limiter.Config{Name: " \t", Limit: 1}, map[string]any{"Name": " \t"}},
		"minus one":    {limiter.Config{Name: "a", Limit: -1}, map[string]any{"Limit": -1}},
		"huge":         {limiter.Config{Name: "a", Limit: math.MaxInt}, map[string]any{"Limit": math.MaxInt}},
		"one too many": {limiter.Config{Name: "a", Limit: limiter.MaxLimit + 1}, map[string]any{"Limit": limiter.MaxLimit + 1}},
		"untracked":    {limiter.Config{Name: "a", Limit: 1, HoldWarn: 1}, map[string]any{"HoldWarn": time.Duration(1)}},
		"all": {
			limiter.Config{Limit: -5, Mode: 4, RetryAfter: -1, Track: 3, HoldWarn: -2},
			map[string]any{
				"Name": "", "Limit": -5, "Mode": spillway.Mode(4), "Track": spillway.Track(3),
				"RetryAfter": time.Duration(-1), "HoldWarn": time.Duration(-2),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := limiter.New[int](c.cfg)
			require.Nil(t, l)
			var config *spillway.ConfigError
			require.ErrorAs(t, err, &config)
			require.Equal(t, "limiter", config.Component)
			faults := map[string]any{}
			for _, f := range config.Faults {
				faults[f.Field] = f.Value
				require.Contains(t, err.Error(), f.Field+" is ")
				require.NotEmpty(t, f.Problem)
			}
			require.Equal(t, c.faults, faults)
		})
	}
}

// A18.
func TestLimiterConfigAllowsTheHighestLimit(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: limiter.MaxLimit})
	v, err := l.DoN(t.Context(), limiter.MaxLimit, answer(1))
	require.NoError(t, err)
	require.Equal(t, 1, v)
	require.Equal(t, limiter.MaxLimit, l.Stats().Limit)
}

// A Config is a value: what its owner does to it later is his affair.
func TestLimiterConfigIsCopied(t *testing.T) {
	told := 0
	hooks := []limiter.Hooks{{LimitChanged: func(_, _ int) { told++ }}}
	l := newLimiter(t, limiter.Config{Hooks: hooks})
	hooks[0] = limiter.Hooks{}
	require.NoError(t, l.SetLimit(2))
	require.Equal(t, 1, told)
}

// L-22, R16.
func TestLimiterSettersRefuseWhatTheConfigWould(t *testing.T) {
	l := newLimiter(t, limiter.Config{Limit: 3, Mode: spillway.Shadow})
	var config *spillway.ConfigError
	for _, n := range []int{0, -1, math.MaxInt} {
		require.ErrorAs(t, l.SetLimit(n), &config)
	}
	require.ErrorAs(t, l.SetMode(spillway.Mode(4)), &config)
	require.Equal(t, 3, l.Stats().Limit)
	require.Equal(t, spillway.Shadow, l.Stats().Mode)
}
