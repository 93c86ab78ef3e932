package spillway_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

type classed spillway.Outcome

func (e classed) Error() string             { return "classed" }
func (e classed) Outcome() spillway.Outcome { return spillway.Outcome(e) }

func TestOutcomeOfErrors(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want spillway.Outcome
	}{
		"nil":              {nil, spillway.OutcomeOK},
		"plain":            {errOp, spillway.OutcomeUnknown},
		"carrier":          {classed(spillway.OutcomeQuota), spillway.OutcomeQuota},
		"wrapped carrier":  {fmt.Errorf("a: %w", classed(spillway.OutcomeStopWrites)), spillway.OutcomeStopWrites},
		"joined carrier":   {errors.Join(errOp, classed(spillway.OutcomeLate)), spillway.OutcomeLate},
		"carrier first":    {errors.Join(context.Canceled, classed(spillway.OutcomeNetwork)), spillway.OutcomeNetwork},
		"canceled":         {fmt.Errorf("a: %w", context.Canceled), spillway.OutcomeLocal},
		"deadline":         {context.DeadlineExceeded, spillway.OutcomeTimeout},
		"wrapped deadline": {fmt.Errorf("a: %w", context.DeadlineExceeded), spillway.OutcomeTimeout},
		"file deadline":    {os.ErrDeadlineExceeded, spillway.OutcomeTimeout},
		"net timeout":      {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, spillway.OutcomeTimeout},
		"net refused":      {&net.OpError{Op: "dial", Err: errOp}, spillway.OutcomeUnknown},
		"rejection":        {&spillway.Rejection{Reason: spillway.ReasonExpired}, spillway.OutcomeLocal},
		"closed":           {&spillway.ClosedError{}, spillway.OutcomeLocal},
		"bare closed":      {fmt.Errorf("a: %w", spillway.ErrClosed), spillway.OutcomeLocal},
		"bare refusal":     {fmt.Errorf("a: %w", spillway.ErrBackpressure), spillway.OutcomeLocal},
		"weight":           {&spillway.WeightError{}, spillway.OutcomePermanent},
		"nested":           {&spillway.NestedError{}, spillway.OutcomePermanent},
		"config":           {&spillway.ConfigError{}, spillway.OutcomePermanent},
		"panic":            {&spillway.PanicError{Value: "x"}, spillway.OutcomeUnknown},
		"panic with error": {&spillway.PanicError{Value: classed(spillway.OutcomeLate)}, spillway.OutcomeLate},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, spillway.OutcomeOf(c.err)) })
	}
}

func TestOutcomeHasAName(t *testing.T) {
	seen := map[string]bool{}
	for o := spillway.OutcomeOK; o <= spillway.OutcomeUnknown; o++ {
		require.Regexp(t, `^[a-z_]+$`, o.String())
		require.False(t, seen[o.String()], "two outcomes are named %v", o)
		seen[o.String()] = true
	}
	require.Equal(t, "outcome(11)", spillway.Outcome(11).String())
	require.Equal(t, "ok", spillway.OutcomeOK.String())
	require.Equal(t, "unknown", spillway.OutcomeUnknown.String())
}

func TestOutcomeCountsAddUp(t *testing.T) {
	var c spillway.OutcomeCounts
	c[spillway.OutcomeOK], c[spillway.OutcomeUnknown] = 3, 4
	require.Equal(t, uint64(4), c.Of(spillway.OutcomeUnknown))
	require.Zero(t, c.Of(spillway.Outcome(200)))
	require.Equal(t, uint64(7), c.Total())
}
