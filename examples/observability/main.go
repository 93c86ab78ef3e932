// Observability shows Spillway in OpenTelemetry: every metric of the components and the
// metrics and spans of every database call, either scraped by Prometheus (-exporter
// prometheus) or sent to a collector (-exporter otlp, with the usual OTEL_EXPORTER_OTLP_…
// variables). The database is in this process, and so is the load.
//
//	go run ./examples/observability &
//	curl 127.0.0.1:9464/metrics
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.opentelemetry.io/otel"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/otelx"
	"github.com/spillway-go/spillway/retry"
)

func main() {
	exporter := flag.String("exporter", "prometheus", "prometheus: to be scraped at -addr; otlp: to a collector")
	addr := flag.String("addr", "127.0.0.1:9464", "where Prometheus scrapes")
	duration := flag.Duration("duration", 0, "end by itself after this time; 0: at SIGTERM")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "observability: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	if *duration < 0 {
		fmt.Fprintf(os.Stderr, "observability: -duration is %v: must not be negative\n", *duration)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if *duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *duration)
		defer cancel()
	}
	err := run(ctx, *exporter, *addr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "observability:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, exporter, addr string) (err error) {
	// 1. OpenTelemetry, as in any program: see providers.go.
	metrics, shutdown, err := providers(ctx, exporter)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ending(ctx, shutdown)) }()
	if metrics != nil {
		server, err := listen(addr, metrics)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, server.Close()) }()
	}

	// 2. One instrumentation, of the global providers.
	telemetry, err := otelx.New()
	if err != nil {
		return err
	}

	// 3. The components: an observer sees each call of the client, hooks see what waits.
	database, err := aerospiketest.Start(aerospiketest.Config{
		Capacity: aerospiketest.Capacity{Parallel: 16, ServiceTime: 2 * time.Millisecond, Queue: 1000},
	})
	if err != nil {
		return err
	}
	defer database.Close()
	cfg := aerospike.DefaultConfig(database.Hosts()...)
	cfg.Name, cfg.Observer = "users", telemetry.Observer()
	db, err := aerospike.New(cfg)
	if err != nil {
		return err
	}
	defer db.OnTransition(telemetry.Transitions("users"))()
	jobs, err := deadline.New[int](deadline.Config{
		Name: "mails", Workers: 4, Queue: 16, TTL: 50 * time.Millisecond, Hooks: []deadline.Hooks{telemetry.ExecutorHooks("mails")},
	})
	if err != nil {
		return err
	}
	budget, err := retry.NewBudget(retry.DefaultBudgetConfig())
	if err != nil {
		return err
	}
	policy := retry.ReadPolicy()
	policy.Name, policy.Budget, policy.Hooks = "mails", budget, []retry.Hooks{telemetry.RetryHooks()}
	again, err := retry.New[int](policy)
	if err != nil {
		return err
	}

	// 4. What is read from them at every collection, and costs their calls nothing.
	registered, err := telemetry.Register(db, observe.Executor(jobs), observe.Retrier(again), observe.Budget("mails", budget))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, registered.Unregister()) }()

	if err := db.Connect(ctx); err != nil {
		return err
	}
	load(ctx, otel.Tracer("examples/observability"), db, jobs, again)
	return ending(ctx, func(ctx context.Context) error { return errors.Join(jobs.Close(ctx), db.Close(ctx)) })
}

// ending does what is to be done when ctx is over, for a while: a collector that doesn't
// answer keeps no program from ending.
func ending(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return f(ctx)
}

// listen serves the metrics until it is closed.
func listen(addr string, metrics http.Handler) (*http.Server, error) {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	fmt.Fprintf(os.Stderr, "metrics at http://%s/metrics\n", listener.Addr())
	return server, nil
}
