package watch

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// Watcher looks after guards: it takes snapshots of them, judges, and logs what changes.
// All its methods are safe for concurrent use. The zero Watcher watches nothing and logs
// nothing; make one with [New]. It has no goroutine unless [Watcher.Start] is called.
type Watcher struct {
	cfg Config

	// subjects is never changed, only replaced, under mu: a refusal takes no lock.
	subjects atomic.Pointer[map[identity]*subject]
	unknown  gate // for refusals of guards that weren't added

	mu      sync.Mutex // guards what follows, and what is replaced
	cancel  context.CancelFunc
	ending  <-chan struct{} // closed when the newest goroutine has been told to end
	stopped chan struct{}   // closed when it, and all before it, have ended; nil if there was none
	closed  bool

	rounds sync.Mutex // held by the one who looks; only ever tried, never waited for
}

// identity names a guard.
type identity struct{ component, name string }

// subject is a guard that is watched.
type subject struct {
	source   Source
	refusals gate
	panics   gate
	verdict  atomic.Pointer[Verdict] // the newest; never nil

	// What follows is guarded by the watcher's rounds.
	history History
	told    time.Time // when the verdict was logged last
}

// New returns a watcher of nothing. A wrong configuration gives a *spillway.ConfigError
// that lists every fault.
func New(cfg Config) (*Watcher, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	w := &Watcher{cfg: cfg}
	w.subjects.Store(&map[identity]*subject{})
	return w, nil
}

// Add has guards watched from now on, each under its component and name: another one of
// the same name takes its place. The returned function ends it for these, and may be
// called more than once. A source that panics, or is nil, isn't added.
func (w *Watcher) Add(sources ...Source) (remove func()) {
	if w.subjects.Load() == nil {
		return func() {}
	}
	added := map[identity]*subject{}
	for _, src := range sources {
		s := &subject{source: src}
		if first, err := s.sample(0); err == nil {
			s.history.Judge(first, first, w.cfg.Thresholds) // where it begins
			s.verdict.Store(&Verdict{Idle, "not judged yet"})
			added[identity{first.Component, first.Name}] = s
		}
	}
	w.change(func(all map[identity]*subject) { maps.Copy(all, added) })
	return func() {
		w.change(func(all map[identity]*subject) {
			maps.DeleteFunc(all, func(id identity, s *subject) bool { return added[id] == s })
		})
	}
}

func (w *Watcher) change(f func(map[identity]*subject)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := maps.Clone(*w.subjects.Load())
	f(all)
	w.subjects.Store(&all)
}

// Start takes snapshots every Config.Interval on a goroutine of its own, until Close is
// called or ctx ends; ctx goes to the logger. It does nothing if that is running already,
// or after Close. After ctx has ended it may be called again.
func (w *Watcher) Start(ctx context.Context) {
	if w.subjects.Load() == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.stopped
	if w.closed || before != nil && !isClosed(w.ending) {
		return
	}
	ctx, w.cancel = context.WithCancel(ctx)
	stopped := make(chan struct{})
	w.ending, w.stopped = ctx.Done(), stopped
	go func() {
		if before != nil {
			<-before // it has been told to end, and may be in its last look
		}
		w.run(ctx, stopped)
	}()
}

// run looks at every interval until ctx is done. A source or a handler that ends the
// goroutine gets another one.
func (w *Watcher) run(ctx context.Context, stopped chan struct{}) {
	defer func() {
		if ctx.Err() == nil {
			go w.run(ctx, stopped)
			return
		}
		close(stopped)
	}()
	ticker := time.NewTicker(w.cfg.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.Look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Close ends the goroutine of Start and waits for it, as long as ctx lets it; then it
// returns the context's cause. Without a goroutine there is nothing to do. Hooks and
// traces go on working. It may be called any number of times; a log handler or a source
// that calls it waits for itself, until ctx ends.
func (w *Watcher) Close(ctx context.Context) error {
	w.mu.Lock()
	w.closed = true
	stopped, cancel := w.stopped, w.cancel
	w.mu.Unlock()
	if stopped == nil {
		return nil
	}
	cancel()
	select {
	case <-stopped:
		return nil
	case <-ctx.Done():
		return cause.Of(ctx)
	}
}

// Look takes a snapshot of every guard, compares it with the one before, and logs what
// has changed, or needs somebody and was logged Config.Every ago: for those who have a
// ticker of their own. Stuck is logged as an error, LimitTight, BackendSlow and Leaking as
// warnings, the return to Busy or Idle as information, and the change between those two
// for debugging. While somebody else looks it does nothing. Without a baseline in the
// thresholds it is the median of the hold times of all windows that were judged Busy or
// Idle.
func (w *Watcher) Look(ctx context.Context) {
	all := w.subjects.Load()
	if all == nil || !w.rounds.TryLock() {
		return
	}
	defer w.rounds.Unlock()
	for id, s := range *all {
		w.look(ctx, id, s)
	}
}

func (w *Watcher) look(ctx context.Context, id identity, s *subject) {
	now, err := s.sample(w.cfg.Holders)
	if err != nil {
		if left, ok := s.panics.pass(time.Now(), w.cfg.Every); ok {
			w.log(ctx, slog.LevelError, "watch: source failed", id, slog.Any("error", err), slog.Uint64("suppressed", left))
		}
		return
	}
	v := s.history.Judge(Sample{}, now, w.cfg.Thresholds)
	before := s.verdict.Swap(&v).Kind
	if v.Kind == before && (v.Kind <= Busy || now.At.Sub(s.told) < w.cfg.Every) {
		return
	}
	s.told = now.At
	level := v.Kind.level()
	if v.Kind <= Busy && before <= Busy {
		level = slog.LevelDebug
	}
	w.log(ctx, level, "watch: "+v.Kind.String(), id, append(facts(now),
		slog.String("reason", v.Reason), slog.String("before", before.String()), holders(now.Holders))...)
}

// level is how loud a verdict is.
func (k Kind) level() slog.Level {
	switch k {
	case Idle, Busy:
		return slog.LevelInfo
	case LimitTight, BackendSlow, Leaking:
		return slog.LevelWarn
	default:
		return slog.LevelError
	}
}

// Verdict returns the newest verdict on a guard, and whether it is watched.
func (w *Watcher) Verdict(component, name string) (Verdict, bool) {
	if all := w.subjects.Load(); all != nil {
		if s := (*all)[identity{component, name}]; s != nil {
			return *s.verdict.Load(), true
		}
	}
	return Verdict{}, false
}

// sample takes a snapshot with the n oldest holders. A panic of the source is an error.
func (s *subject) sample(n int) (now Sample, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("watch: source panicked: %v", v)
		}
	}()
	now = s.source.Sample()
	if n > 0 {
		now = now.WithHolders(s.source.Holders(), n)
	}
	return now, nil
}

func (w *Watcher) log(ctx context.Context, level slog.Level, msg string, id identity, attrs ...slog.Attr) {
	defer func() { _ = recover() }() // a handler's fault is not the guard's
	w.cfg.Logger.LogAttrs(ctx, level, msg, append([]slog.Attr{
		slog.String("component", id.component), slog.String("name", id.name),
	}, attrs...)...)
}

// facts are the numbers of a snapshot.
func facts(s Sample) []slog.Attr {
	return []slog.Attr{
		slog.Int("available", s.available()), slog.Int("in_use", s.InUse), slog.Int("waiting", s.Waiting),
		slog.Duration("oldest_wait", s.OldestWait),
	}
}

// holders are the oldest holders as one attribute: a group with a member for each.
func holders(hs []spillway.Holder) slog.Attr {
	all := make([]any, 0, len(hs))
	for i, h := range hs {
		about := []any{slog.Duration("age", h.Age), slog.String("site", h.Site), slog.Int("weight", h.Weight)}
		if h.Class != "" {
			about = append(about, slog.String("class", string(h.Class)))
		}
		if h.Stack != "" {
			about = append(about, slog.String("stack", h.Stack))
		}
		all = append(all, slog.Group(fmt.Sprint(i), about...))
	}
	return slog.Group("holders", all...) // an empty group isn't printed
}
