package aerospike

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

// Client is a guarded Aerospike client. Make one with [New] and [Client.Connect], or
// with [Wrap] around a client of the driver. All its methods are safe for
// concurrent use. The zero Client is connected to nothing and refuses everything. One that
// was connected must be closed.
//
// A call returns when the driver does, by its context's deadline at the latest. It fails
// with the driver's error, as an *[Error]; with a *spillway.Rejection if its lane has no
// permit for it, or too little time is left; with a *lifecycle.StateError if there is no
// connection, or it is being closed; with a *spillway.ConfigError if an argument can't be
// sent; with the cause of a context that is done before it is sent; or with a
// *spillway.PanicError if the driver panics. One that is left while the driver is at work
// on it ends with a *[DetachedError]. After the driver's error, and these two, it may have
// been executed: Error.InDoubt says so of the first.
type Client struct {
	*core
	choices choices
}

// core is what a client and those that With returns have in common.
type core struct {
	cfg      Config // settled
	hosts    []*as.Host
	source   string // where the limit comes from
	lanes    *laneTable
	defaults *defaults
	inForce  atomic.Pointer[inForce]  // the settings of now
	applying sync.Mutex               // serialises their changes
	around   spillway.Middleware      // nil if nothing stands around calls
	attempts spillway.AttemptObserver // the observer, if it wants to see each attempt; else nil
	machine  *lifecycle.Machine[*session]
	connects *retry.Retrier[struct{}] // nil if a dial isn't repeated
	log      *slog.Logger
	refused  refusals
	missed   missed
	pools    pools
	pings    pings
	wrapped  bool // the driver's client is somebody else's, and stays open

	mu   sync.Mutex             // guards what follows
	past map[laneKey]lane.Stats // what ended sessions counted, and nodes that are gone
	live []*session             // that haven't ended yet; one of them is the current one
	// pastNodes are the nodes in past, the one that was noted first in front.
	pastNodes []string

	driver                  driverTotals // what the driver counted
	readTotals, writeTotals retryTotals  // what retriers counted

	aborts      aborts
	backgrounds backgrounds
}

// ErrWrapped is returned by Connect on a client that was made by Wrap.
var ErrWrapped error = &sentinel{"a wrapped client can't be connected anew", spillway.OutcomePermanent}

// New returns a client that isn't connected yet. A wrong configuration gives a
// *spillway.ConfigError that lists every fault; nothing was dialled.
func New(cfg Config) (*Client, error) {
	return newClient(cfg, false)
}

func newClient(cfg Config, wrapped bool) (*Client, error) {
	source := "Config.Lanes"
	switch {
	case cfg.Limit == 0 && cfg.Lanes == nil:
		source = "default: DefaultLimit, or what ConnectionQueueSize leaves room for"
	case cfg.Lanes == nil:
		source = "Config.Limit"
	}
	cfg, hosts, lanes, err := cfg.settle(wrapped)
	if err != nil {
		return nil, err
	}
	c := &core{cfg: cfg, hosts: hosts, source: source, lanes: lanes, defaults: newDefaults(), wrapped: wrapped, log: cfg.Logger, past: map[laneKey]lane.Stats{}}
	c.defaults.take(cfg.Policies)
	c.around = spillway.JoinMiddleware(cfg.Use...)
	c.attempts, _ = cfg.Observer.(spillway.AttemptObserver)
	c.inForce.Store(c.firstInForce())
	c.connects = c.newConnects()
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.machine, err = lifecycle.New(lifecycle.Config[*session]{
		Name: cfg.Name, Close: c.closeSession, Draining: (*session).drain,
		ConnectTimeout: cfg.ConnectTimeout, DrainTimeout: cfg.DrainTimeout, CloseTimeout: cfg.CloseTimeout,
	})
	if err != nil {
		return nil, err
	}
	c.machine.OnTransition(c.logTransition)
	return &Client{core: c, choices: choices{lane: -1}}, nil
}

// Wrap returns a client around one of the driver, already connected. The driver's
// client stays the caller's: Close of the returned client waits for its calls and
// streams but doesn't close the driver's, and the caller must not close that one
// before. Whoever goes on using the driver's client directly goes past the limits.
// The configuration is that of New, without Hosts and ClientPolicy: the policy is
// taken from the client.
func Wrap(client *as.Client, cfg Config) (*Client, error) {
	if client == nil {
		e := &spillway.ConfigError{Component: "aerospike", Name: cfg.Name}
		e.Add("client", nil, "must not be nil")
		return nil, e
	}
	policy := client.Cluster().ClientPolicy()
	cfg.ClientPolicy = &policy
	cfg.WarmUp = 0
	c, err := newClient(cfg, true)
	if err != nil {
		return nil, err
	}
	c.defaults.adopt(client)
	c.defaults.take(cfg.Policies)
	err = c.machine.Connect(context.Background(), func(context.Context) (*session, error) { //nolint:forbidigo // nothing is dialled
		s, err := c.newSession(client)
		if err == nil {
			s.learnCluster()
		}
		return s, err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Close drains writes in the background, each Background within its Drain and
// CloseTimeout, sends away who waits for a permit, waits for calls and streams under
// way, and then closes the connection, within DrainTimeout + CloseTimeout; all of it ends
// when ctx does. It may be called in
// any state, any number of times, and always ends Disconnected: see
// lifecycle.Machine.Close and Background.Close for its errors. A client that isn't
// wrapped may be connected anew afterwards.
func (c *Client) Close(ctx context.Context) error {
	if c.core == nil {
		return nil
	}
	c.aborts.abort()
	return errors.Join(c.backgrounds.close(ctx), c.machine.Close(ctx))
}

func (c *core) closeSession(_ context.Context, s *session) error {
	c.retire(s)
	if !c.wrapped {
		s.client.Close()
	}
	return nil
}

// State returns where the client is in its life. It looks at nothing but itself: it
// says Connected although all nodes may be gone.
func (c *Client) State() lifecycle.State {
	if c.core == nil {
		return lifecycle.Disconnected
	}
	return c.machine.State()
}

// Name returns the client's name.
func (c *Client) Name() string {
	if c.core == nil {
		return ""
	}
	return c.cfg.Name
}

// errZero is the error of a Client that wasn't made by New or Wrap.
var errZero error = &spillway.ClosedError{Component: "aerospike"}

// closeBound is Close for a Compat: it closes no connection but its own, also if another
// was made while writes in the background were drained.
func (c *Client) closeBound(ctx context.Context) error {
	if !c.isBound() {
		return errGeneration
	}
	c.aborts.abort()
	err := c.backgrounds.close(ctx)
	if !c.isBound() { // somebody else has closed it meanwhile
		return err
	}
	return errors.Join(err, c.machine.Close(ctx))
}

// isBound reports whether the connection is the one that a Compat is bound to.
func (c *Client) isBound() bool {
	s, ok := c.machine.Current()
	return ok && s == c.choices.bound
}
