//go:build go1.25

package permit_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
	"github.com/spillway-go/spillway/internal/permit/permittest"
)

// pair is a core and its model, and what the calls of both got.
type pair struct {
	t       *testing.T
	core    *permit.Core
	model   *permittest.Model
	opts    permit.Options
	calls   int
	waiting map[int]*waiter // by the number of the call
	held    []hold
	old     []spillway.Permit // released already
	closing *waiter
	told    atomic.Uint64 // refusals and waits that the hooks were told of
	warned  []permittest.Hold
	seen    seen
}

// hold is what a call got, as a permit or as the use it was.
type hold struct {
	permit spillway.Permit
	use    permit.Use
	raw    bool // whether it is a use still
	answer permittest.Answer
}

func newPair(t *testing.T, opts permit.Options) *pair {
	p := &pair{t: t, waiting: map[int]*waiter{}}
	opts.Component, opts.Name, opts.Sample = "core", "test", 1
	opts.Hooks = []permit.Hooks{{
		Rejected: func(context.Context, *spillway.Rejection) { p.told.Add(1) },
		Waited:   func(context.Context, time.Duration, error) { p.told.Add(1) },
		HeldLong: func(h spillway.Holder) { p.warned = append(p.warned, permittest.Hold{Weight: h.Weight, Since: h.Age}) },
	}}
	p.opts, p.core, p.model = opts, permit.New(opts), permittest.New(opts)
	return p
}

// enter is a call that doesn't wait.
func (p *pair) enter(n int, raw bool) {
	u, err := p.core.Enter(p.t.Context(), n)
	want, _ := p.model.Call(0, n, 0, 0)
	p.answered(u, err, want, raw)
}

// lend is a call of somebody else's.
func (p *pair) lend(n, keep int) {
	require.Equal(p.t, p.model.Full(n), p.core.Full(n), "full")
	u, ok := p.core.Lend(p.t.Context(), n, keep)
	want, wantOK := p.model.Lend(n, keep)
	require.Equal(p.t, wantOK, ok, "lent")
	if ok {
		p.seen.lent++
		p.answered(u, nil, want, true)
	}
}

// wait is a call that may wait, for no longer than d, if that isn't 0.
func (p *pair) wait(n int, d time.Duration) {
	p.calls++
	var deadline time.Duration
	ctx, cancel := context.WithCancelCause(context.Background())
	if d > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, d)
		context.AfterFunc(ctx, stop)
		deadline = p.model.Now() + d
	}
	w := waitWith(ctx, cancel, p.core, n, p.opts.Room)
	want, waits := p.model.Call(p.calls, n, p.opts.Room, deadline)
	if waits {
		p.waiting[p.calls] = w
		return
	}
	require.True(p.t, w.done(), "still waits; the model says %v", want)
	p.answered(w.use, w.err, want, false)
	cancel(nil)
}

// answered compares an answer with the model's and keeps what it holds.
func (p *pair) answered(u permit.Use, err error, want permittest.Answer, raw bool) {
	p.t.Helper()
	require.Equal(p.t, want.Text, permittest.TextOf(err))
	var r *spillway.Rejection
	if errors.As(err, &r) {
		require.Equal(p.t, want.Rejection, *r)
		if r.RetryAfter > max(p.opts.RetryAfter, p.model.Stats().Pace) {
			p.seen.hints++
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		p.seen.deadlines++
	}
	require.Equal(p.t, want.Hold != nil, u != permit.Use{}, "whether it is counted")
	if want.Hold == nil {
		return
	}
	h := hold{use: u, raw: raw, answer: want}
	if !raw {
		h.permit = p.core.Own(u)
	}
	p.held = append(p.held, h)
}

// take takes one of the holds out of the list.
func (p *pair) take(arg int) (h hold, ok bool) {
	if len(p.held) == 0 {
		return h, false
	}
	at := arg % len(p.held)
	h = p.held[at]
	p.held = append(p.held[:at], p.held[at+1:]...)
	return h, true
}

// release ends a hold; d leaves it to a ghost.
func (p *pair) release(arg int, o spillway.Outcome, d time.Duration) {
	h, ok := p.take(arg)
	switch {
	case !ok:
		return
	case h.raw && d == 0:
		p.core.Leave(h.use, o)
	case h.raw:
		p.core.Own(h.use).ReleaseAfter(d)
	case d > 0:
		h.permit.ReleaseAfter(d)
	default:
		h.permit.ReleaseWith(o)
	}
	p.old = append(p.old, h.permit)
	if d > 0 {
		o = spillway.OutcomeTimeout
	}
	p.model.End(h.answer, o, d)
}

// abort ends a hold as a panic would.
func (p *pair) abort(arg int) {
	h, ok := p.take(arg)
	switch {
	case !ok:
	case h.raw:
		p.core.Abort(h.use)
		p.model.Abort(h.answer)
	default:
		p.held = append(p.held, h)
	}
}

func (p *pair) cancel(id int) {
	if p.model.Cancel(id) {
		p.waiting[id].cancel(context.Canceled)
	}
}

func (p *pair) setLimit(n int) {
	require.NoError(p.t, p.core.SetLimit(n))
	p.model.SetLimit(n)
}

func (p *pair) setMode(m spillway.Mode) {
	require.NoError(p.t, p.core.SetMode(m))
	p.model.SetMode(m)
}

func (p *pair) setPace(gap time.Duration) {
	require.NoError(p.t, p.core.SetPace(gap))
	p.model.SetPace(gap)
}

func (p *pair) setMaxWeight(n int) {
	require.NoError(p.t, p.core.SetMaxWeight(n))
	p.model.SetMaxWeight(n)
}

func (p *pair) advance(d time.Duration) {
	time.Sleep(d)
	p.model.Advance(d)
}

func (p *pair) close() {
	if p.closing != nil {
		return
	}
	p.closing = &waiter{core: p.core, answered: make(chan struct{})}
	go func() {
		p.closing.err = p.core.Close(context.Background())
		close(p.closing.answered)
	}()
	synctest.Wait()
	p.model.Close()
}

// compare fails if core and model differ in the answers, or to a closer look.
func (p *pair) compare(step int, closer bool) {
	synctest.Wait()
	for _, id := range slices.Sorted(maps.Keys(p.waiting)) {
		w, want := p.waiting[id], p.model.Answers[id]
		over := w.over()
		if (want.Text != "") != over {
			require.Fail(p.t, "one has an answer", "step %d: call %d: %v %v; the model says %q at %v",
				step, id, over, w.err, want.Text, p.model.Now())
		}
		if over {
			p.answered(w.use, w.err, want, id%2 == 0)
			delete(p.waiting, id)
			w.cancel(nil)
		}
	}
	if closer {
		p.look(step)
	}
	require.False(p.t, len(p.waiting) == 0 && p.core.Armed(), "step %d: a timer is set for nobody", step)
	if p.closing != nil {
		require.Equal(p.t, p.model.Drained(), p.closing.over(), "step %d: Close has returned", step)
		if p.closing.over() {
			p.seen.drained++
		}
	}
}

func (p *pair) look(step int) {
	want, got := p.model.Stats(), p.core.Stats()
	want.Room = p.opts.Room
	if want != got { // which is much quicker than what shows the difference
		require.Equal(p.t, want, got, "step %d", step)
	}
	require.Equal(p.t, want.Refused.Total()+want.Wait.Count, p.told.Load(), "step %d", step)
	if p.opts.Track == spillway.TrackOff {
		return
	}
	var holders []permittest.Hold
	for _, h := range p.core.Holders() {
		holders = append(holders, permittest.Hold{Weight: h.Weight, Since: h.Age})
	}
	require.ElementsMatch(p.t, p.model.Holders(), holders, "step %d", step)
	require.Equal(p.t, p.model.Warned, p.warned, "step %d", step)
}

// finish brings everything to an end and looks whether anything is left.
func (p *pair) finish() {
	p.seen.stats, p.seen.warned = p.core.Stats(), len(p.warned)
	for id, w := range p.waiting {
		w.cancel(errGone)
		require.True(p.t, w.done(), "call %d", id)
		p.core.Leave(w.use, spillway.OutcomeOK) // it may have been in front of another
	}
	for len(p.held) > 0 {
		p.release(0, spillway.OutcomeOK, 0)
	}
	time.Sleep(time.Hour)
	p.close()
	require.True(p.t, p.closing.done(), "Close has returned")
	require.NoError(p.t, p.closing.err)
	requireWhole(p.t, p.core)
	require.False(p.t, p.core.Armed())
}
