package nethttp

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

// Liveness returns a handler that says that the process is alive, by answering: 200,
// whatever becomes of backends and limits, also during a shutdown. A probe that asked more
// would have a process killed because its database is slow.
func Liveness() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answerProbe(w, http.StatusOK, "alive") })
}

// Check is one thing that a process needs to be of use.
type Check struct {
	// Name says what it is, in the answers of a Readiness. It must not be empty.
	Name string
	// Healthy reports whether it is there. It is called at every probe, by several at once,
	// so it must look at what is known here and not ask anybody: a Healthy method, a state.
	// If it panics it has said no. It must not be nil.
	Healthy func() bool
}

// Connected is the check that a machine, or a client that is built on one, is connected.
func Connected(name string, m interface{ State() lifecycle.State }) Check {
	c := Check{Name: name}
	if !missing(m) {
		c.Healthy = func() bool { return m.State() == lifecycle.Connected }
	}
	return c
}

// ReadinessConfig are the settings of a readiness.
type ReadinessConfig struct {
	// Checks are what must be healthy. Without any the process is ready until Retire.
	// Limiters and lanes are no checks: a process that refuses does what it should, and
	// its load would go to the others.
	Checks []Check
	// UnreadyAfter is how long something must have been unhealthy, at every probe, for the
	// process to become unready. Zero means that one probe is enough.
	UnreadyAfter time.Duration
	// ReadyAfter is how long everything must have been healthy, at every probe, for the
	// process to become ready again. The first time one probe is enough. Zero means that it
	// always is.
	ReadyAfter time.Duration
	// RetryAfter is when to come back, as an unready process answers: in whole seconds,
	// rounded up. It must be positive.
	RetryAfter time.Duration
}

// DefaultReadinessConfig returns the settings that fit most: unready after 10 s, ready
// again after 5 s, to be asked again after 5 s.
func DefaultReadinessConfig(checks ...Check) ReadinessConfig {
	return ReadinessConfig{Checks: checks, UnreadyAfter: 10 * time.Second, ReadyAfter: 5 * time.Second, RetryAfter: 5 * time.Second}
}

func (c ReadinessConfig) validate() error {
	e := &spillway.ConfigError{Component: "readiness"}
	for i, check := range c.Checks {
		field := fmt.Sprintf("Checks[%d]", i)
		if strings.TrimSpace(check.Name) == "" {
			e.Add(field+".Name", check.Name, "must not be empty")
		}
		if check.Healthy == nil {
			e.Add(field+".Healthy", nil, "must not be nil")
		}
	}
	if c.UnreadyAfter < 0 {
		e.Add("UnreadyAfter", c.UnreadyAfter, "must not be negative")
	}
	if c.ReadyAfter < 0 {
		e.Add("ReadyAfter", c.ReadyAfter, "must not be negative")
	}
	if c.RetryAfter <= 0 {
		e.Add("RetryAfter", c.RetryAfter, "must be positive")
	}
	return e.Err()
}

// Readiness is the handler of a readiness probe: 200 if the process is of use, 503 with
// Retry-After and the names of what is missing if not. It looks at what is known in the
// process, when it is asked, and changes its mind only about what lasts. All its methods
// are safe for concurrent use and never block, if the checks don't. The zero Readiness is
// never ready; make one with [NewReadiness]. It has no goroutine.
type Readiness struct {
	cfg  ReadinessConfig
	made bool

	mu      sync.Mutex // guards what follows; no check runs under it
	retired bool
	ready   bool
	started bool      // whether it has ever been ready
	turning time.Time // since when the checks say otherwise; zero if they don't
}

// NewReadiness returns a readiness. A wrong configuration gives a *spillway.ConfigError
// that lists every fault.
func NewReadiness(cfg ReadinessConfig) (*Readiness, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	cfg.Checks = slices.Clone(cfg.Checks)
	return &Readiness{cfg: cfg, made: true}, nil
}

// ServeHTTP implements http.Handler.
func (r *Readiness) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	ready, why := r.look()
	if ready {
		answerProbe(w, http.StatusOK, "ready")
		return
	}
	w.Header().Set("Retry-After", wholeSeconds(r.cfg.RetryAfter))
	answerProbe(w, http.StatusServiceUnavailable, "not ready: "+why)
}

// Ready reports whether the process is of use. It counts as a probe.
func (r *Readiness) Ready() bool {
	ready, _ := r.look()
	return ready
}

// Retire makes the process unready at once and for good: it is about to end. [Serve]
// calls it, before anything else.
func (r *Readiness) Retire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retired = true
}

// look asks the checks and says how things stand, and what is missing.
func (r *Readiness) look() (ready bool, why string) {
	if !r.made {
		return false, "not set up"
	}
	var bad []string
	for _, c := range r.cfg.Checks {
		if !healthy(c) {
			bad = append(bad, c.Name)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.retired {
		return false, "shutting down"
	}
	r.turnLocked(len(bad) == 0, time.Now())
	if len(bad) == 0 {
		return r.ready, "not for long enough yet"
	}
	return r.ready, strings.Join(bad, ", ")
}

// turnLocked takes one look into account.
func (r *Readiness) turnLocked(good bool, now time.Time) {
	if good == r.ready {
		r.turning = time.Time{}
		return
	}
	if r.turning.IsZero() {
		r.turning = now
	}
	lasts := r.cfg.UnreadyAfter
	if good {
		lasts = r.cfg.ReadyAfter
		if !r.started {
			lasts = 0
		}
	}
	if now.Sub(r.turning) >= lasts {
		r.ready, r.turning = good, time.Time{}
		r.started = r.started || good
	}
}

func healthy(c Check) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return c.Healthy()
}

// answerProbe answers a probe with one line.
func answerProbe(w http.ResponseWriter, code int, text string) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, text+"\n") // to one who doesn't listen there is nothing to be done
}
