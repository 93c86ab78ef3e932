package permit

import "github.com/spillway-go/spillway"

// The word, high bits to low:
//
//	63      62      61      60       59 58   57 ........ 30   29 ......... 0
//	paced   ghosts  closed  waiting  mode    limit            use
//
// use is the weight of all permits that are out, ghosts included; limit is how
// much may be out.
//
// Invariant: an admission in mode Enforce leaves use <= limit. (use > limit is
// possible after the limit was lowered, and in mode Shadow.)
// Invariant: the waiting bit is set if and only if the queue isn't empty, seen
// under the lock.
// Invariant: the ghosts bit is set if and only if there are ghosts, seen under the
// lock.
// Invariant: the closed bit is never cleared.
const (
	useBits   = 30
	limitBits = 28

	// MaxLimit is the highest limit, and the highest weight. It is four times
	// smaller than what use can hold, so a sum of the two never overflows.
	MaxLimit = 1<<limitBits - 1

	useMask    = 1<<useBits - 1
	limitShift = useBits
	limitMask  = MaxLimit << limitShift
	modeShift  = limitShift + limitBits
	modeMask   = 3 << modeShift

	waitingBit = 1 << 60
	closedBit  = 1 << 61
	ghostsBit  = 1 << 62
	pacedBit   = 1 << 63

	// special holds the bits of which each keeps an admission off the fast path.
	special = modeMask | waitingBit | closedBit | pacedBit
)

func useOf(s uint64) uint64            { return s & useMask }
func limitOf(s uint64) uint64          { return s & limitMask >> limitShift }
func modeOf(s uint64) spillway.Mode    { return spillway.Mode(s & modeMask >> modeShift) }
func withLimit(s uint64, n int) uint64 { return s&^limitMask | uint64(n)<<limitShift }

func withMode(s uint64, m spillway.Mode) uint64 {
	return s&^modeMask | uint64(m)<<modeShift
}

// fits reports whether w more permits are within the limit.
func fits(s, w uint64) bool { return useOf(s)+w <= limitOf(s) }
