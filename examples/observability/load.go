package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/retry"
)

// load makes something of everything until ctx ends: reads and writes, some of records
// that aren't there, more than the database takes; jobs, of which some fail and are
// repeated, and more than the workers can do.
func load(ctx context.Context, tracer trace.Tracer, db *aerospike.Client, jobs *deadline.Executor[int], again *retry.Retrier[int]) {
	var callers sync.WaitGroup
	defer callers.Wait()
	every := func(d time.Duration, f func(ctx context.Context)) {
		callers.Go(func() {
			tick := time.NewTicker(d)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
				ctx, span := tracer.Start(ctx, "request")
				f(ctx)
				span.End()
			}
		})
	}
	for range 48 {
		every(2*time.Millisecond, func(ctx context.Context) { user(ctx, db) })
	}
	every(100*time.Millisecond, func(ctx context.Context) { report(ctx, db) })
	for range 4 {
		every(time.Millisecond, func(ctx context.Context) {
			_ = jobs.Go(ctx, func(ctx context.Context) (int, error) { return again.Do(ctx, send) })
		})
	}
}

// user writes a user, or reads one, which isn't there every now and then.
func user(ctx context.Context, db *aerospike.Client) {
	key, err := as.NewKey("test", "users", rand.IntN(200))
	if err != nil {
		return
	}
	if rand.IntN(10) == 0 {
		_ = db.Put(ctx, nil, key, as.BinMap{"name": "Ada"})
		return
	}
	_, _ = db.Get(ctx, nil, key)
}

func report(ctx context.Context, db *aerospike.Client) {
	stream, err := db.ScanAll(ctx, nil, "test", "users")
	if err != nil {
		return
	}
	for _, err := range stream.All() {
		if err != nil {
			return
		}
	}
}

// send is a mail that fails one time in ten.
func send(ctx context.Context) (int, error) {
	select {
	case <-time.After(5 * time.Millisecond):
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if rand.IntN(10) == 0 {
		return 0, busy{errors.New("mailbox busy")}
	}
	return 1, nil
}

// busy is an error with a class.
type busy struct{ error }

func (busy) Outcome() spillway.Outcome { return spillway.OutcomeOverload }
