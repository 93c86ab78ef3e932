package spillway

import "time"

// Releaser takes permits back. It is the seam between a [Permit] and whoever gave
// it out; the primitives implement it, and so can a user's own admission. End is
// called with the token that was given to [NewPermit] and must take effect at most
// once for a token. hold > 0 asks for the permit to stay in use that much longer,
// because the backend may still be working.
type Releaser interface {
	End(token uint64, o Outcome, hold time.Duration)
}

// Permit is the right to one piece of work, or to as many units of it as its
// weight. It is a value: it may be copied, stored and handed to another goroutine,
// and whoever holds a copy may release it. The first release counts, on whichever
// copy; every later one does nothing. A permit that is never released stays in use
// for ever. All its methods are safe for concurrent use and never block. The zero
// Permit stands for "nothing to give back": releasing it does nothing, so a failed
// Admit may be released like any other.
type Permit struct {
	releaser Releaser
	token    uint64
}

// NewPermit returns a permit that is given back to r under the token. It is for
// those who write an admission of their own.
func NewPermit(r Releaser, token uint64) Permit {
	return Permit{releaser: r, token: token}
}

// Release gives the permit back and counts the work as done ([OutcomeOK]).
func (p Permit) Release() { p.end(OutcomeOK, 0) }

// ReleaseWith gives the permit back and counts the work as ended with o.
func (p Permit) ReleaseWith(o Outcome) { p.end(o, 0) }

// ReleaseAfter counts the work as timed out and lets the permit stay in use for
// another d, as a ghost: the caller has gone, but the backend may still work on
// what it was sent. No timer is set; the ghost is found to be over when somebody
// wants its place. With d ≤ 0 the permit is given back at once.
func (p Permit) ReleaseAfter(d time.Duration) { p.end(OutcomeTimeout, max(d, 0)) }

func (p Permit) end(o Outcome, hold time.Duration) {
	if p.releaser != nil {
		p.releaser.End(p.token, o, hold)
	}
}
