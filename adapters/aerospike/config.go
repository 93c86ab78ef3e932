package aerospike

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// DefaultLimit is the limit per node if the connection pool allows it. On a real
// server behind two cores, 32 calls at once gave the highest throughput at the
// lowest latency; the pool's size gave a third of it.
const DefaultLimit = 32

// DefaultDriverTimeout is the driver's own timeout if no policy says otherwise: how long
// it waits for a connection to be opened, and for an answer when it tends the cluster. One
// node that hangs keeps it from tending all others that long. The driver's default is 30 s.
const DefaultDriverTimeout = 3 * time.Second

// Config are the settings of a client. Start from [DefaultConfig]: the zero Config
// is not valid.
type Config struct {
	// Name is the client's name in errors, statistics, logs and telemetry, where it has
	// to be unique. It must not be empty.
	Name string
	// Hosts are the seeds, as host:port, or as host:name:port where TLS is on and the
	// certificate has another name than the host. There must be one at least, except for
	// Wrap.
	Hosts []string
	// ClientPolicy is the driver's policy; nil is as.NewClientPolicy() with a Timeout of
	// DefaultDriverTimeout. It is copied. Its ConnectionQueueSize must be 5 at least, its
	// Timeout positive, and LimitConnectionsToQueueSize true.
	// FailIfNotConnected is always on, and an OpeningConnectionThreshold of zero,
	// which lets one cold call open the whole pool, becomes the largest limit of a lane.
	ClientPolicy *as.ClientPolicy
	// Policies are the policies of calls that pass none. SetDefaultPolicy and its like
	// change them later. The zero Policies are the driver's defaults.
	Policies Policies
	// Limit is how many reads of single records there may be in the driver at once,
	// per node; the other lanes follow in proportion (DefaultLanes). All lanes of a
	// node together must be below ConnectionQueueSize, of which the driver needs one
	// connection for itself. Zero is DefaultLimit, or less if the pool is small.
	Limit int
	// Lanes are the lanes, if Limit's proportions don't fit. It must have the five
	// default lanes and may have others, for Classes, Route and With. Nil follows Limit.
	Lanes []LaneConfig
	// Classes maps the class of a call's context to a lane. A class that isn't here
	// leaves the lane to the operation. Nil maps none.
	Classes map[spillway.Class]string
	// Route chooses a call's lane by name; an empty name, or one that there isn't,
	// leaves it to class and operation. It is called for every call and must be quick.
	// Nil routes none.
	Route func(spillway.Call) string
	// Reads is how reads are retried, and Writes how writes are that were declared
	// idempotent (With(Idempotent())); other writes are made once. The zero Policy
	// retries nothing. Each should have a Budget of its own.
	Reads, Writes retry.Policy
	// Connects is how Connect repeats a dial that failed because nobody answered. The
	// zero Policy dials once.
	Connects retry.Policy
	// GhostFactor is how many times as long as most calls take (their ninth decile) a
	// call that timed out keeps its permit, because the server may still be at work on
	// it, up to 100. Zero gives the permit back at once.
	GhostFactor float64
	// Use stand around every call, retries included; the first is outermost. None may
	// be nil. One that calls next while an earlier next of the same call is under way gets
	// an error from it; a call of which one says that it succeeded, although its last next
	// has failed, or there was none, fails with that.
	Use []spillway.Middleware
	// Observer is told of every call; see spillway.Observer. One that is a
	// spillway.AttemptObserver is told of each attempt, too, but of streams. Nil is nobody.
	Observer spillway.Observer
	// LaneHooks returns what is told of a lane, by the lane's name: of all that happens in
	// it, at whatever node. New calls it once for each lane. Nil is nobody.
	LaneHooks func(name string) lane.Hooks
	// Mode is what the limits do. In modes Shadow and Off the policies that are
	// passed reach the driver as they are, with its own retries and timeouts. Zero is
	// Enforce.
	Mode spillway.Mode
	// RetryAfter is the hint that refusals carry. Zero means none.
	RetryAfter time.Duration
	// RecordTimeout is the time that a call for records, single or batch, has, retries
	// included, if neither its context has a deadline nor its policy a TotalTimeout. (The
	// driver's default policies for records have one, of a second. With a deadline it
	// bounds each attempt.) It must be positive.
	RecordTimeout time.Duration
	// StreamTimeout is the time that a stream has if neither its context has a deadline nor
	// its policy a TotalTimeout. It must be positive.
	StreamTimeout time.Duration
	// MinBudget is the least time that a call must have left to be sent. It must be
	// a millisecond at least, the unit in which the server is told.
	MinBudget time.Duration
	// WarmUp is how many connections per node Connect opens before it returns, a few
	// at a time and no more than the pool holds, so that the first calls don't have
	// to. Zero means none: the first calls wait for theirs.
	WarmUp int
	// ConnectTimeout is the longest time Connect may take, DrainTimeout the longest
	// time Close waits for calls and streams, CloseTimeout the longest it waits for
	// the driver's own close. See lifecycle.Config.
	ConnectTimeout, DrainTimeout, CloseTimeout time.Duration
	// Logger is told of connects with the limits in force and where they come from,
	// of state changes, and once a minute at most of refusals. Nil logs nothing.
	Logger *slog.Logger
}

// DefaultConfig returns the settings that fit most, for a cluster with these seeds
// ("host:port"): the name "aerospike"; DefaultLimit reads per node and the other lanes in
// proportion, mode Enforce; 5 s for a call and 30 s for a stream of which neither context
// nor policy says how long it may take, and nothing sent with less than 2 ms left;
// retry.ReadPolicy (3 attempts) with a budget of its own (retry.DefaultBudgetConfig) for reads,
// and for writes that were declared idempotent; one dial; ghosts for twice as long as most
// calls take; 32 connections per node opened at Connect; 30 s for Connect, 10 s for calls to
// end at Close and 5 s for the driver's own close. It logs nothing and hints at nothing.
func DefaultConfig(hosts ...string) Config {
	return Config{
		Name: "aerospike", Hosts: hosts,
		RecordTimeout: 5 * time.Second, StreamTimeout: 30 * time.Second, MinBudget: 2 * time.Millisecond,
		WarmUp:         DefaultLimit,
		Reads:          defaultRetry(retry.ReadPolicy(), "reads"),
		Writes:         defaultRetry(retry.ReadPolicy(), "writes"),
		GhostFactor:    2,
		ConnectTimeout: 30 * time.Second, DrainTimeout: 10 * time.Second, CloseTimeout: 5 * time.Second,
	}
}

// defaultRetry is a policy for one kind of call, with a budget of its own.
func defaultRetry(p retry.Policy, name string) retry.Policy {
	p.Name = name
	p.Budget, _ = retry.NewBudget(retry.DefaultBudgetConfig()) // which is valid
	return p
}

// settle validates the configuration and fills in what follows from other fields.
func (c Config) settle(wrapped bool) (Config, []*as.Host, *laneTable, error) {
	e := &spillway.ConfigError{Component: "aerospike", Name: c.Name}
	c.ClientPolicy, c.Hosts, c.Lanes = c.policy(), slices.Clone(c.Hosts), cloneLanes(c.Lanes)
	c.Reads.Hooks, c.Writes.Hooks = slices.Clone(c.Reads.Hooks), slices.Clone(c.Writes.Hooks) // Apply makes retriers, too
	c.checkPolicy(e)
	hosts := c.checkHosts(e, wrapped)
	if strings.TrimSpace(c.Name) == "" {
		e.Add("Name", c.Name, "must not be empty")
	}
	c = c.settleLanes(e)
	if !c.Mode.Valid() {
		e.Add("Mode", c.Mode, "must be Enforce, Shadow, Off or RefuseAll")
	}
	if c.RetryAfter < 0 {
		e.Add("RetryAfter", c.RetryAfter, "must not be negative")
	}
	c.checkTimes(e)
	c.checkRetry(e)
	if c.WarmUp < 0 {
		e.Add("WarmUp", c.WarmUp, "must not be negative")
	}
	c.WarmUp = min(c.WarmUp, max(c.ClientPolicy.ConnectionQueueSize-1, 0))
	if c.ClientPolicy.OpeningConnectionThreshold == 0 {
		c.ClientPolicy.OpeningConnectionThreshold = largest(c.Lanes)
	}
	c.ClientPolicy.FailIfNotConnected = true
	lanes := c.laneTable(e)
	return c, hosts, lanes, e.Err()
}

// settleLanes fills in the lanes, and checks them against the pool.
func (c Config) settleLanes(e *spillway.ConfigError) Config {
	most := c.ClientPolicy.ConnectionQueueSize - 1
	switch {
	case c.Limit < 0 || c.Limit > limiter.MaxLimit:
		e.Add("Limit", c.Limit, fmt.Sprintf("must be from 1 to %d, or 0 for the default", limiter.MaxLimit))
		return c
	case c.Limit == 0 && c.Lanes == nil:
		c.Limit = largestReads(most)
	}
	field, value := "Limit", any(c.Limit)
	if c.Lanes == nil {
		c.Lanes = DefaultLanes(c.Limit)
	} else {
		field, value = "Lanes", any(fmt.Sprintf("%d in all", perNode(c.Lanes)))
	}
	if need := perNode(c.Lanes); need > most && most >= 1 {
		e.Add(field, value, fmt.Sprintf("must be lower: its lanes need %d connections of a node, and of ConnectionQueueSize there are %d for calls", need, most))
	}
	return c
}

// policy returns a copy of the driver's policy.
func (c Config) policy() *as.ClientPolicy {
	if c.ClientPolicy == nil {
		policy := as.NewClientPolicy()
		policy.Timeout = DefaultDriverTimeout
		return policy
	}
	policy := *c.ClientPolicy
	policy.IpMap, policy.RackIds = maps.Clone(policy.IpMap), slices.Clone(policy.RackIds)
	return &policy
}

// checkPolicy finds what would make the driver panic, or dial for ever.
func (c Config) checkPolicy(e *spillway.ConfigError) {
	p := c.ClientPolicy
	if p.ConnectionQueueSize < 5 {
		e.Add("ClientPolicy.ConnectionQueueSize", p.ConnectionQueueSize, "must be at least 5: one for each lane of a node, and one that the driver keeps for itself")
	}
	if p.MinConnectionsPerNode < 0 || p.MinConnectionsPerNode > p.ConnectionQueueSize {
		e.Add("ClientPolicy.MinConnectionsPerNode", p.MinConnectionsPerNode, "must be from 0 to ConnectionQueueSize")
	}
	if p.MaxErrorRate > 0 && p.ErrorRateWindow <= 0 {
		e.Add("ClientPolicy.ErrorRateWindow", p.ErrorRateWindow, "must be positive while MaxErrorRate is: the driver divides by it")
	}
	if p.Timeout <= 0 {
		e.Add("ClientPolicy.Timeout", p.Timeout, "must be positive")
	}
	if !p.LimitConnectionsToQueueSize {
		e.Add("ClientPolicy.LimitConnectionsToQueueSize", false, "must be true: without it the number of connections has no bound")
	}
	if p.AuthMode == as.AuthModeExternal && p.User != "" && p.TlsConfig == nil {
		e.Add("ClientPolicy.TlsConfig", nil, "must be set with AuthMode External, which sends the password as it is")
	}
	if p.OpeningConnectionThreshold < 0 {
		e.Add("ClientPolicy.OpeningConnectionThreshold", p.OpeningConnectionThreshold, "must not be negative")
	}
}

func (c Config) checkTimes(e *spillway.ConfigError) {
	for _, d := range []struct {
		field string
		value time.Duration
		least time.Duration
	}{
		{"RecordTimeout", c.RecordTimeout, time.Millisecond},
		{"StreamTimeout", c.StreamTimeout, time.Millisecond},
		{"MinBudget", c.MinBudget, time.Millisecond},
		{"ConnectTimeout", c.ConnectTimeout, time.Millisecond},
		{"DrainTimeout", c.DrainTimeout, 0},
		{"CloseTimeout", c.CloseTimeout, time.Millisecond},
	} {
		if d.value < d.least {
			e.Add(d.field, d.value, fmt.Sprintf("must be at least %v", d.least))
		}
	}
}

// checkRetry validates the retry policies and what stands around calls.
func (c Config) checkRetry(e *spillway.ConfigError) {
	for field, p := range map[string]retry.Policy{"Reads": c.Reads, "Writes": c.Writes, "Connects": c.Connects} {
		if p.MaxAttempts == 0 {
			continue // retries nothing
		}
		e.Include(field+".", p.Validate())
	}
	if !(c.GhostFactor >= 0 && c.GhostFactor <= 100) { // NaN too
		e.Add("GhostFactor", c.GhostFactor, "must be from 0 to 100")
	}
	for i, m := range c.Use {
		if m == nil {
			e.Add(fmt.Sprintf("Use[%d]", i), nil, "must not be nil")
		}
	}
}
