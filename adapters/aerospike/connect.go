package aerospike

import (
	"context"
	"errors"
	"sync"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/lifecycle"
	"github.com/spillway-go/spillway/retry"
)

// Connect connects to the cluster and opens the first connections. It returns nil
// when calls can be made. Only one Connect is under way at a time; in any other
// state than Disconnected it returns a *lifecycle.StateError at once. The driver
// can't be interrupted while it connects: if ctx ends first, Connect returns its
// cause at once, and the client that the driver may still bring is closed when it
// arrives. With Config.Connects a dial that failed is repeated; in between the state is
// Disconnected, and Close ends it then, too.
func (c *Client) Connect(ctx context.Context) error {
	if c.core == nil {
		return errZero
	}
	if c.wrapped {
		return ErrWrapped
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	// Settings that were applied while the session was being made.
	c.applying.Lock()
	defer c.applying.Unlock()
	if session, ok := c.machine.Current(); ok {
		c.logDisobeyed(session.obey(c.inForce.Load()))
	}
	return nil
}

// connect makes the dials of Connect.
func (c *core) connect(ctx context.Context) error {
	if c.connects == nil {
		return c.machine.Connect(ctx, c.dial)
	}
	ctx, stop := c.aborts.join(ctx)
	defer stop()
	_, err := c.connects.Do(ctx, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, c.machine.Connect(ctx, c.dial)
	})
	return err
}

// newConnects returns who repeats dials; nil for nobody.
func (c *core) newConnects() *retry.Retrier[struct{}] {
	p := c.cfg.Connects
	if p.MaxAttempts == 0 {
		return nil
	}
	p.Name = c.cfg.Name + "/connects"
	p.Idempotent = true
	p.Classify = func(err error) retry.Verdict {
		var timeout *lifecycle.TimeoutError
		if errors.As(err, &timeout) {
			return retry.Transient
		}
		return verdictOf(err)
	}
	r, err := retry.New[struct{}](p)
	if err != nil {
		return nil // not reached: it was validated
	}
	return r
}

// dial has the driver make a client, and opens the first connections.
func (c *core) dial(ctx context.Context) (*session, error) {
	policy := *c.cfg.ClientPolicy
	client, err := as.NewClientWithPolicyAndHost(&policy, c.hosts...)
	if err != nil {
		return nil, c.connectError(err)
	}
	c.defaults.apply(client)
	s, serr := c.newSession(client)
	if serr != nil {
		client.Close()
		return nil, serr
	}
	s.learnCluster()
	s.warmUp(ctx, c.cfg.WarmUp)
	return s, nil
}

// aborts ends the Connects that are between two dials, which the machine knows
// nothing of.
type aborts struct {
	mu      sync.Mutex
	waiting map[*context.CancelCauseFunc]struct{}
}

// join returns a context that abort ends. stop must be called.
func (a *aborts) join(ctx context.Context) (joined context.Context, stop func()) {
	joined, cancel := context.WithCancelCause(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting == nil {
		a.waiting = map[*context.CancelCauseFunc]struct{}{}
	}
	a.waiting[&cancel] = struct{}{}
	return joined, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.waiting, &cancel)
		cancel(nil)
	}
}

// abort ends those that joined.
func (a *aborts) abort() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for cancel := range a.waiting {
		(*cancel)(lifecycle.ErrConnectAborted)
	}
}
