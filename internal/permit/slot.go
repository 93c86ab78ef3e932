package permit

import "github.com/spillway-go/spillway/internal/slot"

// The payload of a permit's slot, high bits to low:
//
//	31     30      29      28       27 ......... 0
//	held   ghost   timed   unused   weight
//
// Invariant: the weights of all slots that are held or ghosts, and of all Uses
// without a slot, sum up to the use in the word, when the core is quiet.
const (
	slotHeld   = 1 << 31
	slotGhost  = 1 << 30
	slotTimed  = 1 << 29 // Since is this owner's
	slotTaken  = slotHeld | slotGhost
	slotWeight = MaxLimit
)

// claim takes a slot for u and returns its token, never 0.
func (c *Core) claim(n uint64, u Use) uint64 {
	p := slotHeld | uint32(u.weight&slotWeight)
	s, token := c.slots.Claim(n, p)
	if u.since != 0 {
		s.Since.Store(u.since)
		s.SetPayload(token, p|slotTimed)
	}
	return token
}

// held returns the slot of a token whose permit is out, and its state; nil if it
// was released before.
func (c *Core) held(token uint64) (*slot.Slot, uint64) {
	s, state := c.slots.Find(token)
	if s == nil || state&slotTaken != slotHeld {
		return nil, 0
	}
	return s, state
}
