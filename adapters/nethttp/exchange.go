package nethttp

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/internal/cause"
	"github.com/spillway-go/spillway/retry"
)

// exchange is one request and its attempts. It belongs to the goroutine of RoundTrip.
type exchange struct {
	t      *Transport
	req    *http.Request
	handed bool  // whether Base has had the body
	answer *body // of the newest answer; nil if it has none, or it is the caller's
	gone   bool  // whether that was let go for a retry
}

// cleanUp closes what nobody else will: the body of a request that was never sent, and
// that of an answer that the caller doesn't get.
func (x *exchange) cleanUp() {
	if !x.handed && x.req.Body != nil {
		_ = x.req.Body.Close()
	}
	if x.answer != nil {
		_ = x.answer.Close()
	}
}

// attempt makes one attempt. With an answer of 429 or 5xx it returns both that and a
// *StatusError, for the retrier to judge.
func (x *exchange) attempt(ctx context.Context) (*http.Response, error) {
	x.answer, x.gone = nil, false
	permit, err := x.admit(ctx)
	if err != nil {
		return nil, err
	}
	h := x.t.hold(ctx, x.req.Context(), permit)
	returned := false
	defer func() {
		if !returned {
			h.end(spillway.OutcomeUnknown) // a panic goes through
		}
	}()
	resp, err := x.send(ctx, h)
	returned = true
	if err != nil {
		h.end(h.outcomeOf(err))
		return nil, x.final(err)
	}
	return x.judge(h, resp)
}

// send has Base make the call.
func (x *exchange) send(ctx context.Context, h *hold) (*http.Response, error) {
	out, err := x.request(ctx, h.ctx)
	if err != nil {
		h.end(spillway.OutcomeLocal) // nothing was sent
		return nil, retry.Permanent(&CallError{Name: x.t.cfg.Name, Err: err})
	}
	x.handed = true
	resp, err := x.t.cfg.Base.RoundTrip(out)
	inTime := h.answered()
	if (!inTime || err != nil) && resp != nil && resp.Body != nil {
		_ = resp.Body.Close() // nobody gets it
	}
	if !inTime {
		return nil, cause.Of(h.ctx)
	}
	if err == nil && resp == nil {
		err = errNoAnswer
	}
	if err == nil {
		x.own(resp, out)
		return resp, nil
	}
	if ended := x.canceled(); ended != nil {
		return nil, ended
	}
	if askOutcome(err) == spillway.OutcomeUnknown {
		err = &CallError{Name: x.t.cfg.Name, Err: err}
	}
	return nil, err
}

// own has the answer name the caller's request instead of the attempt's, whose context ends with
// the body: who goes on from there would find his next call cancelled.
func (x *exchange) own(resp *http.Response, out *http.Request) {
	switch resp.Request {
	case nil:
	case out:
		resp.Request = x.req
	default: // Base has sent one of its own
		resp.Request = resp.Request.WithContext(x.req.Context())
	}
}

// canceled returns why a request was ended by its Cancel, nil if it wasn't. An http.Client closes
// that at its Timeout, often a moment before the context says the same.
func (x *exchange) canceled() error {
	select {
	case <-x.req.Cancel: //nolint:staticcheck // deprecated, and still set by http.Client
	default:
		return nil
	}
	if at, ok := x.req.Context().Deadline(); ok && !time.Now().Before(at) {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// admit asks for the permit of an attempt, and whether it still has the time it needs.
func (x *exchange) admit(ctx context.Context) (p spillway.Permit, err error) {
	admission := x.t.cfg.Admission
	if x.t.cfg.AdmissionFor != nil {
		admission = x.t.cfg.AdmissionFor(x.req)
	}
	if err := x.inTime(ctx); err != nil || admission == nil {
		return p, err
	}
	if p, err = admission.Admit(ctx); err != nil {
		return p, err
	}
	if err = x.inTime(ctx); err != nil { // the wait has taken it
		p.ReleaseWith(spillway.OutcomeLocal)
	}
	return p, err
}

// inTime returns an error if an attempt can't fit into the time that is left.
func (x *exchange) inTime(ctx context.Context) error {
	if left, ok := deadline.Remaining(ctx); ok && (left <= 0 || left < x.t.cfg.Least) {
		return &spillway.Rejection{Component: component, Name: x.t.cfg.Name, Reason: spillway.ReasonExpired}
	}
	if ctx.Err() != nil {
		return cause.Of(ctx)
	}
	return nil
}

// request returns the request of an attempt, which shares with the caller's what isn't
// changed.
func (x *exchange) request(ctx, attempt context.Context) (*http.Request, error) {
	out := x.req.WithContext(attempt)
	if x.handed && x.hasBody() {
		again, err := x.req.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = again
	}
	timeout, class := x.timeoutHeader(ctx), spillway.Class("")
	if x.t.cfg.ClassHeader != "" {
		class, _ = spillway.ClassFrom(ctx)
	}
	if timeout == "" && class == "" {
		return out, nil
	}
	if out.Header = x.req.Header.Clone(); out.Header == nil {
		out.Header = http.Header{}
	}
	if timeout != "" {
		out.Header.Set(x.t.cfg.TimeoutHeader, timeout)
	}
	if class != "" {
		out.Header.Set(x.t.cfg.ClassHeader, string(class))
	}
	return out, nil
}

// timeoutHeader returns what the server is told of how long it is waited for; empty if
// nothing.
func (x *exchange) timeoutHeader(ctx context.Context) string {
	if x.t.cfg.TimeoutHeader == "" {
		return ""
	}
	left, bounded := deadline.Remaining(ctx)
	if limit := x.t.cfg.AttemptTimeout; limit > 0 && (!bounded || limit < left) {
		left, bounded = limit, true
	}
	if !bounded {
		return ""
	}
	return strconv.FormatInt(max((left-x.t.cfg.TimeoutMargin).Milliseconds(), 1), 10)
}

func (x *exchange) hasBody() bool { return x.req.Body != nil && x.req.Body != http.NoBody }

// final marks an error as final if the request can't be sent again.
func (x *exchange) final(err error) error {
	if x.hasBody() && x.req.GetBody == nil {
		return retry.Permanent(err)
	}
	return err
}

// judge returns an answer whose body will give back what the attempt holds, and an error
// if it isn't a success.
func (x *exchange) judge(h *hold, resp *http.Response) (*http.Response, error) {
	code := resp.StatusCode
	x.answer = h.guardBody(resp, x.req.Method)
	if code < http.StatusInternalServerError && code != http.StatusTooManyRequests {
		return resp, nil
	}
	after, _ := RetryAfter(resp.Header)
	return resp, x.final(&StatusError{Code: code, After: after, exchange: x})
}

// letGo is told of a retry before its back-off: the answer that nobody will see is
// drained, so that nothing of it is held meanwhile.
func letGo(_ context.Context, e retry.Event) {
	var status *StatusError
	if !errors.As(e.Err, &status) || status.exchange == nil {
		return
	}
	x := status.exchange
	x.gone = true
	if x.answer != nil {
		x.answer.drain()
		x.answer = nil
	}
}

// timeout returns the error of something that took too long.
func (t *Transport) timeout(what string, limit time.Duration) error {
	return &TimeoutError{Name: t.cfg.Name, What: what, Limit: limit}
}
