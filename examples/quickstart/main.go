// Quickstart shows what Spillway is for, on this machine, in half a minute: it
// starts an Aerospike server in this process (or uses a real one, with -hosts),
// writes, reads and scans through the guarded client, and then lets more and more
// callers loose on the server, first with the bare driver and then through Spillway
// with its default configuration. From a real cluster the records are deleted at the end.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/examples/internal/seeds"
)

const (
	namespace = "test"
	setName   = "spillway-quickstart"
	records   = 1000
)

type options struct {
	hosts    []string
	policy   *as.ClientPolicy // who we are there; nil: the default
	duration time.Duration
	callers  []int
	limit    int
	json     bool
}

func main() {
	opts, err := parse(os.Args[1:])
	if err == nil {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		err = run(ctx, opts)
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("quickstart", flag.ExitOnError)
	var cluster seeds.Seeds
	cluster.Flags(flags)
	callers := flags.String("callers", "16,256,1024,4096", "numbers of concurrent callers, by commas")
	flags.DurationVar(&o.duration, "duration", 2*time.Second, "how long each number of callers runs")
	flags.IntVar(&o.limit, "limit", 0, "permits per node; 0: Spillway's default")
	flags.BoolVar(&o.json, "json", false, "print the results as JSON instead of a table")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 { // the flags behind it weren't read
		return o, fmt.Errorf("unexpected argument %q: parts of a list have a comma between them, and no space", flags.Arg(0))
	}
	if o.duration <= 0 {
		return o, fmt.Errorf("-duration is %v: must be positive", o.duration)
	}
	o.hosts = cluster.Hosts()
	var err error
	if o.policy, err = cluster.Policy(); err != nil {
		return o, err
	}
	for text := range strings.SplitSeq(*callers, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 || n > 100_000 {
			return o, fmt.Errorf("-callers has %q: must be numbers from 1 to 100000", text)
		}
		o.callers = append(o.callers, n)
	}
	return o, nil
}

func run(ctx context.Context, o options) (err error) {
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	if o.hosts == nil {
		server, err := aerospiketest.Start(aerospiketest.Config{})
		if err != nil {
			return err
		}
		defer server.Close()
		o.hosts = server.Hosts()
		say("Started an Aerospike server in this process, at %s.", server.Addr())
	}
	cfg := aerospike.DefaultConfig(o.hosts...)
	cfg.Limit, cfg.ClientPolicy = o.limit, o.policy
	keys, err := makeKeys()
	if err != nil {
		return err
	}
	wrote := false
	defer func() {
		if wrote {
			err = errors.Join(err, clean(context.WithoutCancel(ctx), cfg, keys))
		}
	}()
	if err := tour(ctx, cfg, keys, &wrote, say); err != nil {
		return err
	}
	var results []result
	for _, n := range o.callers {
		for _, guarded := range []bool{false, true} {
			say("%5d callers, %s, %v …", n, sideName(guarded), o.duration)
			r, err := measure(ctx, cfg, keys, n, guarded, o.duration)
			if err != nil {
				return err
			}
			results = append(results, r)
		}
	}
	if o.json {
		return json.NewEncoder(os.Stdout).Encode(results)
	}
	return report(os.Stdout, results)
}

// tour does what a first program would: it writes, reads and scans. wrote says whether
// there is something to delete.
func tour(ctx context.Context, cfg aerospike.Config, keys []*as.Key, wrote *bool, say func(string, ...any)) (err error) {
	client, err := aerospike.New(cfg)
	if err != nil {
		return err
	}
	if err := client.Connect(ctx); err != nil {
		return err
	}
	defer func() {
		if cerr := client.Close(context.WithoutCancel(ctx)); err == nil {
			err = cerr
		}
	}()
	for i, key := range keys {
		if err := client.Put(ctx, nil, key, as.BinMap{"n": i, "name": fmt.Sprint("record ", i)}); err != nil {
			return err
		}
		*wrote = true
	}
	record, err := client.Get(ctx, nil, keys[7])
	if err != nil {
		return err
	}
	stream, err := client.ScanAll(ctx, nil, namespace, setName, "n")
	if err != nil {
		return err
	}
	scanned := 0
	for _, err := range stream.All() {
		if err != nil {
			return err
		}
		scanned++
	}
	say("Wrote %d records, read one back (%v), scanned %d.", len(keys), record.Bins["name"], scanned)
	return nil
}

// clean deletes the records, by a client of its own, for nothing else may be connected
// when a run ends before its time.
func clean(ctx context.Context, cfg aerospike.Config, keys []*as.Key) error {
	client, err := aerospike.New(cfg)
	if err != nil {
		return err
	}
	if err = client.Connect(ctx); err == nil {
		var records []*as.BatchRecord
		records, err = client.BatchDelete(ctx, nil, nil, keys)
		for _, r := range records {
			if err == nil && r.ResultCode != types.KEY_NOT_FOUND_ERROR {
				err = r.Err
			}
		}
		err = errors.Join(err, client.Close(ctx))
	}
	if err != nil {
		return fmt.Errorf("records are left behind in %s.%s: %w", namespace, setName, err)
	}
	return nil
}

func makeKeys() ([]*as.Key, error) {
	keys := make([]*as.Key, records)
	for i := range keys {
		key, err := as.NewKey(namespace, setName, i)
		if err != nil {
			return nil, err
		}
		keys[i] = key
	}
	return keys, nil
}
