package policy

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
)

// newStack puts everything together, outermost first: retry with a budget, a limiter for each key
// where keys matter, the lane, the gate, the attempt.
func newStack(e Env, times float64) Client {
	var c Client
	if e.Classes {
		c = newSet(e, e.lending(times))
	} else {
		c = &haunted{newLane(e, times), e.Timeout}
	}
	c = gated{c}
	if e.Keys {
		c = newKeyed(c)
	}
	return budgeted(e, c)
}

// lending lets the critical lane borrow what bulk leaves, and bulk what is left of it, if it is
// quick.
func (e Env) lending(times float64) lane.Lending {
	return lane.Lending{Brief: 5 * e.Mean, Keep: e.share(.25), Ceiling: e.share(times), NoLend: []string{"bulk"}}
}

// gated sends nothing whose time is up after its wait.
type gated struct{ Client }

func (g gated) Do(ctx context.Context, c Call, op Op) error {
	return g.Client.Do(ctx, c, func(ctx context.Context) error {
		_, err := deadline.Gate[unit](time.Millisecond)(lift(op))(ctx)
		return err
	})
}

// haunted is a lane whose calls leave a ghost behind when they time out: the backend works on. A
// ghost lasts twice what most calls take, as in the Aerospike adapter, and no longer than the
// attempt's timeout.
type haunted struct {
	laneClient
	timeout time.Duration
}

func (h *haunted) Do(ctx context.Context, _ Call, op Op) error {
	permit, err := h.Admit(ctx)
	if err != nil {
		return err
	}
	err = op(ctx)
	outcome := spillway.OutcomeOf(err)
	if outcome != spillway.OutcomeTimeout {
		permit.ReleaseWith(outcome)
		return err
	}
	hold := 2 * h.Service()
	if h.timeout > 0 {
		hold = min(hold, h.timeout)
	}
	permit.ReleaseAfter(hold)
	return err
}

// keyStripes is into how many groups keys fall; so many share a limiter by chance.
const keyStripes = 1024

// perKey is how many calls of a group may be under way. The server serves a key one call at a time.
const perKey = 2

// keyed has a limiter for each group of keys, so that a hot key uses up no permits of the node.
type keyed struct {
	Client
	groups [keyStripes]*limiter.Limiter[unit]
}

func newKeyed(c Client) Client {
	k := &keyed{Client: c}
	for i := range k.groups {
		k.groups[i] = must(limiter.New[unit](limiter.Config{Name: "key", Limit: perKey}))
	}
	return k
}

func (k *keyed) Do(ctx context.Context, c Call, op Op) error {
	_, err := k.groups[c.Key%keyStripes].Do(ctx, func(ctx context.Context) (unit, error) { return unit{}, k.Client.Do(ctx, c, op) })
	return err
}

func (k *keyed) Close() {
	for _, g := range k.groups {
		shut(g.Close)
	}
	k.Client.Close()
}
