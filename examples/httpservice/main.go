// Httpservice is a small service with Aerospike behind it, put together as one would in
// production: requests have lanes, the database has its own, a live page and metrics stand
// on an address for operators, SIGHUP reloads the limits from a file, SIGTERM ends it in
// order. Without -hosts the database is in this process, and -load makes trouble of a
// kind, for the page and the alerts to show.
//
//	curl -X PUT -d '{"name": "Ada"}' 127.0.0.1:8080/users/7
//	curl 127.0.0.1:8080/users/7
//	curl 127.0.0.1:8081/debug/spillway/   # or in a browser
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/nethttp"
	"github.com/spillway-go/spillway/debugz"
	"github.com/spillway-go/spillway/examples/internal/seeds"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/observe"
)

type options struct {
	addr, admin, settings, load string
	after, duration             time.Duration
	hosts                       []string
	policy                      *as.ClientPolicy // who we are there; nil: the default
}

func main() {
	var o options
	flag.StringVar(&o.addr, "addr", "127.0.0.1:8080", "where users are served")
	flag.StringVar(&o.admin, "admin", "127.0.0.1:8081", "where operators look: the live page and the metrics")
	var cluster seeds.Seeds
	cluster.Flags(flag.CommandLine)
	flag.StringVar(&o.settings, "settings", "", "a JSON file of settings for Client.Apply, read again at SIGHUP")
	flag.StringVar(&o.load, "load", "", "make load: quiet, tight (more callers than permits) or slow (a database ten times slower)")
	flag.DurationVar(&o.after, "after", 10*time.Second, "how long the load is quiet before the trouble begins")
	flag.DurationVar(&o.duration, "duration", 0, "end by itself after this time; 0: at SIGTERM")
	flag.Parse()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if flag.NArg() > 0 {
		log.Error("httpservice: unexpected argument", "argument", flag.Arg(0))
		os.Exit(2)
	}
	var err error
	o.hosts = cluster.Hosts()
	if o.policy, err = cluster.Policy(); err == nil {
		err = run(context.Background(), o, log)
	}
	if err != nil {
		log.Error("httpservice", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, log *slog.Logger) error {
	if o.after < 0 || o.duration < 0 {
		return fmt.Errorf("-after is %v, -duration is %v: must not be negative", o.after, o.duration)
	}
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP) // first of all: it ends a program that doesn't listen
	defer signal.Stop(hup)
	trouble, err := newTrouble(&o)
	if err != nil {
		return err
	}
	defer trouble.close()
	s, err := newService(ctx, o, log)
	if err != nil {
		return err
	}
	defer func() { _ = s.db.Close(context.WithoutCancel(ctx)) }() // if it doesn't come to an end in order
	if err := s.reload(o.settings); err != nil {
		return err
	}
	admin, err := s.operators(o.admin)
	if err != nil {
		return err
	}
	go s.reloads(ctx, hup, o.settings)

	listener, err := net.Listen("tcp", o.addr)
	if err != nil {
		return err
	}
	go trouble.make(ctx, "http://"+listener.Addr().String())
	log.Info("serving", "users", listener.Addr().String(), "operators", admin.Addr)
	cfg := nethttp.DefaultServeConfig(&http.Server{Handler: s.users(), ReadHeaderTimeout: 5 * time.Second})
	cfg.Listener, cfg.Readiness, cfg.Logger = listener, s.ready, log
	cfg.Shutdown.LameDuck = 100 * time.Millisecond // behind a balancer: as long as it takes to notice
	cfg.Shutdown.Drain = []lifecycle.Step{lifecycle.CloseStep("requests", s.lanes)}
	cfg.Shutdown.Close = []lifecycle.Step{
		lifecycle.CloseStep("database", s.db),
		{Name: "operators", Run: admin.Shutdown}, // last: the end can be watched
	}
	_, err = nethttp.Serve(ctx, cfg)
	return err
}

// service is the requests' lanes and the database.
type service struct {
	db    *aerospike.Client
	lanes *lane.Set[any]
	ready *nethttp.Readiness
	log   *slog.Logger
}

func newService(ctx context.Context, o options, log *slog.Logger) (*service, error) {
	cfg := aerospike.DefaultConfig(o.hosts...)
	cfg.ClientPolicy = o.policy
	cfg.Name, cfg.Logger = "users", log
	db, err := aerospike.New(cfg)
	if err != nil {
		return nil, err
	}
	lanes, err := lane.NewSet[any](lane.SetConfig{
		Name: "http", Default: "interactive",
		Lanes: []lane.Config{
			{Name: "interactive", Limit: 64, MaxWaiting: 64, MaxWait: 100 * time.Millisecond, Predict: true, Track: spillway.TrackSite},
			{Name: "bulk", Limit: 4},
		},
		Classes: map[spillway.Class]string{spillway.Bulk: "bulk"},
	})
	if err != nil {
		return nil, err
	}
	ready, err := nethttp.NewReadiness(nethttp.DefaultReadinessConfig(nethttp.Connected("database", db)))
	if err != nil {
		return nil, err
	}
	if err := db.Connect(ctx); err != nil {
		return nil, err
	}
	return &service{db: db, lanes: lanes, ready: ready, log: log}, nil
}

// operators serves the live page, the metrics and the probes, on an address of its own.
func (s *service) operators(addr string) (*http.Server, error) {
	page := debugz.Handler(observe.Set(s.lanes), s.db)
	mux := http.NewServeMux()
	mux.Handle("/debug/spillway/", page)
	mux.Handle("/metrics", page)
	mux.Handle("/livez", nethttp.Liveness())
	mux.Handle("/readyz", s.ready)
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Addr: listener.Addr().String(), Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return server, nil
}
