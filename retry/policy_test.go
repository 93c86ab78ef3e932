package retry_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// L-22, C4, C10, C28: no number makes New panic, and none means "for ever".
func TestPolicyNamesEveryFaultAtOnce(t *testing.T) {
	ok := fixed(3)
	with := func(change func(*retry.Policy)) retry.Policy {
		p := ok
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		policy retry.Policy
		faults map[string]any
	}{
		"zero":        {retry.Policy{}, map[string]any{"MaxAttempts": 0, "Base": time.Duration(0)}},
		"minus one":   {with(func(p *retry.Policy) { p.MaxAttempts = -1 }), map[string]any{"MaxAttempts": -1}},
		"no base":     {with(func(p *retry.Policy) { p.Base = 0 }), map[string]any{"Base": time.Duration(0)}},
		"cap < base":  {with(func(p *retry.Policy) { p.Cap = p.Base - 1 }), map[string]any{"Cap": time.Second - 1}},
		"no spread":   {with(func(p *retry.Policy) { p.Floor = p.Cap/2 + 1 }), map[string]any{"Floor": ok.Cap/2 + 1}},
		"odd jitter":  {with(func(p *retry.Policy) { p.Jitter = 4 }), map[string]any{"Jitter": retry.Jitter(4)}},
		"no attempts": {with(func(p *retry.Policy) { p.MaxAttempts = 0 }), map[string]any{"MaxAttempts": 0}},
		"all": {
			retry.Policy{MaxAttempts: -5, Base: -1, Cap: -2, Jitter: 9, Floor: -3, MaxElapsed: -4, MaxHint: -5},
			map[string]any{
				"MaxAttempts": -5, "Base": time.Duration(-1), "Cap": time.Duration(-2), "Jitter": retry.Jitter(9),
				"Floor": time.Duration(-3), "MaxElapsed": time.Duration(-4), "MaxHint": time.Duration(-5),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := retry.New[int](c.policy)
			require.Nil(t, r)
			var config *spillway.ConfigError
			require.ErrorAs(t, err, &config)
			require.Equal(t, "retry", config.Component)
			faults := map[string]any{}
			for _, f := range config.Faults {
				faults[f.Field] = f.Value
				require.Contains(t, err.Error(), f.Field+" is ")
			}
			require.Equal(t, c.faults, faults)
		})
	}
	require.NoError(t, retry.Policy{MaxAttempts: 1}.Validate(), "without retries nothing else is needed")
	require.NoError(t, retry.Policy{MaxAttempts: retry.Unlimited, Base: 1, Cap: math.MaxInt64}.Validate())
}

// X16, R72: what is in the box.
func TestPolicyDefaultsAreWhatTheDecisionsSay(t *testing.T) {
	p := retry.DefaultPolicy()
	require.Equal(t, 3, p.MaxAttempts)
	require.Equal(t, 10*time.Millisecond, p.Base)
	require.Equal(t, 500*time.Millisecond, p.Cap)
	require.Equal(t, retry.FullJitter, p.Jitter)
	require.Equal(t, 50*time.Millisecond, p.Floor)
	require.False(t, p.Idempotent)
	require.True(t, retry.ReadPolicy().Idempotent)
	require.Equal(t, 3, retry.ReadPolicy().MaxAttempts)
	require.Equal(t, 1, retry.WritePolicy().MaxAttempts)
	require.False(t, retry.WritePolicy().Idempotent)
	for _, p := range []retry.Policy{p, retry.ReadPolicy(), retry.WritePolicy()} {
		require.NoError(t, p.Validate())
	}
}

// A Policy is a value: what its owner does to it later is his affair.
func TestPolicyIsCopied(t *testing.T) {
	told := 0
	p := fixed(2)
	p.Base = 1
	p.Hooks = []retry.Hooks{{OnGiveUp: func(context.Context, *retry.ExhaustedError) { told++ }}}
	r := newRetrier(t, p)
	p.Hooks[0] = retry.Hooks{}
	p.Name = "other"
	_, err := r.Do(t.Context(), failing(errOp))
	require.ErrorIs(t, err, errOp)
	require.Equal(t, 1, told)
	require.Equal(t, "test", r.Name())
	require.Equal(t, "retry", newRetrier(t, retry.DefaultPolicy()).Name())
}

func TestJitterSpeaksText(t *testing.T) {
	for j := retry.FullJitter; j.Valid(); j++ {
		text, err := j.MarshalText()
		require.NoError(t, err)
		var back retry.Jitter
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, j, back)
	}
	j := retry.EqualJitter
	require.ErrorContains(t, j.UnmarshalText([]byte("some")), "want full, equal, decorrelated or none")
	require.Equal(t, retry.EqualJitter, j)
	_, err := retry.Jitter(4).MarshalText()
	require.ErrorContains(t, err, "unknown jitter 4")
	require.Equal(t, "jitter(4)", retry.Jitter(4).String())
}
