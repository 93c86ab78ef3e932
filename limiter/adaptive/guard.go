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

// unknown is what a guard is that didn't take all it was told.
func unknown() order { return order{permits: -1, gap: -1, weight: -1, every: -1} }

// orderLocked is what the guard should be now.
func (c *Controller) orderLocked() order {
	switch {
	case c.stopped || c.mode == spillway.Off || c.broken:
		return order{permits: c.static}
	case c.mode == spillway.Shadow:
		return order{permits: c.static, every: c.every}
	default:
		return order{permits: c.state.permits(), gap: c.state.gap(), weight: c.cfg.Max, every: c.every}
	}
}

// obey makes the guard what it should be. No lock of the controller's is held while the
// guard is told: a guard calls its own hooks, and they may call the controller. Who finds
// another at it leaves it to him: he looks again after he has let go.
func (c *Controller) obey() (err error) {
	c.stale.Store(true)
	for c.stale.Load() && c.obeying.TryLock() {
		if e := c.obeyOnce(); e != nil {
			err = e
		}
	}
	return err
}

// obeyOnce is obey for who has the right to tell the guard, which he gives back, even if
// the guard's own hooks panic or end the goroutine.
func (c *Controller) obeyOnce() error {
	defer c.obeying.Unlock()
	c.stale.Store(false)
	c.mu.Lock()
	want, last := c.orderLocked(), c.stopped
	c.mu.Unlock()
	var err error
	if old := c.obeyed; want != old {
		c.obeyed = unknown()
		if err = c.tell(want, old); err == nil {
			c.obeyed = want
		}
	}
	if last {
		c.mu.Lock()
		c.released = true
		c.mu.Unlock()
	}
	return err
}

// tell changes the guard from what it was told to be to what it is to be. Heavy calls
// that wait are sent away by whatever would keep them out: so the limit rises before it
// alone counts, and falls after.
func (c *Controller) tell(want, old order) error {
	g, heavier := c.guard, want.weight > max(old.weight, 0)
	if heavier {
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
	if !heavier && want.weight != old.weight {
		if err := g.SetMaxWeight(want.weight); err != nil {
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
