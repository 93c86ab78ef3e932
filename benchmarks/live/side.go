package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/limiter/adaptive"
)

// The sides that are compared. A counter has its number of permits behind its name.
const (
	sideRaw      = "raw driver"
	sideCounter  = "bare counter"
	sideSpillway = "spillway"
	sideAdaptive = "spillway, adaptive with a target"
)

// target is what a read takes, by the geometric mean, at a node that is as busy as it should be:
// 1.75 times what it takes alone.
const target = 7 * service / 4

// side is one way to call the cluster.
type side struct {
	get, put func(ctx context.Context, key *as.Key) error
	close    func(ctx context.Context) error
}

// value is what records have.
const value = "a value of some bytes, as records have them"

var errFull = &spillway.Rejection{Component: "counter", Name: "bare", Reason: spillway.ReasonLimit}

func open(ctx context.Context, s spec) (side, error) {
	switch s.Side {
	case sideRaw:
		return raw(s)
	case sideCounter:
		inner, err := raw(s)
		return counted(inner, s.Limit), err
	case sideSpillway, sideAdaptive:
		return guarded(ctx, s)
	}
	return side{}, fmt.Errorf("unknown side %q", s.Side)
}

// raw is the driver with its defaults.
func raw(s spec) (side, error) {
	hosts, err := as.NewHosts(s.Hosts...)
	if err != nil {
		return side{}, err
	}
	client, err := as.NewClientWithPolicyAndHost(as.NewClientPolicy(), hosts...)
	if err != nil {
		return side{}, err
	}
	if s.Deadline > 0 { // as its defaults can have it; it knows of no call when that should have been sent
		client.DefaultPolicy.TotalTimeout = s.Deadline
		client.DefaultWritePolicy.TotalTimeout = s.Deadline
	}
	return side{
		get: func(_ context.Context, key *as.Key) error {
			if _, err := client.Get(nil, key); err != nil {
				return err
			}
			return nil
		},
		put: func(_ context.Context, key *as.Key) error {
			if err := client.Put(nil, key, as.BinMap{"v": value}); err != nil {
				return err
			}
			return nil
		},
		close: func(context.Context) error {
			client.Close()
			return nil
		},
	}, nil
}

// counted puts the simplest guard there is in front of it.
func counted(inner side, limit int) side {
	var inUse atomic.Int64
	guard := func(f func(context.Context, *as.Key) error) func(context.Context, *as.Key) error {
		return func(ctx context.Context, key *as.Key) error {
			if inUse.Add(1) > int64(limit) {
				inUse.Add(-1)
				return errFull
			}
			defer inUse.Add(-1)
			return f(ctx, key)
		}
	}
	return side{get: guard(inner.get), put: guard(inner.put), close: inner.close}
}

// guarded is the adapter with its default configuration; where a scenario has critical
// calls, with a lane for them.
func guarded(ctx context.Context, s spec) (side, error) {
	cfg := aerospike.DefaultConfig(s.Hosts...)
	cfg.Name = "live"
	if s.Side == sideAdaptive {
		moving := adaptive.DefaultConfig(2 * aerospike.DefaultLimit)
		moving.Target, moving.Trusted = target, true
		cfg.Lanes = aerospike.DefaultLanes(aerospike.DefaultLimit)
		cfg.Lanes[0].Adaptive = &moving
	}
	if s.Bulk > 0 {
		cfg.Lanes = append(aerospike.DefaultLanes(s.Limit), aerospike.LaneConfig{
			Name: "critical", Limit: s.Limit, MaxWaiting: 64, MaxWait: 50 * time.Millisecond,
		})
		cfg.Classes = map[spillway.Class]string{spillway.Critical: "critical"}
	} else if s.Limit > 0 {
		cfg.Limit = s.Limit
	}
	client, err := aerospike.New(cfg)
	if err != nil {
		return side{}, err
	}
	if err := client.Connect(ctx); err != nil {
		return side{}, err
	}
	writer, err := client.With(aerospike.Idempotent())
	if err != nil {
		return side{}, errors.Join(err, client.Close(ctx))
	}
	return side{
		get: func(ctx context.Context, key *as.Key) error {
			_, err := client.Get(ctx, nil, key)
			return err
		},
		put:   func(ctx context.Context, key *as.Key) error { return writer.Put(ctx, nil, key, as.BinMap{"v": value}) },
		close: client.Close,
	}, nil
}
