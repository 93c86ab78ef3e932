package watch

import (
	"slices"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/observe"
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

// SampleOf returns what a snapshot says about the use of a guard. The workers of an
// executor count as its permits, in use by a job or by what is told of those that died,
// and the jobs in its queue as callers that wait. A
// component that gives nothing out, such as a retrier, has the zero Sample but for its
// name.
func SampleOf(o observe.Snapshot) Sample {
	sample := Sample{Component: o.Component, Name: fullName(o), At: time.Now()}
	switch {
	case o.Limiter != nil:
		s := o.Limiter
		sample.Limit, sample.InUse, sample.Ghosts = s.Limit, s.InUse, s.Ghosts
		sample.Admitted, sample.Released = s.Admitted, s.Ended.Total()+s.Aborted
		sample.Refused, sample.WouldRefuse, sample.Hold = s.Refused, s.WouldRefuse, s.Hold
	case o.Laned != nil:
		s := o.Laned
		sample.Limit, sample.InUse, sample.Ghosts = s.Limit, s.InUse, s.Ghosts
		sample.Waiting, sample.OldestWait, sample.TimedOut = s.Waiting, s.OldestWait, s.TimedOut
		sample.Admitted, sample.Released = s.Admitted, s.Ended.Total()+s.Aborted
		sample.Refused, sample.WouldRefuse, sample.Hold = s.Refused, s.WouldRefuse, s.Hold
	case o.Executor != nil:
		s := o.Executor
		sample.Limit, sample.InUse = s.Workers, max(s.Busy, s.Workers-s.Idle)
		sample.Waiting, sample.OldestWait = s.Depth+s.Parked, s.Oldest
		sample.Released = s.Ended.Total() + s.Aborted
		sample.Admitted = sample.Released + uint64(max(s.Busy, 0))
		sample.Refused, sample.WouldRefuse, sample.Hold = s.Refused, s.WouldRefuse, s.Run
	}
	return sample
}

// fullName is the name of a guard and, where there are several of that name, which one.
func fullName(o observe.Snapshot) string {
	parts := slices.DeleteFunc([]string{o.Name, o.Node, o.Lane}, func(s string) bool { return s == "" })
	return strings.Join(parts, "/")
}

// only is the Source that an Observable with one component is.
func only(o observe.Observable, holders func() []spillway.Holder) Source {
	return source{sample: func() (sample Sample) {
		for s := range observe.All(o) {
			sample = SampleOf(s)
		}
		return sample
	}, holders: holders}
}

// Limiter returns l as a Source.
func Limiter[T any](l *limiter.Limiter[T]) Source { return only(observe.Limiter(l), l.Holders) }

// Lane returns l as a Source.
func Lane[T any](l *lane.Lane[T]) Source { return only(observe.Lane(l), l.Holders) }

// Executor returns e as a Source. Who has its workers isn't tracked.
func Executor[T any](e *deadline.Executor[T]) Source {
	return only(observe.Executor(e), func() []spillway.Holder { return nil })
}

// Set returns the lanes of s as Sources, in the order of its configuration. Their names are
// the set's and their own, as in "orders/critical": another set may have a lane of the same
// name.
func Set[T any](s *lane.Set[T]) []Source {
	var all []Source
	for _, st := range s.Stats() {
		all = append(all, Lane(s.Lane(st.Name)))
	}
	return all
}
