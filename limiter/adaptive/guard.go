package adaptive

import (
	"time"

	"github.com/spillway-go/spillway"
)

// Guard is what a controller drives: a [limiter.Limiter] or a [lane.Lane] of any type, or
// anything else with their methods of these names.
type Guard interface {
	// Name is the guard's name.
	Name() string
	// Limit returns the permits there are.
	Limit() int
	// SetLimit changes the number of permits, to one at least.
	SetLimit(n int) error
	// SetPace sets the least time between a call's end and the next one's begin, one at a
	// time; 0 ends that.
	SetPace(gap time.Duration) error
	// SetMaxWeight lets calls up to that weight run alone although the limit is lower; 0
	// ends that.
	SetMaxWeight(n int) error
	// SetMeter has m told of one in every calls; nil ends that.
	SetMeter(m spillway.Meter, every int) error
}

// order is what a guard is told to be.
type order struct {
	permits int
	gap     time.Duration // between two calls; 0 if they aren't paced
	weight  int           // the highest weight; 0: the limit
	every   int           // one in so many calls is measured; 0: none
}

// orderLocked is what the guard should be now.
func (c *Controller) orderLocked() order {
	switch {
	case c.stopped:
		return order{permits: c.static}
	case c.mode == spillway.Off || c.broken:
		return order{permits: c.static, weight: c.cfg.Max}
	case c.mode == spillway.Shadow:
		return order{permits: c.static, weight: c.cfg.Max, every: c.every}
	default:
		return order{permits: c.state.permits(), gap: c.state.gap(), weight: c.cfg.Max, every: c.every}
	}
}

// obey makes the guard what it should be. No lock of the controller's is held while the
// guard is told: a guard calls its own hooks, and they may call the controller. Who finds
// another at it leaves it to him; he looks again before he goes.
func (c *Controller) obey() error {
	for {
		if !c.obeying.TryLock() {
			return nil
		}
		c.mu.Lock()
		want := c.orderLocked()
		c.mu.Unlock()
		if want == c.obeyed {
			c.obeying.Unlock()
			return nil
		}
		err := c.tell(want, c.obeyed)
		c.obeyed = want
		c.obeying.Unlock()
		if err != nil {
			return err
		}
	}
}

// tell changes the guard from what it was told to be to what it is to be.
func (c *Controller) tell(want, old order) error {
	g := c.guard
	if want.weight != old.weight {
		if err := g.SetMaxWeight(want.weight); err != nil {
			return err
		}
	}
	if want.gap != old.gap {
		if err := g.SetPace(want.gap); err != nil {
			return err
		}
	}
	if want.permits != old.permits {
		if err := g.SetLimit(want.permits); err != nil {
			return err
		}
	}
	switch want.every {
	case old.every:
		return nil
	case 0:
		return g.SetMeter(nil, 0)
	default:
		return g.SetMeter(c.meter, want.every)
	}
}
