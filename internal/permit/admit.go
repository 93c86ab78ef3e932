package permit

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/slot"
)

// Admit is Do for callers that give the permit back elsewhere, or later, or perhaps
// twice: the permit is a value that counts once. In mode Off it is the zero Permit.
//
// Its first lines are the whole of it for the common case, as in Do.
func (c *Core) Admit(ctx context.Context, n int) (spillway.Permit, error) {
	if c == nil || c.careful || ctx.Err() != nil {
		return c.admitSlow(ctx, n)
	}
	s, w := c.word.Load(), uint64(n)
	switch {
	case s&special != 0 || w-1 >= limitOf(s):
		return c.admitSlow(ctx, n)
	case !fits(s, w):
		if c.opts.Room == 0 && s&ghostsBit == 0 {
			return spillway.Permit{}, c.reject(ctx, spillway.ReasonLimit)
		}
		return c.admitSlow(ctx, n)
	case !c.word.CompareAndSwap(s, s+w):
		return c.admitSlow(ctx, n)
	}
	number := c.admitted.Add(1)
	if number&c.sampled.Load() == 0 {
		return c.Own(Use{weight: w | useCounted, since: c.begin(ctx, w)}), nil
	}
	_, token := c.slots.Claim(number, slotHeld|uint32(w))
	return spillway.NewPermit(c, token), nil
}

func (c *Core) admitSlow(ctx context.Context, n int) (spillway.Permit, error) {
	u, err := c.enter(ctx, n)
	if err != nil {
		return spillway.Permit{}, err
	}
	return c.Own(u), nil
}

// Own turns a Use into a permit. The Use must not be given back any more.
func (c *Core) Own(u Use) spillway.Permit {
	if u.weight&useCounted == 0 {
		return spillway.Permit{}
	}
	if u.token == 0 {
		u.token = c.claim(c.admitted.Load(), u)
	}
	return spillway.NewPermit(c, u.token)
}

// End implements spillway.Releaser. A token that was ended already does nothing.
//
// Its first lines are the whole of endSlow for a permit that is neither timed nor tracked,
// nor stays in use.
func (c *Core) End(token uint64, o spillway.Outcome, hold time.Duration) {
	if int(o) >= len(c.ended) {
		o = spillway.OutcomeUnknown
	}
	s, state := c.slots.Find(token)
	if s == nil {
		return
	}
	if c.tracks || hold > 0 || state&(slotTaken|slotTimed) != slotHeld {
		c.endSlow(token, o, hold)
		return
	}
	if !s.Swap(state, 0) {
		return
	}
	c.ended[o].Add(1) // first, as in Leave
	c.giveBack(state & slotWeight)
}

func (c *Core) endSlow(token uint64, o spillway.Outcome, hold time.Duration) {
	h, ok := c.vacate(token, hold > 0, o)
	if !ok {
		return
	}
	c.ended[o].Add(1)
	if hold > 0 {
		c.haunt(token, h.weight, hold)
	} else {
		c.giveBack(h.weight)
	}
	h.meter.end(h.sample)
	c.warn(h)
}

// over is a hold that has ended.
type over struct {
	weight uint64
	age    time.Duration // 0 if it wasn't timed
	sample spillway.Sample
	meter  *metered   // who is to be told of the sample; nil if nobody
	holder *slot.Note // nil if holders aren't tracked
}

// vacate ends the hold of a token, records how long it was, and leaves the slot
// free, or to a ghost. ok is false if the token was released before.
func (c *Core) vacate(token uint64, toGhost bool, o spillway.Outcome) (h over, ok bool) {
	s, state := c.held(token)
	if s == nil {
		return h, false
	}
	since, holder := s.Since.Load(), s.Note.Load()
	var next uint32
	if toGhost {
		next = slotGhost | uint32(state&slotWeight)
	}
	if !s.Swap(state, next) {
		return h, false
	}
	h.weight = state & slotWeight
	if state&slotTimed != 0 {
		h.sample, h.meter = c.measure(since, h.weight, o)
		h.age = h.sample.Took
	}
	if holder != nil && holder.Token == token {
		h.holder = holder
	}
	return h, true
}

// warn tells the hook of a hold that was a long one. The permit is back by then, so
// the hook finds it free, and keeps nobody from it however long it takes.
func (c *Core) warn(h over) {
	if c.opts.HoldWarn > 0 && h.age >= c.opts.HoldWarn && h.holder != nil {
		c.tellHeldLong(c.report(h.holder, h.weight, h.age))
	}
}
