package model

import (
	"math"
	"time"
)

// Step says what holds from a time on.
type Step struct {
	At    time.Duration // since the start
	Value float64       // from then on
}

// Profile is a value that changes in steps, sorted by time. Before its first step it is 1; so the
// empty Profile is always 1.
type Profile []Step

// At returns the value at a time.
func (p Profile) At(t time.Duration) float64 {
	v := 1.0
	for _, s := range p {
		if s.At > t {
			break
		}
		v = s.Value
	}
	return v
}

// After returns how long work takes that is begun at a time and done at the speed that the profile
// gives. Work that never ends takes for ever.
func (p Profile) After(begin time.Duration, work float64) time.Duration {
	now, speed := begin, 1.0
	for _, s := range p {
		if s.At > now {
			done := float64(s.At-now) * speed
			if done >= work {
				break
			}
			work -= done
			now = s.At
		}
		speed = s.Value
	}
	if speed <= 0 {
		return math.MaxInt64
	}
	return now - begin + time.Duration(min(work/speed, math.MaxInt64/2))
}

// Integral returns the sum of the value over time, in seconds, between two times.
func (p Profile) Integral(from, to time.Duration) float64 {
	sum, now := 0.0, from
	for _, s := range p {
		if s.At <= now {
			continue
		}
		if s.At >= to {
			break
		}
		sum += p.At(now) * (s.At - now).Seconds()
		now = s.At
	}
	return sum + p.At(now)*(to-now).Seconds()
}
