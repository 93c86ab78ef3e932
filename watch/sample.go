package watch

import (
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
)

// Sample is a snapshot of a guard, in what limiters, lanes and the like have in common.
// Counts start with the guard and only grow.
type Sample struct {
	Component   string                 // the kind of the guard, as in "limiter"
	Name        string                 // its name
	At          time.Time              // when it was taken
	Limit       int                    // permits there are
	InUse       int                    // permits in use, ghosts included
	Ghosts      int                    // permits of calls that timed out and may still be worked on
	Waiting     int                    // callers that wait
	OldestWait  time.Duration          // how long the oldest of them has waited
	Admitted    uint64                 // calls admitted
	Released    uint64                 // calls that ended, in whatever way
	Refused     spillway.RefusalCounts // calls refused, by reason
	WouldRefuse uint64                 // calls that mode Shadow admitted over the limit
	TimedOut    uint64                 // calls whose deadline came while they waited
	Hold        spillway.Distribution  // how long permits were held
	// Quiet is for how long before At no permit had come back and none been given, though
	// some were in use, as far as whoever took the sample knows. Zero means that he doesn't.
	Quiet time.Duration
	// Holders are the oldest holders, the oldest first. It is empty if they aren't tracked.
	Holders []spillway.Holder
}

// available returns how many permits are free.
func (s Sample) available() int { return max(s.Limit-s.InUse, 0) }

// Source is a guard that can be watched. Both methods are called by any goroutine.
type Source interface {
	// Sample returns a snapshot; Quiet and Holders may be left out.
	Sample() Sample
	// Holders lists who holds a permit, the oldest first; empty if that isn't tracked.
	Holders() []spillway.Holder
}

// source is a Source made of two functions.
type source struct {
	sample  func() Sample
	holders func() []spillway.Holder
}

func (s source) Sample() Sample             { return s.sample() }
func (s source) Holders() []spillway.Holder { return s.holders() }

// Limiter returns l as a Source.
func Limiter[T any](l *limiter.Limiter[T]) Source {
	return source{func() Sample {
		s := l.Stats()
		return Sample{
			Component: "limiter", Name: s.Name, At: time.Now(), Limit: s.Limit, InUse: s.InUse, Ghosts: s.Ghosts,
			Admitted: s.Admitted, Released: s.Ended.Total() + s.Aborted, Refused: s.Refused,
			WouldRefuse: s.WouldRefuse, Hold: s.Hold,
		}
	}, l.Holders}
}

// Lane returns l as a Source.
func Lane[T any](l *lane.Lane[T]) Source {
	return source{func() Sample {
		s := l.Stats()
		return Sample{
			Component: "lane", Name: s.Name, At: time.Now(), Limit: s.Limit, InUse: s.InUse, Ghosts: s.Ghosts,
			Waiting: s.Waiting, OldestWait: s.OldestWait, TimedOut: s.TimedOut,
			Admitted: s.Admitted, Released: s.Ended.Total() + s.Aborted, Refused: s.Refused,
			WouldRefuse: s.WouldRefuse, Hold: s.Hold,
		}
	}, l.Holders}
}

// Set returns the lanes of s as Sources, in the order of its configuration.
func Set[T any](s *lane.Set[T]) []Source {
	var all []Source
	for _, st := range s.Stats() {
		all = append(all, Lane(s.Lane(st.Name)))
	}
	return all
}
