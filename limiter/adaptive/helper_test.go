//go:build go1.25

package adaptive_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// trusted are settings with a limit of max at most, all of which is the controller's.
func trusted(max int) adaptive.Config {
	cfg := adaptive.DefaultConfig(max)
	cfg.Trusted = true
	return cfg
}

func newLimiter(t testing.TB, limit int) *limiter.Limiter[int] {
	t.Helper()
	l, err := limiter.New[int](limiter.Config{Name: "db", Limit: limit})
	require.NoError(t, err)
	return l
}

func drive(t testing.TB, g adaptive.Guard, cfg adaptive.Config) *adaptive.Controller {
	t.Helper()
	ctl, err := adaptive.Drive(g, cfg)
	require.NoError(t, err)
	return ctl
}

// lasting is an operation that takes d and ends with err.
func lasting(d time.Duration, err error) spillway.Op[int] {
	return func(context.Context) (int, error) { time.Sleep(d); return 0, err }
}

// keepBusy keeps n calls of op under way for d, each followed by the next, and returns when
// all have ended.
func keepBusy(l *limiter.Limiter[int], n int, d time.Duration, op spillway.Op[int]) {
	done := make(chan struct{})
	end := time.Now().Add(d)
	for range n {
		go func() {
			defer func() { done <- struct{}{} }()
			for time.Now().Before(end) {
				if _, err := l.Do(context.Background(), op); err != nil {
					time.Sleep(100 * time.Microsecond)
				}
			}
		}()
	}
	for range n {
		<-done
	}
}

// fake is a guard that remembers what it was told, and fails where it is told to.
type fake struct {
	limit, weight, every int
	pace                 time.Duration
	meter                spillway.Meter
	fail                 error // of SetMeter
	hook                 func()
}

func (f *fake) Name() string { return "fake" }
func (f *fake) Limit() int   { return f.limit }

func (f *fake) SetLimit(n int) error {
	f.limit = n
	if f.hook != nil {
		f.hook()
	}
	return nil
}
func (f *fake) SetPace(gap time.Duration) error { f.pace = gap; return nil }
func (f *fake) SetMaxWeight(n int) error        { f.weight = n; return nil }

func (f *fake) SetMeter(m spillway.Meter, every int) error {
	if m != nil && f.fail != nil {
		return f.fail
	}
	f.meter, f.every = m, every
	return nil
}

// feed tells the guard's meter of n calls that end evenly within d from at on, with that
// much in use, and returns the time after.
func (f *fake) feed(at time.Duration, n int, d time.Duration, inUse int) time.Duration {
	for i := range n {
		now := at + d*time.Duration(i+1)/time.Duration(n)
		label := f.meter.Begin(context.Background(), now)
		f.meter.End(spillway.Sample{At: now, Took: 2 * ms, InUse: inUse, Weight: 1, Label: label})
	}
	return at + d
}

// outcome is an error of a class.
type outcome spillway.Outcome

func (o outcome) Error() string             { return spillway.Outcome(o).String() }
func (o outcome) Outcome() spillway.Outcome { return spillway.Outcome(o) }
