package aerospike

import (
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
)

// choices are what With has chosen for all calls of a client.
type choices struct {
	class      spillway.Class
	lane       int // -1: by operation, class or route
	idempotent bool
	noRetry    bool
	bypass     bool
	detach     bool
	budget     time.Duration
	bound      *session // the only connection that the calls may use; nil for the current one
}

// Choice is made once, for all calls of the client that [Client.With] returns.
type Choice func(*Client) error

// With returns a client that is the same connection, lanes and statistics as c, with
// choices for its calls. It is made once; a call costs what it costs on c. A choice
// that can't be made is an error that names it. Closing either closes both.
func (c *Client) With(choices ...Choice) (*Client, error) {
	if c.core == nil {
		return nil, errZero
	}
	next := &Client{core: c.core, choices: c.choices}
	for i, choose := range choices {
		if choose == nil {
			e := &spillway.ConfigError{Component: "aerospike.With", Name: c.cfg.Name}
			e.Add(fmt.Sprintf("choices[%d]", i), nil, "must not be nil")
			return nil, e
		}
		if err := choose(next); err != nil {
			return nil, err
		}
	}
	return next, nil
}

// Class gives the calls a class, unless their context carries one.
func Class(class spillway.Class) Choice {
	return func(c *Client) error {
		c.choices.class = class
		return nil
	}
}

// Lane sends the calls to a lane, whatever their operation, class or route.
func Lane(name string) Choice {
	return func(c *Client) error {
		i, ok := c.lanes.index[name]
		if !ok || name == LaneAdmin {
			e := &spillway.ConfigError{Component: "aerospike.With", Name: c.cfg.Name}
			e.Add("Lane", name, "must be one of the lanes per node: "+c.lanes.names(false))
			return e
		}
		c.choices.lane = i
		return nil
	}
}

// Idempotent declares that writes may be executed twice without harm, so that they
// are retried like reads.
func Idempotent() Choice {
	return func(c *Client) error { c.choices.idempotent = true; return nil }
}

// NoRetry has every call made once.
func NoRetry() Choice {
	return func(c *Client) error { c.choices.noRetry = true; return nil }
}

// Bypass has the calls go past the lanes, as health checks may have to. They are
// counted nowhere, and are as many as there are.
func Bypass() Choice {
	return func(c *Client) error { c.choices.bypass = true; return nil }
}

// Budget is the longest time that a call takes, retries included. It must be
// positive.
func Budget(d time.Duration) Choice {
	return func(c *Client) error {
		if d <= 0 {
			e := &spillway.ConfigError{Component: "aerospike.With", Name: c.cfg.Name}
			e.Add("Budget", d, fmt.Sprintf("must be positive, and should be more than MinBudget, %v", c.cfg.MinBudget))
			return e
		}
		c.choices.budget = d
		return nil
	}
}
