package nethttp

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// Transport is an http.RoundTripper that calls one dependency: each attempt has its
// permit, what is worth it is repeated, and nothing takes longer than it may. Make one for
// each dependency, so that its limit, its budget and its statistics are its own; it is safe
// for concurrent use. The zero Transport refuses everything as closed; make one with
// [NewTransport]. It starts no goroutine of its own.
type Transport struct {
	cfg   TransportConfig
	again *retry.Retrier[*http.Response] // for requests that are idempotent
	once  *retry.Retrier[*http.Response] // for others
	open  atomic.Int64                   // attempts under way, and answers whose bodies have not ended
}

// TransportStats is a snapshot of a transport.
type TransportStats struct {
	Name       string      // the transport's name
	Open       int         // attempts under way, and answers whose bodies are open: their permits are out
	Idempotent retry.Stats // requests that may be executed twice
	Once       retry.Stats // requests that may not; its name ends in ".once"
}

// NewTransport returns a transport. A wrong configuration gives a *spillway.ConfigError
// that lists every fault.
func NewTransport(cfg TransportConfig) (*Transport, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	t := &Transport{cfg: cfg.completed()}
	again, once := t.cfg.Retry, t.cfg.Retry
	if cfg.Retry.Classify == nil {
		again.Classify, once.Classify = Classify, classifyOnce
	}
	again.Idempotent = true
	once.Name += ".once"
	var err error
	if t.again, err = newRetrier(again); err != nil {
		return nil, err
	}
	if t.once, err = newRetrier(once); err != nil {
		return nil, err
	}
	return t, nil
}

// newRetrier returns a retrier that lets go of an answer before it backs off.
func newRetrier(p retry.Policy) (*retry.Retrier[*http.Response], error) {
	p.Hooks = append([]retry.Hooks{{OnRetry: letGo}}, p.Hooks...)
	return retry.New[*http.Response](p)
}

// RoundTrip implements http.RoundTripper. It returns the answer whatever its status, also
// the last of several attempts. Without an answer the error is a *spillway.Rejection if the
// admission refused, or too little time was left; a *[TimeoutError]; a *[CallError]; the
// context's cause; or a *retry.ExhaustedError around one of those.
//
// It blocks as long as the attempts, the waits for permits and the back-offs take, within
// its bounds and the request's context. A permit is held during an attempt and until the
// answer's body has been read to its end or closed, has taken longer than BodyTimeout, or
// the request's context has ended; never during a back-off. A connection that switched
// protocols has it until it is closed, as it is when that context ends. A request is repeated only if
// its body can be had again by GetBody, or wasn't touched yet. The body of an answer that is
// not the last is read for 64 KiB or 100 ms at most, so that the connection can be used
// again, and closed. The request isn't changed, its body is always closed, and it is the
// answer's Request. One that is ended by its Cancel is cancelled as by its context.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &exchange{t: t, req: req}
	defer x.cleanUp()
	if t.cfg.Base == nil {
		return nil, &spillway.ClosedError{Component: component}
	}
	ctx := req.Context()
	if t.cfg.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.cfg.Timeout, t.timeout("request", t.cfg.Timeout))
		defer cancel()
	}
	retrier := t.once
	if t.cfg.Retry.Idempotent || idempotent(req) {
		retrier = t.again
	}
	resp, err := retrier.Do(ctx, x.attempt)
	if resp == nil || x.gone {
		return nil, err
	}
	x.answer = nil // it is the caller's now
	return resp, nil
}

// CloseIdleConnections passes on to Base, if that has idle connections to close.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.cfg.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Stats returns a snapshot.
func (t *Transport) Stats() TransportStats {
	s := TransportStats{Name: t.cfg.Name, Open: int(t.open.Load())}
	if t.cfg.Base != nil {
		s.Idempotent, s.Once = t.again.Stats(), t.once.Stats()
	}
	return s
}
