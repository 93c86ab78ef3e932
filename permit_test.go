package spillway_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

// ends notes what a Releaser is told.
type ends []end

type end struct {
	token   uint64
	outcome spillway.Outcome
	hold    time.Duration
}

func (e *ends) End(token uint64, o spillway.Outcome, hold time.Duration) {
	*e = append(*e, end{token, o, hold})
}

func TestPermitTellsItsReleaserHowItEnded(t *testing.T) {
	var got ends
	p := spillway.NewPermit(&got, 42)
	p.Release()
	p.ReleaseWith(spillway.OutcomeOverload)
	p.ReleaseAfter(time.Second)
	p.ReleaseAfter(-time.Second)
	require.Equal(t, ends{
		{42, spillway.OutcomeOK, 0},
		{42, spillway.OutcomeOverload, 0},
		{42, spillway.OutcomeTimeout, time.Second},
		{42, spillway.OutcomeTimeout, 0},
	}, got)
}

// A14.
func TestPermitOfZeroDoesNothing(t *testing.T) {
	var p spillway.Permit
	require.NotPanics(t, func() {
		p.Release()
		p.ReleaseWith(spillway.OutcomeOK)
		p.ReleaseAfter(time.Second)
	})
}
