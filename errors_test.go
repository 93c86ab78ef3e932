package spillway_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

// R3: each error belongs to the families it says, and to no other.
func TestErrorsBelongToTheirFamiliesAlone(t *testing.T) {
	families := []error{spillway.ErrBackpressure, spillway.ErrClosed, context.DeadlineExceeded, context.Canceled}
	for _, c := range []struct {
		err  error
		is   []error
		kind string
	}{
		{&spillway.Rejection{Reason: spillway.ReasonLimit}, []error{spillway.ErrBackpressure}, "limit_reached"},
		{&spillway.Rejection{Reason: spillway.ReasonRefuseAll}, []error{spillway.ErrBackpressure}, "refuse_all"},
		{&spillway.Rejection{Reason: spillway.ReasonQueueFull}, []error{spillway.ErrBackpressure}, "queue_full"},
		{&spillway.Rejection{Reason: spillway.ReasonMaxWait}, []error{spillway.ErrBackpressure}, "max_wait_exceeded"},
		{&spillway.Rejection{Reason: spillway.ReasonPredicted}, []error{spillway.ErrBackpressure}, "deadline_insufficient"},
		{&spillway.Rejection{Reason: spillway.ReasonExpired}, []error{spillway.ErrBackpressure, context.DeadlineExceeded}, "deadline_exceeded"},
		{&spillway.Rejection{Reason: spillway.ReasonDropped}, []error{spillway.ErrBackpressure}, "dropped"},
		{&spillway.Rejection{Reason: spillway.ReasonLimitShrunk}, []error{spillway.ErrBackpressure}, "limit_reduced"},
		{&spillway.Rejection{Reason: 99}, []error{spillway.ErrBackpressure}, "reason(99)"},
		{&spillway.ClosedError{}, []error{spillway.ErrClosed}, "closed"},
		{&spillway.WeightError{}, nil, "invalid_weight"},
		{&spillway.NestedError{}, nil, "nested_call"},
		{&spillway.ConfigError{}, nil, "invalid_config"},
		{&spillway.PanicError{}, nil, "panic"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			for _, err := range []error{c.err, fmt.Errorf("wrapped: %w", c.err)} {
				var matched []error
				for _, family := range families {
					if errors.Is(err, family) {
						matched = append(matched, family)
					}
				}
				require.ElementsMatch(t, c.is, matched)
				var typed interface{ ErrorType() string }
				require.ErrorAs(t, err, &typed)
				require.Equal(t, c.kind, typed.ErrorType())
			}
		})
	}
}

// R4.
func TestErrorsTellWhatHappened(t *testing.T) {
	for _, c := range []struct {
		err  error
		text string
	}{
		{&spillway.Rejection{Component: "limiter", Name: "db", Limit: 3}, `limiter "db" refused the call: all permits are in use (limit 3)`},
		{
			&spillway.Rejection{Component: "lane", Name: "db", Reason: spillway.ReasonMaxWait, Limit: 3, Wait: time.Second},
			`lane "db" refused the call after 1s: the longest wait is over (limit 3)`,
		},
		{&spillway.Rejection{Component: "aerospike", Name: "db", Reason: spillway.ReasonExpired}, `aerospike "db" refused the call: too little of its time was left to start it`},
		{&spillway.Rejection{Component: "lane", Name: "db", Reason: 99}, `lane "db" refused the call: unknown reason (limit 0)`},
		{&spillway.ClosedError{Component: "lane", Name: "db"}, `lane "db" is closed`},
		{&spillway.ClosedError{Component: "limiter or lane"}, "a zero limiter or lane is closed: make it with its constructor"},
		{&spillway.WeightError{Component: "lane", Name: "db", Weight: -2, Limit: 9}, `lane "db": weight is -2: must be from 1 to the limit of 9`},
		{&spillway.NestedError{Component: "lane", Name: "db"}, `lane "db": called again from within an operation that it admitted`},
		{&spillway.PanicError{Value: "oh"}, "spillway: function panicked: oh"},
		{&spillway.PanicError{}, "spillway: function called runtime.Goexit"},
		{&spillway.PanicError{Component: "executor", Name: "jobs", Value: "oh"}, `executor "jobs": function panicked: oh`},
		{&spillway.PanicError{Component: "executor", Name: "jobs"}, `executor "jobs": function called runtime.Goexit`},
	} {
		require.EqualError(t, c.err, c.text)
	}
}

func TestPanicErrorUnwrapsToThePanicsError(t *testing.T) {
	require.ErrorIs(t, &spillway.PanicError{Value: errOp}, errOp)
	require.NoError(t, (&spillway.PanicError{Value: "text"}).Unwrap())
}

// L-22.
func TestConfigErrorListsEveryFault(t *testing.T) {
	e := &spillway.ConfigError{Component: "limiter"}
	require.NoError(t, e.Err())
	e.Add("Name", "", "must not be empty")
	e.Add("Limit", -1, "must be positive")
	e.Add("Wait", 3*time.Second, "must be shorter")
	e.Add("Mode", spillway.Mode(9), "must be known")
	e.Add("Hooks", nil, "must be there")
	require.Same(t, e, e.Err())
	require.EqualError(t, e, `limiter: invalid configuration: Name is "": must not be empty; Limit is -1: must be positive; `+
		`Wait is 3s: must be shorter; Mode is mode(9): must be known; Hooks is <nil>: must be there`)
}

func TestRefusalCountsAddUp(t *testing.T) {
	var c spillway.RefusalCounts
	c[spillway.ReasonLimit], c[spillway.ReasonLimitShrunk] = 3, 4
	require.Equal(t, uint64(4), c.Of(spillway.ReasonLimitShrunk))
	require.Zero(t, c.Of(spillway.Reason(200)))
	require.Equal(t, uint64(7), c.Total())
}
