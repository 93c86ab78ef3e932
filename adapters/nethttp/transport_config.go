package nethttp

import (
	"fmt"
	"net/http"
	"net/textproto"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// TransportConfig are the settings of a transport.
type TransportConfig struct {
	// Name is the transport's name in errors, statistics and telemetry, where it has to be
	// unique. It must not be empty.
	Name string
	// Base makes the calls. It must not be nil. A retry of its own would multiply with
	// ours.
	Base http.RoundTripper
	// Admission gives each attempt its permit. Nil means that none is needed.
	Admission Admission
	// AdmissionFor chooses the admission of a request, by its host, say, so that one that
	// hangs doesn't take the permits of the others; nil from it means that the request
	// needs no permit. It must be safe for concurrent use. Nil means Admission for all.
	AdmissionFor func(*http.Request) Admission
	// Retry says how often and when a request is repeated: see [Classify]. It must be
	// valid; retry.WritePolicy() repeats nothing. What may have been executed is repeated
	// only for methods that are idempotent by RFC 9110 (GET, HEAD, OPTIONS, TRACE, PUT,
	// DELETE), for requests with an Idempotency-Key, and for all if it says Idempotent. A
	// Classify of your own decides about all of them. If Name is empty it is that of the
	// transport; it has to be as unique.
	Retry retry.Policy
	// Timeout is how long a request may take until its answer's headers are there, waits,
	// attempts and back-offs included. The context's own deadline counts as well, whichever
	// is earlier. Zero means that there is only that.
	Timeout time.Duration
	// AttemptTimeout is how long one attempt may take, from its permit to the answer's
	// headers. Zero means as long as the request.
	AttemptTimeout time.Duration
	// BodyTimeout is how long an answer's body may take, from the headers to its end or
	// close. The body fails then, and its permit is back, even if somebody has forgotten
	// to close it. Zero means until the request's context ends. It isn't for connections
	// that switched protocols (101), which have no end of their own: those have their
	// permit until they are closed, and are closed when the request's context ends.
	BodyTimeout time.Duration
	// Least is the time that must be left for an attempt to be made: one that can't be
	// answered within it isn't worth its permit. Zero means that any is enough.
	Least time.Duration
	// TimeoutHeader is the header that tells the server, in whole milliseconds, how
	// long this attempt is waited for, as [GuardConfig.TimeoutHeader] reads it. Without any
	// bound it isn't sent. Empty means never.
	TimeoutHeader string
	// TimeoutMargin is what TimeoutHeader keeps for the way. Zero means nothing.
	TimeoutMargin time.Duration
	// ClassHeader is the header that tells the server the class that the request's
	// context carries. Empty means that it isn't sent.
	ClassHeader string
}

// DefaultTransportConfig returns the settings that fit most calls of one service by
// another, over http.DefaultTransport: retry.DefaultPolicy with a budget of its own; 10 s
// for a request, 3 s for each attempt, 1 min for a body. a is the admission; nil means that
// none is needed.
func DefaultTransportConfig(name string, a Admission) TransportConfig {
	budget, err := retry.NewBudget(retry.DefaultBudgetConfig())
	if err != nil {
		panic("nethttp: bug: " + err.Error())
	}
	policy := retry.DefaultPolicy()
	policy.Budget = budget
	return TransportConfig{
		Name: name, Base: http.DefaultTransport, Admission: a, Retry: policy,
		Timeout: 10 * time.Second, AttemptTimeout: 3 * time.Second, BodyTimeout: time.Minute,
	}
}

// validate returns one error that lists every fault.
func (c TransportConfig) validate() error {
	e := &spillway.ConfigError{Component: "http transport", Name: c.Name}
	if strings.TrimSpace(c.Name) == "" {
		e.Add("Name", c.Name, "must not be empty")
	}
	if missing(c.Base) {
		e.Add("Base", nil, "must not be nil: http.DefaultTransport, or one of your own")
	}
	if c.Admission != nil && missing(c.Admission) {
		e.Add("Admission", nil, "must not be a nil pointer")
	}
	e.Include("Retry.", c.Retry.Validate())
	for _, f := range []struct {
		field string
		value time.Duration
	}{
		{"Timeout", c.Timeout},
		{"AttemptTimeout", c.AttemptTimeout},
		{"BodyTimeout", c.BodyTimeout},
		{"Least", c.Least},
		{"TimeoutMargin", c.TimeoutMargin},
	} {
		if f.value < 0 {
			e.Add(f.field, f.value, "must not be negative")
		}
	}
	for _, f := range []struct {
		field string
		value time.Duration
	}{{"Timeout", c.Timeout}, {"AttemptTimeout", c.AttemptTimeout}} {
		if f.value > 0 && c.Least >= f.value {
			e.Add("Least", c.Least, fmt.Sprintf("must be less than %s, %v: no attempt would be made", f.field, f.value))
		}
	}
	if c.TimeoutMargin > 0 && c.TimeoutHeader == "" {
		e.Add("TimeoutMargin", c.TimeoutMargin, "needs TimeoutHeader")
	}
	return e.Err()
}

// completed returns the settings as a transport keeps them.
func (c TransportConfig) completed() TransportConfig {
	if c.Retry.Name == "" {
		c.Retry.Name = c.Name
	}
	c.TimeoutHeader = textproto.CanonicalMIMEHeaderKey(c.TimeoutHeader)
	c.ClassHeader = textproto.CanonicalMIMEHeaderKey(c.ClassHeader)
	return c
}
