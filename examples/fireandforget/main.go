// Fireandforget writes audit records that no request waits for: a bounded queue and a few
// writers, a sink that is told of every record that is lost, and a shutdown that writes
// what it can within a bound and reports the rest. Everything runs in this process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/deadline"
)

func main() {
	flag.Parse() // there are none, but -h
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "fireandforget: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fireandforget:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	server, err := aerospiketest.Start(aerospiketest.Config{})
	if err != nil {
		return err
	}
	defer server.Close()
	client, err := aerospike.New(aerospike.DefaultConfig(server.Hosts()...))
	if err != nil {
		return err
	}
	if err := client.Connect(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()

	var lost atomic.Int64
	cfg := aerospike.DefaultBackgroundConfig()
	cfg.Workers, cfg.Queue = 4, 100
	cfg.Failed = func(_ context.Context, f deadline.Failure) {
		lost.Add(int64(f.Items)) // and to a log or a file, where losing isn't allowed
	}
	audit, err := client.Background(cfg)
	if err != nil {
		return err
	}
	accepted, refused := flood(ctx, audit, 1000)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second) // a bound of its own
	defer cancel()
	closed := audit.Close(end)
	st := audit.Stats()
	fmt.Printf("of 1000 records %d were taken into the queue and %d refused at once\n", accepted, refused)
	fmt.Printf("written %d, lost after they were taken %d\n", st.Ended.Of(spillway.OutcomeOK), lost.Load())
	if uint64(accepted) != st.Ended.Of(spillway.OutcomeOK)+uint64(lost.Load()) {
		closed = errors.Join(closed, errors.New("a record is neither written nor lost"))
	}
	return closed
}

// flood hands in n records as fast as it can. A full queue says so at once: here the
// record is dropped, and counted; a request would go on all the same.
func flood(ctx context.Context, audit *aerospike.Background, n int) (accepted, refused int) {
	for i := range n {
		key, bad := as.NewKey("test", "audit", i)
		if bad != nil {
			continue
		}
		err := audit.Put(ctx, nil, key, as.BinMap{"event": "login", "at": time.Now().UnixMilli()})
		switch {
		case err == nil:
			accepted++
		case errors.Is(err, spillway.ErrBackpressure):
			refused++
		}
	}
	return accepted, refused
}
