package nethttp

import (
	"net/http"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// GuardConfig are the settings of a guard. The functions are called on the request's
// goroutine and must be safe for concurrent use.
type GuardConfig struct {
	// Name is the guard's name in refusals, statistics and telemetry, where it has to be
	// unique. It must not be empty.
	Name string
	// Admission gives out the permits: one for each request, unless Weight says more. It
	// must not be nil.
	Admission Admission
	// MaxWait is the longest time that a request waits for its permit, whatever the
	// admission and the request's own context allow. Who waited as long is refused. It must
	// be positive, though a limiter never waits.
	MaxWait time.Duration
	// Class says of which class a request is, for the admission, which may have a lane
	// for it, and for all that the handler calls. Headers of strangers are no good source:
	// see [ClassFromHeader]. An empty class says nothing. Nil means that nobody asks.
	Class func(*http.Request) spillway.Class
	// Lane names the lane of a request, for an admission with an Into, such as a
	// lane.Set; it goes before the class. A name that the set doesn't have is answered
	// with a 500, an empty one says nothing. Nil means that nobody asks.
	Lane func(*http.Request) string
	// Weight says how many permits a request takes, for an admission with an AdmitN. It
	// must return from 1 to the limit: another request is answered with a 500. Nil means
	// one each.
	Weight func(*http.Request) int
	// Exempt reports whether a request passes without a permit: probes, metrics. Nil means
	// that none does. See [Paths].
	Exempt func(*http.Request) bool
	// Timeout is how long a request may take, the wait for its permit included: the
	// deadline of the context that its handler gets. Handlers have to look at it; nothing
	// is cut off. Zero means no deadline of the guard's.
	Timeout time.Duration
	// TimeoutHeader is the header in which callers say how long they will wait, in whole
	// milliseconds: the deadline is then the earlier of that and Timeout, which must be
	// set. What isn't a positive number is ignored. Empty means that nobody looks.
	TimeoutHeader string
	// Outcome says from the status of an answer how the request ended, which the
	// admission is told: see [OutcomeOfStatus]. To see the status the ResponseWriter is
	// wrapped; the handler finds the same optional interfaces on it, but http.MaxBytesReader
	// doesn't find the server, to have it close the connection: see http.MaxBytesHandler, before
	// the guard. Nil means that nobody looks: what returns is OutcomeOK.
	Outcome func(status int) spillway.Outcome
	// HoldHijacked keeps the permit of a request whose handler has hijacked the
	// connection until the connection is closed. The ResponseWriter is wrapped, and so is
	// the connection, which keeps its CloseWrite; its NetConn method returns the inner one.
	// A handler that panics gives the permit back at once. False means that the permit comes
	// back when the handler returns, as with any other request.
	HoldHijacked bool
	// Status says what to answer to a request that wasn't admitted. Nil is
	// spillway.StatusOf. One lane for everybody might say 503 instead of 429 by it.
	Status func(error) spillway.Status
}

// DefaultGuardConfig returns the settings that fit most: a request waits for 1 s at
// most, if the admission waits at all, and the admission is told how it ended
// ([OutcomeOfStatus]).
func DefaultGuardConfig(name string, a Admission) GuardConfig {
	return GuardConfig{Name: name, Admission: a, MaxWait: time.Second, Outcome: OutcomeOfStatus}
}

// validate returns one error that lists every fault.
func (c GuardConfig) validate() error {
	e := &spillway.ConfigError{Component: "http guard", Name: c.Name}
	if strings.TrimSpace(c.Name) == "" {
		e.Add("Name", c.Name, "must not be empty")
	}
	if missing(c.Admission) {
		e.Add("Admission", nil, "must not be nil: a limiter, a lane or a set of lanes")
	}
	if c.MaxWait <= 0 {
		e.Add("MaxWait", c.MaxWait, "must be positive")
	}
	if _, ok := c.Admission.(router); c.Lane != nil && !ok {
		e.Add("Lane", "set", "needs an Admission with an Into method, such as a lane.Set")
	}
	if _, ok := c.Admission.(weighted); c.Weight != nil && !ok {
		e.Add("Weight", "set", "needs an Admission with an AdmitN method")
	}
	if c.Timeout < 0 {
		e.Add("Timeout", c.Timeout, "must not be negative")
	}
	if c.TimeoutHeader != "" && c.Timeout == 0 {
		e.Add("TimeoutHeader", c.TimeoutHeader, "needs Timeout: callers must not set the longest time")
	}
	return e.Err()
}
