package permit

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/callsite"
	"github.com/spillway-go/spillway/internal/slot"
)

// maxDepth bounds a tracked stack. A site needs a few frames too, because those of
// the toolkit itself are passed over.
const (
	maxDepth  = 40
	siteDepth = 24
)

// classOf returns the class that ctx carries, if holders are tracked. It is asked for
// before anything is taken: a context is its caller's code, and whatever that does must
// not cost a permit.
func (c *Core) classOf(ctx context.Context) (class spillway.Class) {
	if c.opts.Track != spillway.TrackOff {
		class, _ = spillway.ClassFrom(ctx)
	}
	return class
}

// note remembers who took the permit of u, if holders are tracked.
func (c *Core) note(class spillway.Class, u Use) {
	if u.token == 0 {
		return
	}
	c.noteHolder(class, u.token)
}

func (c *Core) noteHolder(class spillway.Class, token uint64) {
	depth := siteDepth
	if c.opts.Track == spillway.TrackStack {
		depth = maxDepth
	}
	pcs := make([]uintptr, depth)
	h := &slot.Note{Token: token, PCs: pcs[:runtime.Callers(4, pcs)], Class: class}
	if s, _ := c.slots.Find(token); s != nil {
		s.Note.Store(h)
	}
}

// report makes a holder readable.
func (c *Core) report(h *slot.Note, weight uint64, age time.Duration) spillway.Holder {
	r := spillway.Holder{Class: h.Class, Weight: int(weight), Age: age, Site: callsite.Of(h.PCs)}
	if c.opts.Track == spillway.TrackStack {
		r.Stack = callsite.Stack(h.PCs)
	}
	return r
}

// Holders returns who holds a permit now, the oldest first. It is empty unless
// holders are tracked. It looks at every slot: meant for people, not for hot paths.
func (c *Core) Holders() []spillway.Holder {
	var out []spillway.Holder
	if c.opts.Track == spillway.TrackOff {
		return nil
	}
	now := c.now()
	named := map[[maxDepth]uintptr]spillway.Holder{} // by the way they came, because to name it is dear
	for i := range c.slots.Len() {
		s := c.slots.At(i)
		state := s.State.Load()
		h, since := s.Note.Load(), s.Since.Load()
		token := slot.Token(state, i)
		if state&slotTaken != slotHeld || state&slotTimed == 0 || h == nil || h.Token != token {
			continue
		}
		var way [maxDepth]uintptr
		copy(way[:], h.PCs)
		r, ok := named[way]
		if !ok {
			r = c.report(h, 0, 0)
			named[way] = r
		}
		// Who came after the clock was read is no older than nothing.
		r.Class, r.Weight, r.Age = h.Class, int(state&slotWeight), max(age(since, now), 0)
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b spillway.Holder) int { return cmp.Compare(b.Age, a.Age) })
	return out
}
