//go:build go1.25

package lane_test

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
	"github.com/spillway-go/spillway/internal/permit/permittest"
	"github.com/spillway-go/spillway/lane"
)

// setPair is a set of lanes and a model of each, and the calls of both. All holds are
// timed, because the lanes track their holders.
type setPair struct {
	t       *testing.T
	set     *lane.Set[int]
	cfg     lane.SetConfig
	models  []*permittest.Model
	sides   []lending
	noLend  map[string]bool
	calls   int
	open    map[int]*call // calls that wait or hold something, by number
	closing chan error
	seen    map[string]int
}

// lending is what a lane has lent and borrowed.
type lending struct {
	borrowed            int
	borrowedTotal, lent uint64
}

// call is one call of Do, or of Admit.
type call struct {
	home   int // the lane that it was meant for
	of     int // the lane whose permit it has
	cancel context.CancelCauseFunc
	inside chan struct{} // closed when it has its permit
	how    chan ending   // how it is to end; nil if it has a permit in its hand
	over   chan struct{} // closed when it has returned
	permit spillway.Permit
	err    error
	answer permittest.Answer // the model's; none while it waits
}

type ending int

const (
	ends ending = iota
	fails
	panics
	exits
)

var errFails = errors.New("the operation's own")

func newSetPair(t *testing.T, cfg lane.SetConfig) *setPair {
	p := &setPair{t: t, cfg: cfg, noLend: map[string]bool{}, open: map[int]*call{}, seen: map[string]int{}}
	for i := range cfg.Lanes {
		cfg.Lanes[i].Track = spillway.TrackSite
		c := cfg.Lanes[i]
		p.models = append(p.models, permittest.New(permit.Options{
			Component: "lane", Name: cfg.Name + "/" + c.Name, Limit: c.Limit, RetryAfter: c.RetryAfter, Track: c.Track,
			MaxWait: c.MaxWait, Newest: c.Order == lane.Newest, Predict: c.Predict,
			Estimate: true, Room: c.MaxWaiting,
		}))
	}
	for _, name := range cfg.Lending.NoLend {
		p.noLend[name] = true
	}
	p.sides = make([]lending, len(cfg.Lanes))
	set, err := lane.NewSet[int](cfg)
	require.NoError(t, err)
	p.set = set
	return p
}

// begin makes a call whose context ends after d, if that isn't 0.
func (p *setPair) begin(home int, d time.Duration) (context.Context, *call, time.Duration) {
	p.calls++
	c := &call{home: home, of: home, inside: make(chan struct{}), over: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(context.Background())
	c.cancel = cancel
	if d == 0 {
		return ctx, c, 0
	}
	ctx, stop := context.WithTimeout(ctx, d)
	context.AfterFunc(ctx, stop)
	return ctx, c, p.models[0].Now() + d
}

// do is a call through the set.
func (p *setPair) do(home int, d time.Duration) {
	ctx, c, deadline := p.begin(home, d)
	c.how = make(chan ending)
	go func() {
		defer close(c.over)
		defer func() { _ = recover() }()
		_, c.err = p.set.Do(p.set.Into(ctx, p.cfg.Lanes[home].Name), func(context.Context) (int, error) {
			close(c.inside)
			switch <-c.how {
			case fails:
				return 0, errFails
			case panics:
				panic("the operation's own")
			case exits:
				runtime.Goexit()
			case ends:
			}
			return 1, nil
		})
	}()
	synctest.Wait()
	if of, answer, ok := p.borrow(home, deadline); ok {
		c.of, c.answer = of, answer
		p.open[p.calls] = c
		return
	}
	p.ask(c, 1, deadline)
}

// borrow is what a set does first with lending on, for a call with that deadline, if not 0.
func (p *setPair) borrow(home int, deadline time.Duration) (of int, a permittest.Answer, ok bool) {
	l, m, side := p.cfg.Lending, p.models[home], &p.sides[home]
	if c := p.cfg.Lanes[home]; c.MaxWaiting > 0 && c.MaxWait == 0 && deadline == 0 {
		return 0, a, false
	}
	if l.Brief == 0 || !m.Full(1) || !m.Brief(l.Brief) || side.borrowed >= l.Ceiling {
		return 0, a, false
	}
	for of, lender := range p.models {
		if of == home || p.noLend[p.cfg.Lanes[of].Name] {
			continue
		}
		if a, ok = lender.Lend(1, l.Keep); ok {
			side.borrowed++
			side.borrowedTotal++
			p.sides[of].lent++
			return of, a, true
		}
	}
	return 0, a, false
}

// admit is a call of a lane, for n permits to take along.
func (p *setPair) admit(home, n int, d time.Duration) {
	ctx, c, deadline := p.begin(home, d)
	go func() {
		defer close(c.over)
		if c.permit, c.err = p.set.Lane(p.cfg.Lanes[home].Name).AdmitN(ctx, n); c.err == nil {
			close(c.inside)
		}
	}()
	synctest.Wait()
	p.ask(c, n, deadline)
}

// ask asks the model of the call's own lane.
func (p *setPair) ask(c *call, n int, deadline time.Duration) {
	m, cfg := p.models[c.home], p.cfg.Lanes[c.home]
	room := cfg.MaxWaiting
	if st := m.Stats(); room > 0 && cfg.MaxWait == 0 && deadline == 0 {
		if st.Mode == spillway.Enforce && !st.Closed {
			m.CountInvalid()
			p.answered(c, permittest.Answer{Text: "invalid_config"})
			return
		}
		room = 0
	}
	answer, waits := m.Call(p.calls, n, room, deadline)
	if !waits {
		p.answered(c, answer)
		if c.err != nil {
			return
		}
	}
	p.open[p.calls] = c
}

// answered compares a call's answer with the model's.
func (p *setPair) answered(c *call, want permittest.Answer) {
	p.t.Helper()
	c.answer = want
	if want.Text == "ok" {
		require.True(p.t, isClosed(c.inside), "not let in: %v; the model says %v", c.err, want)
		return
	}
	require.True(p.t, isClosed(c.over), "still waits; the model says %v", want)
	require.False(p.t, isClosed(c.inside), "let in; the model says %v", want)
	require.Equal(p.t, want.Text, permittest.TextOf(c.err))
	var r *spillway.Rejection
	if errors.As(c.err, &r) {
		require.Equal(p.t, want.Rejection, *r)
	}
	c.cancel(nil)
	p.seen[want.Text]++
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// end ends a call that has its permit, or leaves that to a ghost for d.
func (p *setPair) end(arg int, how ending, d time.Duration) {
	var inside []int
	for id, c := range p.open {
		if c.answer.Text == "ok" {
			inside = append(inside, id)
		}
	}
	if len(inside) == 0 {
		return
	}
	slices.Sort(inside)
	id := inside[arg%len(inside)]
	c := p.open[id]
	delete(p.open, id)
	m := p.models[c.of]
	switch {
	case c.how == nil && d > 0:
		c.permit.ReleaseAfter(d)
		m.End(c.answer, spillway.OutcomeTimeout, d)
	case c.how == nil:
		c.permit.ReleaseWith(spillway.OutcomeUnknown)
		m.End(c.answer, spillway.OutcomeUnknown, 0)
	default:
		c.how <- how
		<-c.over
		p.ended(c, how)
	}
	c.cancel(nil)
}

// ended tells the model how an operation ended.
func (p *setPair) ended(c *call, how ending) {
	m := p.models[c.of]
	switch how {
	case ends:
		require.NoError(p.t, c.err)
		m.End(c.answer, spillway.OutcomeOK, 0)
	case fails:
		require.Equal(p.t, errFails, c.err)
		m.End(c.answer, spillway.OutcomeUnknown, 0)
	case panics, exits:
		m.Abort(c.answer)
	}
	if c.of != c.home {
		p.sides[c.home].borrowed--
		p.models[c.home].Learn(m.Now() - c.answer.Hold.Since)
	}
}

func (p *setPair) cancel(id int) {
	if c := p.open[id]; c != nil && p.models[c.home].Cancel(id) {
		c.cancel(context.Canceled)
	}
}

func (p *setPair) advance(d time.Duration) {
	time.Sleep(d)
	for _, m := range p.models {
		m.Advance(d)
	}
}

func (p *setPair) shut() {
	if p.closing != nil {
		return
	}
	p.closing = make(chan error, 1)
	go func() { p.closing <- p.set.Close(context.Background()) }()
	for _, m := range p.models {
		m.Close()
	}
}

// compare fails if a lane and its model differ in an answer, or in the statistics.
func (p *setPair) compare(step int) {
	synctest.Wait()
	for _, id := range slices.Sorted(maps.Keys(p.open)) {
		c := p.open[id]
		want, has := p.models[c.home].Answers[id]
		if c.answer.Text != "" {
			continue
		}
		if !has {
			require.False(p.t, isClosed(c.over) || isClosed(c.inside), "step %d: call %d has an answer: %v", step, id, c.err)
			continue
		}
		if p.answered(c, want); c.err != nil {
			delete(p.open, id)
		}
	}
	for i, m := range p.models {
		if want, got := p.stats(i, m.Stats()), p.set.Lane(p.cfg.Lanes[i].Name).Stats(); want != got {
			require.Equal(p.t, want, got, "step %d", step)
		}
		p.seen["hint"] += int(p.models[i].Stats().RetryAfter - p.cfg.Lanes[i].RetryAfter)
	}
}

// stats is what the lane's should be.
func (p *setPair) stats(i int, s permit.Stats) lane.Stats {
	return lane.Stats{
		Name: s.Name, Mode: s.Mode, Closed: s.Closed, Limit: s.Limit, Pace: s.Pace, InUse: s.InUse,
		Available: max(s.Limit-s.InUse, 0), Ghosts: s.Ghosts, Waiting: s.Waiting,
		MaxWaiting: p.cfg.Lanes[i].MaxWaiting, OldestWait: s.OldestWait, Admitted: s.Admitted, Refused: s.Refused,
		WouldRefuse: s.WouldRefuse, Canceled: s.Canceled, TimedOut: s.TimedOut, AfterClose: s.AfterClose, Invalid: s.Invalid, Ended: s.Ended,
		Aborted: s.Aborted, GhostsTotal: s.GhostsTotal, Raised: s.Raised, Lowered: s.Lowered, Borrowed: p.sides[i].borrowed, BorrowedTotal: p.sides[i].borrowedTotal,
		Lent: p.sides[i].lent, Hold: s.Hold, Wait: s.Wait, Service: s.Service, RetryAfter: s.RetryAfter,
	}
}
