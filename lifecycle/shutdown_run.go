package lifecycle

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-go/spillway/internal/cause"
)

// hurried is the time a step has once the context of the run is done.
const hurried = 100 * time.Millisecond

// Run takes all steps, in their order, and returns a report of each, and a
// *[ShutdownError] if one failed or did not return. Every step runs, whatever became of those
// before it. A step that hasn't returned when its time is over is left behind, with
// ErrStepRunning, and the next one begins; so Run returns within ShutdownConfig.Timeout.
//
// The steps' contexts have the values of ctx. Its end means hurry (a second signal, say):
// there is no lame-duck delay any more, and every step from then on runs with a context
// that is done, and has 100 ms to return. Only the first call runs anything; the others
// wait for it and return the same, or the cause of their own context if that ends first.
func (s *Shutdown) Run(ctx context.Context) (ShutdownReport, error) {
	if s.done == nil {
		return ShutdownReport{}, nil
	}
	first := false
	s.once.Do(func() { first = true })
	if !first {
		select {
		case <-s.done:
			return s.report, s.err
		case <-ctx.Done():
			return ShutdownReport{}, cause.Of(ctx)
		}
	}
	defer close(s.done)
	start := time.Now()
	end := start.Add(s.timeout)
	var bad []StepReport
	for i, step := range s.steps {
		r := step.take(ctx, share(s.steps[i:], time.Until(end)))
		s.report.Steps = append(s.report.Steps, r)
		if r.Err != nil {
			bad = append(bad, r)
		}
	}
	s.report.Took = time.Since(start)
	if len(bad) > 0 {
		s.err = &ShutdownError{Steps: bad}
	}
	return s.report, s.err
}

// share is how long the first of the steps may take.
func share(steps []phased, left time.Duration) time.Duration {
	if d := steps[0].Timeout; d > 0 {
		return min(d, max(left, 0))
	}
	sharing := 0
	for _, s := range steps {
		left -= s.Timeout
		if s.Timeout == 0 {
			sharing++
		}
	}
	return max(left, 0) / time.Duration(sharing)
}

// stepResult is what a step returned, and whether its context had ended by then.
type stepResult struct {
	err error
	cut bool
}

// take takes a step, for as long as it may.
func (s phased) take(ctx context.Context, limit time.Duration) StepReport {
	r := StepReport{Phase: s.phase, Name: s.Name, Limit: limit}
	start := time.Now()
	if s.phase == phaseLameDuck {
		r.Cut = !wait(ctx, limit)
		r.Took = time.Since(start)
		return r
	}
	stepCtx, cancel := context.WithTimeout(ctx, limit-limit/10)
	result := make(chan stepResult, 1)
	go func() {
		defer cancel()
		guarded(s.Name, func() error { return s.Run(stepCtx) }, func(err error) {
			result <- stepResult{err: err, cut: stepCtx.Err() != nil}
		})
	}()
	got, ok := await(ctx, result, limit)
	r.Took = time.Since(start)
	if !ok {
		got = stepResult{err: fmt.Errorf("%w after %v", ErrStepRunning, r.Took), cut: true}
		r.Running = true
	}
	r.Err, r.Cut = got.err, got.cut
	return r
}

// await waits for a step's result, for limit, or less once ctx is done.
func await(ctx context.Context, result <-chan stepResult, limit time.Duration) (stepResult, bool) {
	end := time.Now().Add(limit)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	done := ctx.Done()
	for {
		select {
		case got := <-result:
			return got, true
		case <-done:
			done = nil
			timer.Reset(min(hurried, time.Until(end)))
		case <-timer.C:
			select {
			case got := <-result: // in the very moment
				return got, true
			default:
				return stepResult{}, false
			}
		}
	}
}

// wait waits for d, and is false if ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
