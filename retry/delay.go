package retry

import (
	"math"
	"math/rand/v2"
	"time"
)

// Delay returns a back-off after attempt n failed, as it is drawn where no floor
// and no hint apply: n counts from 1, and less than 1 is as 0. For any policy, valid
// or not, and any n: 0 <= Delay(n) <= Cap. It has no state: DecorrelatedJitter,
// which looks at the last back-off, is drawn as after the longest possible one.
func (p Policy) Delay(n int) time.Duration {
	return p.delay(n, p.lastBefore(n))
}

// DelayAfter returns a back-off after attempt n failed with err: what Delay
// returns, but not less than the hint that err carries, nor than Floor if Classify says
// that err is a Pushback. It is what a loop of one's own needs.
func (p Policy) DelayAfter(n int, err error) time.Duration {
	classify := p.Classify
	if classify == nil {
		classify = Classify
	}
	return p.backOff(n, p.lastBefore(n), classify(err) == Pushback, Hint(err))
}

// backOff returns the delay after attempt n. pushed says that the backend, or a
// guard before it, turned the attempt away; hint is the least delay it asked for.
func (p *Policy) backOff(n int, last time.Duration, pushed bool, hint time.Duration) time.Duration {
	hint = max(hint, 0)
	if !pushed || p.Floor <= 0 {
		d := p.delay(n, last)
		if p.Jitter == NoJitter {
			return max(d, hint)
		}
		return add(hint, d) // above the hint, not at it: it was given to others, too
	}
	if p.Jitter == NoJitter {
		return max(ceiling(p.Base, p.Cap, n), p.Floor, hint)
	}
	// Those who are refused are refused together, so they are spread from the first
	// back-off on: over three floors at least, up to Cap. Equal jitter of Base·2ⁿ
	// would put all of them into the 10 ms above the floor.
	floor := min(p.Floor, p.Cap/2)
	spread := max(ceiling(2*floor, p.Cap, n), ceiling(p.Base, p.Cap, n)) - floor
	return add(max(floor, hint), p.draw(spread))
}

// delay returns min(jitter(min(Base·2ⁿ, Cap)), Cap). last is the delay before.
func (p *Policy) delay(n int, last time.Duration) time.Duration {
	c := ceiling(p.Base, p.Cap, n)
	switch p.Jitter {
	case EqualJitter:
		return c/2 + p.draw(c-c/2)
	case DecorrelatedJitter:
		low := ceiling(p.Base, p.Cap, 0)
		return low + p.draw(triple(max(last, low), p.Cap)-low)
	case NoJitter:
		return c
	default:
		return p.draw(c)
	}
}

// draw returns a duration from 0 to d, both included.
func (p *Policy) draw(d time.Duration) time.Duration {
	next := p.Rand
	if next == nil {
		next = rand.Float64
	}
	f := next()
	if !(f > 0) { // NaN, too
		return 0
	}
	// float64(d) may be more than d, and f is what somebody else made it.
	return time.Duration(min(uint64(min(f, 1)*float64(d)), uint64(d)))
}

// lastBefore returns the longest delay that can have been before the one after
// attempt n, where that counts: Base·3ⁿ⁻¹ within Cap.
func (p *Policy) lastBefore(n int) time.Duration {
	if p.Jitter != DecorrelatedJitter {
		return 0
	}
	d := ceiling(p.Base, p.Cap, 0)
	for i := 1; i < n && 0 < d && d < p.Cap; i++ {
		d = triple(d, p.Cap)
	}
	return d
}

// ceiling returns base·2ⁿ, but not more than most and not less than 0.
func ceiling(base, most time.Duration, n int) time.Duration {
	base, most, n = max(base, 0), max(most, 0), max(n, 0)
	switch {
	case base == 0:
		return 0
	case n < 63 && base <= most>>n: // base·2ⁿ <= most, written so that nothing overflows
		return base << n
	}
	return most
}

// triple returns 3·d, but not more than most.
func triple(d, most time.Duration) time.Duration {
	most = max(most, 0)
	if d > most/3 {
		return most
	}
	return 3 * d
}

// add returns a+b, but not more than the longest duration. Neither is negative.
func add(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
