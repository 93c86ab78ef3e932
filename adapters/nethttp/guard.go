package nethttp

import (
	"context"
	"errors"
	"net/http"
	"net/textproto"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// Guard stands before handlers: a request gets its permit before its handler runs, or
// an answer that says when to come back. One guard may stand before several handlers,
// which then share the permits. All its methods are safe for concurrent use. The zero
// Guard refuses everything as closed; make one with [NewGuard]. It starts no goroutine
// and holds nothing that must be freed. An admitted request costs it one small allocation,
// and one more with Outcome or HoldHijacked (BenchmarkGuard); a Class or a Timeout
// costs a new context and a copy of the request.
type Guard struct {
	cfg    GuardConfig
	heavy  weighted            // the admission, if Weight is set
	lanes  router              // the admission, if Lane is set
	waited *spillway.Rejection // of who has waited for MaxWait
	counts guardCounts
}

type guardCounts struct {
	exempt, admitted, refused, canceled, aborted atomic.Uint64
	serving, held                                atomic.Int64
}

// GuardStats is a snapshot of a guard. Counts start with the guard and only grow. Every
// request is counted once, as exempt, admitted, refused or canceled. The admission's own
// statistics say more: why requests were refused, and how they ended.
type GuardStats struct {
	Name     string // the guard's name
	Serving  int    // requests in their handlers, with a permit
	Held     int    // hijacked connections that hold a permit
	Exempt   uint64 // requests that needed no permit
	Admitted uint64 // requests that got one
	Refused  uint64 // requests that were answered in their handler's place
	Canceled uint64 // requests whose context ended before they were admitted
	Aborted  uint64 // of those admitted, the ones that a panic or Goexit ended
}

// NewGuard returns a guard. A wrong configuration gives a *spillway.ConfigError that lists
// every fault.
func NewGuard(cfg GuardConfig) (*Guard, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	g := &Guard{cfg: cfg}
	g.cfg.TimeoutHeader = textproto.CanonicalMIMEHeaderKey(cfg.TimeoutHeader)
	if cfg.Weight != nil {
		g.heavy, _ = cfg.Admission.(weighted)
	}
	if cfg.Lane != nil {
		g.lanes, _ = cfg.Admission.(router)
	}
	g.waited = &spillway.Rejection{
		Component: component, Name: cfg.Name, Reason: spillway.ReasonMaxWait, Wait: cfg.MaxWait, RetryAfter: cfg.MaxWait,
	}
	return g, nil
}

// component is what refusals say of a guard and a transport.
const component = "http"

// Wrap returns next behind the guard. A request that isn't admitted is answered by
// [WriteStatus]: 429 or 503 with Retry-After, 504 if its time is up, and nothing but the
// status 499 for the logs if its caller has gone. An admitted one is served on the same
// goroutine, and its permit comes back when next returns, panics or calls runtime.Goexit;
// the latter two go on, http.ErrAbortHandler as any other. What next leaves running, as an
// http.TimeoutHandler does, has no permit: put that before the guard. It panics if next is nil.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	if next == nil {
		panic("nethttp: Wrap: handler is nil")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { g.handle(next, w, r) })
}

// Stats returns a snapshot.
func (g *Guard) Stats() GuardStats {
	c := &g.counts
	return GuardStats{
		Name: g.cfg.Name, Serving: int(c.serving.Load()), Held: int(c.held.Load()),
		Exempt: c.exempt.Load(), Admitted: c.admitted.Load(), Refused: c.refused.Load(),
		Canceled: c.canceled.Load(), Aborted: c.aborted.Load(),
	}
}

func (g *Guard) handle(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if g.cfg.Exempt != nil && g.cfg.Exempt(r) {
		g.counts.exempt.Add(1)
		next.ServeHTTP(w, r)
		return
	}
	class := spillway.Class("")
	if g.cfg.Class != nil {
		class = g.cfg.Class(r)
	}
	ctx := r.Context()
	if class != "" {
		ctx = spillway.WithClass(ctx, class)
	}
	if g.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeoutOf(r, g.cfg.TimeoutHeader, g.cfg.Timeout))
		defer cancel()
	}
	permit, err := g.admit(ctx, r)
	if err != nil {
		g.refuse(ctx, w, r, err)
		return
	}
	inner := r
	if class != "" || g.cfg.Timeout > 0 { // contexts can't always be compared
		inner = r.WithContext(ctx)
		defer handBack(r, inner)
	}
	g.run(next, w, inner, permit)
}

// handBack gives the server's own request what the handler's copy of it has got: the
// pattern for those outside who log it, and the form, whose temporary files the server
// removes.
func handBack(r, inner *http.Request) {
	if inner.Pattern != "" {
		r.Pattern = inner.Pattern
	}
	if r.MultipartForm == nil {
		r.MultipartForm = inner.MultipartForm
	}
}

// admit asks for the request's permit, for no longer than MaxWait. A done context gets
// none, not even from an admission that doesn't look.
func (g *Guard) admit(ctx context.Context, r *http.Request) (p spillway.Permit, err error) {
	if g.cfg.Admission == nil {
		return p, &spillway.ClosedError{Component: component}
	}
	bounded := ctx
	if g.lanes != nil {
		if lane := g.cfg.Lane(r); lane != "" {
			bounded = g.lanes.Into(bounded, lane)
		}
	}
	over := time.Now().Add(g.cfg.MaxWait)
	if at, ok := ctx.Deadline(); !ok || at.After(over) {
		wait := &waitContext{Context: bounded, at: over, cause: g.waited}
		defer wait.end()
		bounded = wait
	}
	if g.heavy != nil {
		p, err = g.heavy.AdmitN(bounded, g.cfg.Weight(r))
	} else {
		p, err = g.cfg.Admission.Admit(bounded)
	}
	switch {
	case err == nil && ctx.Err() != nil:
		p.ReleaseWith(spillway.OutcomeLocal)
		return spillway.Permit{}, cause.Of(ctx)
	case err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && bounded.Err() != nil:
		return p, g.waited // from one who returns the context's error instead of its cause
	}
	return p, err
}

// refuse answers a request that wasn't admitted.
func (g *Guard) refuse(ctx context.Context, w http.ResponseWriter, r *http.Request, err error) {
	status := spillway.StatusOf
	if g.cfg.Status != nil {
		status = g.cfg.Status
	}
	if ended := ctx.Err(); ended != nil && !isRefusal(err) {
		g.counts.canceled.Add(1)
		WriteStatus(w, r, status(ended)) // its cause may be anything
		return
	}
	g.counts.refused.Add(1)
	WriteStatus(w, r, status(err))
}

// isRefusal reports whether an admission has refused. Its error may be the cause of the request's
// end, which is anybody's, and may panic when it is asked.
func isRefusal(err error) (is bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, spillway.ErrBackpressure)
}

// run serves a request that has its permit.
func (g *Guard) run(next http.Handler, w http.ResponseWriter, r *http.Request, p spillway.Permit) {
	g.counts.admitted.Add(1)
	g.counts.serving.Add(1)
	var answer *response
	if g.cfg.Outcome != nil || g.cfg.HoldHijacked {
		answer, w = newResponse(w, g, p)
	}
	// How the request ended is worked out before it counts as returned: that runs code
	// of the user's, and the permit must come back whatever it does.
	outcome, returned := spillway.OutcomeUnknown, false
	defer func() {
		g.counts.serving.Add(-1)
		if !returned {
			g.counts.aborted.Add(1)
			if r.Context().Err() == context.Canceled {
				outcome = spillway.OutcomeLocal // a proxy aborts whose caller has gone
			}
		}
		switch {
		case answer == nil || answer.held == nil:
			p.ReleaseWith(outcome)
		case !returned:
			answer.held.giveBack(outcome) // nobody may be left to close it
		}
	}()
	next.ServeHTTP(w, r)
	outcome = g.outcome(r.Context(), answer)
	returned = true
}

// outcome is how a request ended whose handler has returned.
func (g *Guard) outcome(ctx context.Context, answer *response) spillway.Outcome {
	if ctx.Err() == context.Canceled {
		return spillway.OutcomeLocal // nobody got the answer
	}
	o := spillway.OutcomeOK
	if g.cfg.Outcome != nil && !answer.hijacked {
		o = g.cfg.Outcome(answer.code())
	}
	if o == spillway.OutcomeOK && ctx.Err() != nil {
		return spillway.OutcomeLate
	}
	return o
}
