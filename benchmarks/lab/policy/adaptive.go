package policy

import (
	"context"

	"github.com/spillway-go/spillway/limiter/adaptive"
)

// adaptives are the stack with a limit that moves.
func adaptives() []Policy {
	return []Policy{
		{
			Name: "adaptive", Family: "spillway", Judged: true, Static: "stack",
			About: "the stack with limiter/adaptive, which learns what a call takes, from the same 1.5c; each lane of several by itself, up to its share",
			New:   func(e Env) Client { return newAdaptive(e, 1.5, false) },
		},
		{
			Name: "adaptive target", Family: "spillway", Judged: true, Static: "stack", Aimed: true,
			About: "the same with a latency target: 1.75 times what a call takes alone",
			New:   func(e Env) Client { return newAdaptive(e, 1.5, true) },
		},
		{
			Name: "adaptive 8c", Family: "spillway", Static: "stack 8c",
			About: "the one that learns, from a limit that somebody guessed",
			New:   func(e Env) Client { return newAdaptive(e, 8, false) },
		},
	}
}

// mostAdaptive is the highest limit: below the pool of a driver, say.
const mostAdaptive = 200

func newAdaptive(e Env, times float64, target bool) Client {
	var c Client
	if e.Classes {
		d := &drivenSet{setClient: newSet(e, e.lending(times))}
		for _, st := range d.Stats() {
			d.controllers = append(d.controllers, must(adaptive.Drive(d.Lane(st.Name), e.adaptive(st.Limit, target && st.Name == "critical"))))
		}
		c = d
	} else {
		d := &driven{haunted: haunted{newLane(e, times), e.Timeout}, heavy: e.Heavy > 0}
		d.controller = must(adaptive.Drive(d.Lane, e.adaptive(max(mostAdaptive, e.share(times)), target)))
		c = d
	}
	c = gated{c}
	if e.Keys {
		c = newKeyed(c)
	}
	return budgeted(e, c)
}

// adaptive returns the settings of a controller.
func (e Env) adaptive(most int, target bool) adaptive.Config {
	cfg := adaptive.DefaultConfig(most)
	cfg.Trusted = true
	if e.Heavy > 0 {
		cfg.Classes = []adaptive.Class{{Name: heavyClass}}
	}
	if target {
		// The documentation says so: 1.75 times what a call takes alone.
		cfg.Target = 7 * e.Alone / 4
		for i := range cfg.Classes {
			cfg.Classes[i].Target = 7 * e.Heavy / 4
		}
	}
	return cfg
}

const heavyClass = "heavy"

// driven is a lane whose limit a controller moves.
type driven struct {
	haunted
	controller *adaptive.Controller
	heavy      bool // whether there are heavy calls
}

func (d *driven) Do(ctx context.Context, c Call, op Op) error {
	if d.heavy && c.Heavy {
		ctx = adaptive.WithClass(ctx, heavyClass)
	}
	return d.haunted.Do(ctx, c, op)
}

func (d *driven) Limit() float64 { return d.controller.Stats().Limit }

func (d *driven) Close() {
	must(0, d.controller.Stop())
	d.haunted.Close()
}

// drivenSet is a set of lanes, each with a controller that keeps it within its share: one lane
// must not grow at the cost of the others.
type drivenSet struct {
	setClient
	controllers []*adaptive.Controller
}

func (d *drivenSet) Limit() (sum float64) {
	for _, c := range d.controllers {
		sum += c.Stats().Limit
	}
	return sum
}

func (d *drivenSet) Close() {
	for _, c := range d.controllers {
		must(0, c.Stop())
	}
	d.setClient.Close()
}
