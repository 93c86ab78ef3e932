package nethttp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
	"github.com/spillway-go/spillway/lifecycle"
)

// ServeConfig are the settings of [Serve].
type ServeConfig struct {
	// Server is what serves. It must not be nil, and its ReadHeaderTimeout or ReadTimeout
	// must be positive, or slow callers could hold connections for ever. Serve puts a handler
	// of its own before its Handler, and it can't be used again.
	Server *http.Server
	// Listener is where it accepts connections; it is closed in the end. Nil, which a nil
	// pointer isn't, means that it listens at Server.Addr.
	Listener net.Listener
	// Readiness is retired first of all. Nil means that no balancer has to be told.
	Readiness *Readiness
	// Shutdown says how long the end may take, and what belongs to it besides the server.
	// Serve puts two steps before its own: "readiness" in the phase Unready, and "server" in
	// StopIntake, which waits for the requests under way. Guards' lanes and limiters belong
	// into Drain: hijacked connections that hold a permit are waited for there.
	Shutdown lifecycle.ShutdownConfig
	// Signals are those that begin the end. Another one during the end means hurry. Empty
	// means that the context alone begins it.
	Signals []os.Signal
	// Logger is told what ended it, and what became of each step. Nil means that nobody is.
	Logger *slog.Logger
}

// DefaultServeConfig returns the settings that fit a pod with a grace period of 30 s: 25 s
// for the whole end, of which the balancer has 6 s to find out; SIGTERM and an interrupt
// begin it.
func DefaultServeConfig(s *http.Server) ServeConfig {
	return ServeConfig{
		Server:   s,
		Shutdown: lifecycle.ShutdownConfig{Timeout: 25 * time.Second, LameDuck: 6 * time.Second},
		Signals:  []os.Signal{syscall.SIGTERM, os.Interrupt},
	}
}

func (c ServeConfig) validate() error {
	e := &spillway.ConfigError{Component: "http serve"}
	if c.Server == nil {
		e.Add("Server", nil, "must not be nil")
	} else if c.Server.ReadHeaderTimeout <= 0 && c.Server.ReadTimeout <= 0 {
		e.Add("Server.ReadHeaderTimeout", c.Server.ReadHeaderTimeout, "must be positive, or ReadTimeout: slow callers would hold connections for ever")
	}
	if c.Listener != nil && missing(c.Listener) {
		e.Add("Listener", nil, "must not be a nil pointer")
	}
	if _, err := lifecycle.NewShutdown(c.Shutdown); err != nil {
		e.Include("Shutdown.", err)
	}
	return e.Err()
}

// Serve serves until ctx ends, a signal comes or the server fails, and then ends in order
// and within Shutdown.Timeout: readiness says no, and answers ask for their connections to be
// closed; the balancer has LameDuck to find out; the server stops to accept, and the requests
// under way come to their end; then what Shutdown says is drained, flushed and closed.
// Connections that are still busy when the time of the step "server" is over are cut.
// Another signal during the end means hurry, unless it comes within 100 ms of the first: what
// is under way is cut, and each step left has 100 ms.
//
// It blocks until all that is done, and returns a report of the steps. The error is nil if
// the end was asked for and clean; otherwise it is that of the server or the listener, a
// *lifecycle.ShutdownError, or both. The steps are taken whatever it is, without LameDuck if
// nothing is served any more; only a *spillway.ConfigError means that nothing was begun.
func Serve(ctx context.Context, cfg ServeConfig) (lifecycle.ShutdownReport, error) {
	signals := make(chan os.Signal, 2)
	if len(cfg.Signals) > 0 {
		signal.Notify(signals, cfg.Signals...)
		defer signal.Stop(signals)
	}
	return serve(ctx, cfg, signals)
}

// serve is Serve with the signals of a channel.
func serve(ctx context.Context, cfg ServeConfig, signals <-chan os.Signal) (lifecycle.ShutdownReport, error) {
	if err := cfg.validate(); err != nil {
		return lifecycle.ShutdownReport{}, err
	}
	s := &serving{cfg: cfg, base: context.WithoutCancel(ctx), done: make(chan struct{})}
	err := s.start()
	if err == nil {
		err = s.wait(ctx, signals)
	}
	report, stopErr := s.stop(signals, err != nil)
	return report, errors.Join(err, stopErr)
}

// serving is a server between its start and its end.
type serving struct {
	cfg     ServeConfig
	base    context.Context // Serve's, without its end
	err     error           // what ended Server.Serve; set before done is closed
	done    chan struct{}   // closed when Server.Serve has returned
	started bool
	lame    atomic.Bool // whether connections are to be closed
}

// start begins to serve.
func (s *serving) start() error {
	l, srv := s.cfg.Listener, s.cfg.Server
	if l == nil {
		addr := srv.Addr
		if addr == "" {
			addr = ":http"
		}
		var err error
		if l, err = new(net.ListenConfig).Listen(s.base, "tcp", addr); err != nil {
			return fmt.Errorf("nethttp: %w", err)
		}
	}
	srv.Handler = s.parting(srv.Handler)
	s.started = true
	s.log(slog.LevelInfo, "nethttp: serving", slog.String("addr", fmt.Sprint(l.Addr())))
	go func() {
		defer close(s.done)
		s.err = serveOn(srv, l)
	}()
	return nil
}

// serveOn serves with TLS if the server has certificates. A listener of somebody else's that
// panics ends it as one that fails.
func serveOn(srv *http.Server, l net.Listener) (err error) {
	returned := false
	defer func() {
		if !returned { // a panic, or runtime.Goexit
			err = &spillway.PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	err = serveAny(srv, l)
	returned = true
	return err
}

func serveAny(srv *http.Server, l net.Listener) error {
	if c := srv.TLSConfig; c != nil && (len(c.Certificates) > 0 || c.GetCertificate != nil || c.GetConfigForClient != nil) {
		return srv.ServeTLS(l, "", "")
	}
	return srv.Serve(l)
}

// parting has answers ask for their connections to be closed once the end has begun:
// clients then leave one request after the other, and don't find theirs closed under them.
func (s *serving) parting(next http.Handler) http.Handler {
	if next == nil {
		next = http.DefaultServeMux
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.lame.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// wait returns when the end begins: nil if it was asked for.
func (s *serving) wait(ctx context.Context, signals <-chan os.Signal) error {
	select {
	case <-ctx.Done():
		s.log(slog.LevelInfo, "nethttp: ending", slog.Any("why", cause.Of(ctx)))
	case sig := <-signals:
		s.log(slog.LevelInfo, "nethttp: ending", slog.String("why", sig.String()))
	case <-s.done:
		s.log(slog.LevelError, "nethttp: ending", slog.Any("why", s.err))
		return fmt.Errorf("nethttp: %w", s.err)
	}
	return nil
}

// stop takes the steps of the shutdown.
func (s *serving) stop(signals <-chan os.Signal, failed bool) (lifecycle.ShutdownReport, error) {
	shutdown, err := lifecycle.NewShutdown(s.steps(failed))
	if err != nil {
		return lifecycle.ShutdownReport{}, err
	}
	run, hurry := context.WithCancelCause(s.base)
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		if sig := another(signals, over); sig != nil {
			s.log(slog.LevelWarn, "nethttp: hurrying", slog.String("why", sig.String()))
			hurry(fmt.Errorf("nethttp: hurried by a second signal: %v", sig))
		}
	}()
	report, err := shutdown.Run(run)
	close(over)
	<-watched
	hurry(nil)
	err = errors.Join(err, s.awaitServer())
	s.report(report, err)
	return report, err
}

// sameSignal is how soon after the beginning of the end a signal counts as the one that
// began it. One keypress or one order to stop often arrives twice: forwarded by a wrapper, or
// as a signal and as the end of a context that listens to it, too.
const sameSignal = 100 * time.Millisecond

// another returns the next signal that is a further one, or nil if it is over before.
func another(signals <-chan os.Signal, over <-chan struct{}) os.Signal {
	began := time.Now()
	for {
		select {
		case sig := <-signals:
			if time.Since(began) >= sameSignal {
				return sig
			}
		case <-over:
			return nil
		}
	}
}

// awaitServer returns when the server's goroutine has ended, which it does at once unless
// its listener goes on accepting after its close.
func (s *serving) awaitServer() error {
	if !s.started {
		return nil
	}
	timer := time.NewTimer(100 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-s.done:
		return nil
	case <-timer.C:
		return fmt.Errorf("nethttp: the listener was closed and goes on: %w", lifecycle.ErrStepRunning)
	}
}

// steps are those of the configuration behind our own.
func (s *serving) steps(failed bool) lifecycle.ShutdownConfig {
	c := s.cfg.Shutdown
	if failed {
		c.LameDuck = 0
	}
	c.Unready = slices.Concat([]lifecycle.Step{{Name: "readiness", Run: s.retire}}, c.Unready)
	c.StopIntake = slices.Concat([]lifecycle.Step{{Name: "server", Run: s.closeServer}}, c.StopIntake)
	return c
}

func (s *serving) retire(context.Context) error {
	s.lame.Store(true)
	if s.cfg.Readiness != nil {
		s.cfg.Readiness.Retire()
	}
	return nil
}

// closeServer waits for the requests under way, and cuts those that take too long.
func (s *serving) closeServer(ctx context.Context) error {
	if !s.started {
		return nil
	}
	err := s.cfg.Server.Shutdown(ctx)
	if err != nil {
		return errors.Join(err, s.cfg.Server.Close())
	}
	return nil
}

// report logs what became of the steps.
func (s *serving) report(r lifecycle.ShutdownReport, err error) {
	for _, step := range r.Steps {
		level := slog.LevelInfo
		if step.Err != nil {
			level = slog.LevelError
		}
		s.log(level, "nethttp: step", slog.String("phase", step.Phase), slog.String("step", step.Name),
			slog.Duration("took", step.Took), slog.Duration("limit", step.Limit), slog.Bool("cut", step.Cut), slog.Any("error", step.Err))
	}
	if err != nil {
		s.log(slog.LevelError, "nethttp: ended", slog.Duration("took", r.Took), slog.Any("error", err))
		return
	}
	s.log(slog.LevelInfo, "nethttp: ended", slog.Duration("took", r.Took))
}

// log tells the logger, whose handler is somebody else's: it must not keep the end from coming.
func (s *serving) log(level slog.Level, msg string, attrs ...slog.Attr) {
	if s.cfg.Logger != nil {
		defer func() { _ = recover() }()
		s.cfg.Logger.LogAttrs(s.base, level, msg, attrs...)
	}
}
