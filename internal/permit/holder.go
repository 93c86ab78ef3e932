package permit

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// maxDepth bounds a tracked stack. A site needs a few frames too, because those of
// the toolkit itself are passed over.
const (
	maxDepth  = 32
	siteDepth = 16
)

// holder is what was noted when a permit was taken. It is never changed.
type holder struct {
	token uint64
	pcs   []uintptr
	stack bool
	class spillway.Class
}

// note remembers who took the permit of u, if holders are tracked.
func (c *Core) note(ctx context.Context, u Use) {
	if u.token == 0 {
		return
	}
	c.noteHolder(ctx, u.token)
}

func (c *Core) noteHolder(ctx context.Context, token uint64) {
	depth := siteDepth
	if c.opts.Track == spillway.TrackStack {
		depth = maxDepth
	}
	pcs := make([]uintptr, depth)
	h := &holder{token: token, stack: c.opts.Track == spillway.TrackStack}
	h.pcs = pcs[:runtime.Callers(4, pcs)]
	h.class, _ = spillway.ClassFrom(ctx)
	if _, _, cell := c.slots.find(token); cell != nil {
		cell.Store(h)
	}
}

// report makes the holder readable.
func (h *holder) report(weight uint64, age time.Duration) spillway.Holder {
	r := spillway.Holder{Class: h.class, Weight: int(weight), Age: age}
	var stack strings.Builder
	frames := runtime.CallersFrames(h.pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" {
			if r.Site == "" && !ours(f) {
				r.Site = fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line)
			}
			if h.stack {
				fmt.Fprintf(&stack, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
			}
		}
		if !more {
			break
		}
	}
	r.Stack = stack.String()
	return r
}

// ours reports whether a frame is one of the toolkit's own, which isn't what
// somebody who looks for a leak wants to see. Its tests are somebody.
func ours(f runtime.Frame) bool {
	const module = "github.com/spillway-go/spillway"
	rest, ok := strings.CutPrefix(f.Function, module)
	if !ok || strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	for _, p := range []string{
		".", "/internal/", "/limiter", "/lane.", "/retry.", "/deadline.", "/group.", "/lifecycle.", "/adapters/aerospike.",
	} {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}

// Holders returns who holds a permit now, the oldest first. It is empty unless
// holders are tracked. It looks at every slot: meant for people, not for hot paths.
func (c *Core) Holders() []spillway.Holder {
	var out []spillway.Holder
	if c.opts.Track == spillway.TrackOff {
		return nil
	}
	now := c.now()
	for i := uint32(0); i < c.slots.capacity.Load(); i++ {
		ch, at := c.slots.at(i)
		s := &ch.slots[at]
		state := s.state.Load()
		h, since := ch.holders[at].Load(), s.since.Load()
		token := state&seqMask | uint64(i)
		if !current(state, token, slotHeld) || state&slotTimed == 0 || h == nil || h.token != token {
			continue
		}
		// Who came after the clock was read is no older than nothing.
		out = append(out, h.report(state&slotWeight, time.Duration(max(now-since, 0))))
	}
	slices.SortStableFunc(out, func(a, b spillway.Holder) int { return cmp.Compare(b.Age, a.Age) })
	return out
}
