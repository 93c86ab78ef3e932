package lua

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
)

// Few instructions may take long, where each is a call: the time is looked at before each.
func TestBudgetEndsACallAtTheNextInstructionWhenItsTimeIsOver(t *testing.T) {
	proto, err := compile("m", "function f(rec) for i = 1, 100 do info('slow') end end")
	require.NoError(t, err)
	s := newState(&program{proto: proto, registry: udf.NewRegistry(nil)})
	defer s.close()
	lines := 0
	s.log = func(string, string) {
		lines++
		s.budget.late.Store(true) // as the timer does
	}
	f, err := s.load(proto, "f")
	require.NoError(t, err)
	_, err = s.run(f, nil)
	require.ErrorIs(t, err, errTime)
	require.Equal(t, 1, lines)
}

func TestBudgetKeepsTimeByATimer(t *testing.T) {
	b := newBudget()
	require.True(t, b.timer.Stop(), "it runs")
	b.renew()
	require.False(t, b.late.Load())
	b.end()
	require.False(t, b.timer.Stop(), "it was stopped")
}
