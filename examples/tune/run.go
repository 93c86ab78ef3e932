package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
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
	load, err := prepare(ctx, client, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, load.clean(context.WithoutCancel(ctx))) }()

	nodes := len(client.Cluster().GetNodes())
	var curves []curve
	for _, class := range o.classes {
		points, why, err := load.ramp(ctx, class, o, say)
		if err != nil {
			return err
		}
		c := curve{class: class, points: points, ended: why}
		c.judge(nodes, o.processes)
		curves = append(curves, c)
		say("%s", c.String())
	}
	if err := printSettings(out, curves); err != nil {
		return err
	}
	if o.picture != "" {
		return os.WriteFile(o.picture, []byte(picture(curves)), 0o644)
	}
	return nil
}

// connect makes a client whose limits are off: what is measured is the cluster.
func connect(ctx context.Context, o options) (*aerospike.Client, error) {
	cfg := aerospike.DefaultConfig(o.hosts...)
	cfg.Name, cfg.Mode = "tune", spillway.Off
	cfg.ClientPolicy = as.NewClientPolicy()
	cfg.ClientPolicy.ConnectionQueueSize = o.maxCallers + 1
	client, err := aerospike.New(cfg)
	if err != nil {
		return nil, err
	}
	return client, client.Connect(ctx)
}

// records are what is written and read.
type records struct {
	client *aerospike.Client
	keys   []*as.Key
	bins   as.BinMap
}

// prepare writes the records, unless there is something in the set already.
func prepare(ctx context.Context, client *aerospike.Client, o options) (*records, error) {
	r := &records{client: client, bins: as.BinMap{"v": make([]byte, o.size)}}
	for i := range o.records {
		key, bad := as.NewKey(o.namespace, o.set, fmt.Sprintf("tune-%d", i))
		if bad != nil {
			return nil, bad
		}
		r.keys = append(r.keys, key)
	}
	there, err := client.BatchExists(ctx, nil, r.keys)
	if err != nil {
		return nil, err
	}
	if slices.Contains(there, true) {
		return nil, fmt.Errorf("%s.%s has records of an earlier run, or of somebody else: choose another -set, or delete them", o.namespace, o.set)
	}
	for _, key := range r.keys {
		if err := client.Put(ctx, nil, key, r.bins); err != nil {
			return nil, errors.Join(err, r.clean(context.WithoutCancel(ctx)))
		}
	}
	return r, nil
}

// clean deletes what was written, whatever became of the run.
func (r *records) clean(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for part := range slices.Chunk(r.keys, 500) {
		results, err := r.client.BatchDelete(ctx, nil, nil, part)
		if err != nil {
			return fmt.Errorf("records are left behind: %w", err)
		}
		for _, res := range results {
			if res.Err != nil && !errors.Is(res.Err, as.ErrKeyNotFound) {
				return fmt.Errorf("record %v is left behind: %w", res.Key, res.Err)
			}
		}
	}
	return nil
}
