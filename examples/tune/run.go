package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// run measures each class and prints what it found.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\n", args...) }
	say("%s", o.plan())
	if o.dryRun {
		say("dry run: nothing was sent")
		return nil
	}
	if o.picture != "" { // before the load, which may take minutes
		file, err := os.OpenFile(o.picture, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("-picture: %w", err)
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	if len(o.hosts) == 0 {
		server, err := aerospiketest.Start(aerospiketest.Config{
			Capacity: aerospiketest.Capacity{Parallel: 16, ServiceTime: 2 * time.Millisecond, Queue: 100_000},
		})
		if err != nil {
			return err
		}
		defer server.Close()
		o.hosts = server.Hosts()
	}
	client, err := connect(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(context.WithoutCancel(ctx))) }()
	found, err := curves(ctx, client, o, say)
	if len(found) < len(o.classes) {
		return err
	}
	// What was measured is worth its print, whether or not the records could be deleted.
	err = errors.Join(err, printSettings(out, found))
	if o.picture != "" {
		err = errors.Join(err, os.WriteFile(o.picture, []byte(picture(found)), 0o644))
	}
	return err
}

// curves measures each class, with records that it writes and deletes.
func curves(ctx context.Context, client *aerospike.Client, o options, say func(string, ...any)) (all []curve, err error) {
	load, err := newRecords(client, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, load.clean(context.WithoutCancel(ctx), say)) }()
	if err := load.prepare(ctx); err != nil {
		return nil, err
	}
	nodes := len(client.Cluster().GetNodes())
	for _, class := range o.classes {
		c, err := load.ramp(ctx, class, say)
		if err != nil {
			return all, err
		}
		c.judge(nodes, o.processes)
		all = append(all, c)
		say("%s", c.String())
	}
	return all, nil
}

// connect makes a client whose limits are off: what is measured is the cluster. A call is
// made once, so that no retries come on top of the rate, and at the node that has the record.
func connect(ctx context.Context, o options) (*aerospike.Client, error) {
	cfg := aerospike.DefaultConfig(o.hosts...)
	cfg.Name, cfg.Mode = "tune", spillway.Off
	cfg.ClientPolicy = o.policy
	if o.policy == nil {
		cfg.ClientPolicy = as.NewClientPolicy()
		cfg.ClientPolicy.Timeout = aerospike.DefaultDriverTimeout
	}
	cfg.ClientPolicy.ConnectionQueueSize = max(o.maxCallers+1, 16) // the lanes need a few, also when they are off
	cfg.Policies.Base, cfg.Policies.Batch = as.NewPolicy(), as.NewBatchPolicy()
	once(cfg.Policies.Base, o)
	once(&cfg.Policies.Batch.BasePolicy, o)
	client, err := aerospike.New(cfg)
	if err != nil {
		return nil, err
	}
	return client, client.Connect(ctx)
}

// once makes a policy one of a single attempt, which lasts long enough to be too slow.
func once(p *as.BasePolicy, o options) {
	p.MaxRetries, p.ReplicaPolicy = 1, as.MASTER // it counts attempts: 1 is one
	p.TotalTimeout = max(time.Second, 2*o.stopP99)
	p.SocketTimeout = p.TotalTimeout // or the driver waits for this one, half a minute
}
