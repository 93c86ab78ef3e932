package main

import (
	"context"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

const (
	nameRetry        = "`retry.Do`, first attempt succeeds"
	nameLease        = "`Machine.Lease`, `Lease.Release`"
	nameGate         = "`deadline.Gate`"
	nameNested       = "retry, gate, lane and lease around a call"
	nameThree        = "failsafe-go retry, bulkhead and timeout"
	nameWithTimeout  = "`context.WithTimeout`, cancel"
	nestedMaxWaiting = 64
)

// nested is what a call costs with everything around it, and the parts that aren't in
// another family.
func nested(o *opened) (*family, error) {
	f := &family{name: "nested", modes: []mode{serial(), parallel()}}
	retrier, err := retry.New[int](retry.DefaultPolicy())
	if err != nil {
		return nil, err
	}
	machine, err := connected(o)
	if err != nil {
		return nil, err
	}
	waiting, err := lane.New[int](lane.Config{Name: "bench", Limit: many, MaxWaiting: nestedMaxWaiting, MaxWait: time.Second, Predict: true})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(o.ctx, time.Hour)
	o.onClose(func() error { cancel(); return nil })

	f.add(nameFloor, floor())
	f.add(nameCall, calls(o.call, op))
	f.add(nameRetry, func(times int) {
		for range times {
			_, _ = retrier.Do(o.call, op)
		}
	})
	f.add(nameLease, func(times int) {
		for range times {
			l, _ := machine.Lease()
			l.Release()
		}
	})
	f.add(nameGate, calls(ctx, deadline.Gate[int](time.Millisecond)(op)))
	f.add(nameWithTimeout, func(times int) {
		for range times {
			_, cancel := context.WithTimeout(o.call, time.Hour)
			cancel()
		}
	})
	whole := deadline.Gate[int](time.Millisecond)(waiting.Wrap(lifecycle.Bind(machine, func(ctx context.Context, _ int) (int, error) { return op(ctx) })))
	f.add(nameNested, func(times int) {
		for range times {
			_, _ = retrier.Do(ctx, whole)
		}
	})
	f.add(nameThree, threePolicies())
	f.rows = []row{
		{ours: nameRetry, over: nameCall, its: nameFloor, most: 1.5, allocs: 0},
		{ours: nameLease, its: nameFloor, most: 3, allocs: 0},
		{ours: nameNested, its: nameFloor, most: 9, allocs: 0},
		{ours: nameNested, its: nameThree, most: 1.0 / 20, allocs: noBudget},
		{ours: nameGate, its: nameWithTimeout, allocs: 0},
	}
	return f, nil
}

// connected is a machine that holds a connection which is only a number.
func connected(o *opened) (*lifecycle.Machine[int], error) {
	m, err := lifecycle.New(lifecycle.DefaultConfig("bench", func(context.Context, int) error { return nil }))
	if err != nil {
		return nil, err
	}
	o.onClose(func() error { return m.Close(o.ctx) })
	return m, m.Connect(o.ctx, func(context.Context) (int, error) { return 1, nil })
}

func threePolicies() work {
	get := failsafe.With[int](
		retrypolicy.NewWithDefaults[int](), bulkhead.New[int](many), timeout.New[int](time.Hour))
	one := func() (int, error) { return 1, nil }
	return func(times int) {
		for range times {
			_, _ = get.Get(one)
		}
	}
}

var _ spillway.Op[int] = op
