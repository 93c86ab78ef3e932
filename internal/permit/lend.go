package permit

import (
	"context"
	"time"
)

// Full reports whether a call of weight n would have to wait, or be refused, for
// want of permits and nothing else. A paced core is never full: its calls are held up
// by the pace, even while its permit is out, and more permits would undo that.
func (c *Core) Full(n int) bool {
	s := c.word.Load()
	if s&ghostsBit != 0 && c.reap() {
		s = c.word.Load()
	}
	w, ok := c.weigh(s, uint64(n))
	return ok && s&(modeMask|closedBit|pacedBit) == 0 && !room(s, w)
}

// Service returns what a call is taken to need: the ninth decile of the samples of
// how long permits were held; 0 if there are none yet.
func (c *Core) Service() time.Duration { return time.Duration(c.flow.service.Load()) }

// Brief reports whether calls are known to need no more than d.
func (c *Core) Brief(d time.Duration) bool { return c.known() && c.Service() <= d }

// Learn has the estimate of what a call needs go by one that held a permit of another
// core for d, too. Only a core whose calls are known borrows.
func (c *Core) Learn(d time.Duration) { c.flow.observe(d) }

// Now is a reading of the core's clock.
func (c *Core) Now() int64 { return c.now() }

// Lend admits a call of somebody else's if that leaves keep permits free: one who
// belongs here then still finds some. Nothing is counted as refused.
func (c *Core) Lend(ctx context.Context, n, keep int) (Use, bool) {
	class := c.classOf(ctx)
	for {
		s := c.word.Load()
		w, ok := plain(s, n)
		if !ok || useOf(s)+w+uint64(keep) > limitOf(s) {
			if s&ghostsBit != 0 && c.reap() {
				continue
			}
			return Use{}, false
		}
		if c.word.CompareAndSwap(s, s+w) {
			u := c.admit(ctx, w, c.sampled.Load())
			c.note(class, u)
			return u, true
		}
	}
}
