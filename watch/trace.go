package watch

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/callsite"
)

// Acquirer is somebody who asked for a permit.
type Acquirer struct {
	Site   string         // function, file and line that asked
	Class  spillway.Class // the class its context carried; empty if none
	At     time.Time      // when it asked
	Waited time.Duration  // how long it took until it was let in, or turned away
	Err    error          // why it was turned away; nil if it was let in
}

// Trace follows who asks a guard for permits: it logs "acquiring" and "acquired" for
// debugging, with how many permits are free, at most Config.TraceRate lines a second, and
// keeps the last Config.Ring who asked. It costs a stack walk and some allocations a call
// if there is a ring or the logger is at debug level, and next to nothing otherwise: turn
// the level on when you need it. All its methods are safe for concurrent use. The zero
// Trace, and one of a zero Watcher, follow nobody.
type Trace struct {
	w      *Watcher
	source Source
	id     identity
	size   int // of the ring

	mu     sync.Mutex // guards what follows
	ring   []asked
	next   int    // where the next one goes
	second int64  // the second that lines are counted in
	lines  int    // lines in this second
	left   uint64 // lines left out since the last
}

// asked is an Acquirer that isn't readable yet.
type asked struct {
	Acquirer
	pcs []uintptr
}

// Trace returns a trace for calls of one guard. It need not be added to the watcher.
func (w *Watcher) Trace(src Source) *Trace {
	t := &Trace{w: w, source: src}
	s := subject{source: src}
	if first, err := s.sample(0); err == nil && w.cfg.Logger != nil {
		t.id = identity{first.Component, first.Name}
		t.size = w.cfg.Ring
	} else {
		t.w = nil
	}
	return t
}

// Admission gives out permits: a limiter, a lane, or one of your own.
type Admission interface {
	Admit(ctx context.Context) (spillway.Permit, error)
}

// Admission returns a, followed by the trace.
func (t *Trace) Admission(a Admission) Admission { return traced{t, a} }

type traced struct {
	trace *Trace
	Admission
}

// Admit implements Admission.
func (a traced) Admit(ctx context.Context) (spillway.Permit, error) {
	if !a.trace.on(ctx) {
		return a.Admission.Admit(ctx)
	}
	c := a.trace.begin(ctx)
	p, err := a.Admission.Admit(ctx)
	c.decided(ctx, err)
	return p, err
}

// callKey finds the call in the context of the guarded operation.
type callKey struct{ t *Trace }

// Traced returns guard (the Wrap method of a limiter or a lane), followed by the trace. It
// panics if guard is nil.
func Traced[T any](t *Trace, guard spillway.Decorator[T]) spillway.Decorator[T] {
	if guard == nil {
		panic("watch: Traced: guard is nil")
	}
	return func(op spillway.Op[T]) spillway.Op[T] {
		guarded := guard(func(ctx context.Context) (T, error) {
			if c, ok := ctx.Value(callKey{t}).(*call); ok {
				c.decided(ctx, nil)
			}
			return op(ctx)
		})
		return func(ctx context.Context) (T, error) {
			if !t.on(ctx) {
				return guarded(ctx)
			}
			c := t.begin(ctx)
			v, err := guarded(context.WithValue(ctx, callKey{t}, c))
			if err != nil {
				c.decided(ctx, err)
			}
			return v, err
		}
	}
}

// on reports whether anything is to be done for a call.
func (t *Trace) on(ctx context.Context) bool {
	return t != nil && t.w != nil && (t.size > 0 || t.debug(ctx))
}

func (t *Trace) debug(ctx context.Context) bool {
	return t.w.cfg.TraceRate > 0 && t.w.cfg.Logger.Enabled(ctx, slog.LevelDebug)
}

// call is one call that is followed.
type call struct {
	trace *Trace
	who   asked
	once  sync.Once
}

func (t *Trace) begin(ctx context.Context) *call {
	c := &call{trace: t, who: asked{pcs: make([]uintptr, 16)}}
	c.who.pcs = c.who.pcs[:runtime.Callers(3, c.who.pcs)]
	c.who.At = time.Now()
	c.who.Class, _ = spillway.ClassFrom(ctx)
	t.log(ctx, "watch: acquiring")
	return c
}

// decided notes that a call was let in, or why not. Only the first time counts: the error
// of an operation that was let in is its own.
func (c *call) decided(ctx context.Context, err error) {
	c.once.Do(func() {
		c.who.Waited, c.who.Err = time.Since(c.who.At), err
		c.trace.keep(c.who)
		if err != nil {
			c.trace.log(ctx, "watch: not acquired", slog.Duration("waited", c.who.Waited), slog.String("error", fmt.Sprint(err))) // which survives its methods
			return
		}
		c.trace.log(ctx, "watch: acquired", slog.Duration("waited", c.who.Waited))
	})
}

func (t *Trace) keep(a asked) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.size == 0:
	case len(t.ring) < t.size:
		t.ring = append(t.ring, a)
	default:
		t.ring[t.next] = a
		t.next = (t.next + 1) % len(t.ring)
	}
}

// log writes a line for debugging, if one may be written now.
func (t *Trace) log(ctx context.Context, msg string, attrs ...slog.Attr) {
	if !t.debug(ctx) {
		return
	}
	left, ok := t.pass(time.Now().Unix())
	if !ok {
		return
	}
	if left > 0 {
		attrs = append(attrs, slog.Uint64("suppressed", left))
	}
	s := subject{source: t.source}
	if now, err := s.sample(0); err == nil {
		attrs = append(attrs, facts(now)...)
	}
	if class, ok := spillway.ClassFrom(ctx); ok {
		attrs = append(attrs, slog.String("class", string(class)))
	}
	t.w.log(ctx, slog.LevelDebug, msg, t.id, attrs...)
}

// pass reports whether another line may be written in this second.
func (t *Trace) pass(second int64) (left uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if second != t.second {
		t.second, t.lines = second, 0
	}
	if t.lines >= t.w.cfg.TraceRate {
		t.left++
		return 0, false
	}
	t.lines++
	left, t.left = t.left, 0
	return left, true
}

// Last returns the last who asked and were answered, the newest first.
func (t *Trace) Last() []Acquirer {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	ring := append(append([]asked(nil), t.ring[t.next:]...), t.ring[:t.next]...)
	t.mu.Unlock()
	all := make([]Acquirer, 0, len(ring))
	for _, a := range slices.Backward(ring) {
		a.Site = callsite.Of(a.pcs)
		all = append(all, a.Acquirer)
	}
	return all
}
