package callsite_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/callsite"
	"github.com/spillway-go/spillway/limiter"
)

// here returns the callers of its caller.
func here() []uintptr {
	pcs := make([]uintptr, 32)
	return pcs[:runtime.Callers(2, pcs)]
}

func TestSiteIsThatOfWhoUsesTheToolkit(t *testing.T) {
	require.Regexp(t, `^.*TestSiteIsThatOfWhoUsesTheToolkit .*callsite_test.go:\d+$`, callsite.Of(here()))
	require.Empty(t, callsite.Of(nil))
	require.Empty(t, callsite.Stack(nil))
	stack := callsite.Stack(here())
	require.Regexp(t, `TestSiteIsThatOfWhoUsesTheToolkit\n\t.*callsite_test.go:\d+\n`, stack)
	require.Contains(t, stack, "testing.tRunner\n\t")
}

// asks is an error that notes who asks it, far down in the toolkit.
type asks struct{ seen chan []uintptr }

func (a asks) Error() string { return "asked" }
func (a asks) Outcome() spillway.Outcome {
	pcs := make([]uintptr, 32)
	a.seen <- pcs[:runtime.Callers(2, pcs)] // without this test's own frame
	return spillway.OutcomeOK
}

// Frames of the toolkit and of the runtime are passed over; where there is nothing else, it is
// where the goroutine came in.
func TestSitePassesOverTheToolkit(t *testing.T) {
	l, err := limiter.New[int](limiter.Config{Name: "l", Limit: 1})
	require.NoError(t, err)
	a := asks{make(chan []uintptr, 1)}
	fail := func(context.Context) (int, error) { return 0, a }
	_, _ = l.Do(t.Context(), fail)
	require.Contains(t, callsite.Of(<-a.seen), "TestSitePassesOverTheToolkit ")
	go l.Do(t.Context(), fail) //nolint:errcheck // its error is a
	require.Contains(t, callsite.Of(<-a.seen), "limiter/limiter.go:")
}
