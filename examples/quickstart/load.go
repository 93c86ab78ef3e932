package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/retry"
)

// result is what one number of callers got on one side.
type result struct {
	Callers    int
	Guarded    bool
	Goodput    float64           // successful reads per second
	Errors     map[string]uint64 // by kind, refusals left out
	Refused    uint64
	P50, P99   time.Duration // of successful reads
	Goroutines int           // at the peak
	HeapMB     float64       // at the peak
	Seconds    float64
}

func (r result) errorCount() (sum uint64) {
	for _, n := range r.Errors {
		sum += n
	}
	return sum
}

// measure runs the load on one side: every caller reads a random record, again and
// again.
func measure(ctx context.Context, cfg aerospike.Config, keys []*as.Key, callers int, guarded bool, d time.Duration) (result, error) {
	get, closeClient, err := connect(ctx, cfg, guarded)
	if err != nil {
		return result{}, err
	}
	runtime.GC()
	comeBack := retry.DefaultPolicy()
	var t tally
	stopPeaks := t.watchPeaks()
	start := time.Now()
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for !stop.Load() {
				began := time.Now()
				err := get(ctx, keys[rand.IntN(len(keys))])
				t.count(err, time.Since(began))
				if errors.Is(err, spillway.ErrBackpressure) {
					time.Sleep(comeBack.DelayAfter(1, err)) // as retry would
				}
			}
		})
	}
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	stop.Store(true)
	wg.Wait() // calls under way are counted, with the time they took
	elapsed := time.Since(start)
	stopPeaks()
	if err := closeClient(context.WithoutCancel(ctx)); err != nil {
		return result{}, err
	}
	return t.result(callers, guarded, elapsed), ctx.Err()
}

// connect returns how to read a record on one side.
func connect(ctx context.Context, cfg aerospike.Config, guarded bool) (get func(context.Context, *as.Key) error, closeClient func(context.Context) error, err error) {
	if guarded {
		client, err := aerospike.New(cfg)
		if err != nil {
			return nil, nil, err
		}
		if err := client.Connect(ctx); err != nil {
			return nil, nil, err
		}
		return func(ctx context.Context, key *as.Key) error {
			_, err := client.Get(ctx, nil, key)
			return err
		}, client.Close, nil
	}
	hosts, err := aerospike.ParseHosts(cfg.Hosts...)
	if err != nil {
		return nil, nil, err
	}
	client, aerr := as.NewClientWithPolicyAndHost(cfg.ClientPolicy, hosts...) // nil is the default
	if aerr != nil {
		return nil, nil, aerr
	}
	return func(_ context.Context, key *as.Key) error {
			if _, err := client.Get(nil, key); err != nil {
				return err
			}
			return nil
		}, func(context.Context) error {
			client.Close()
			return nil
		}, nil
}
