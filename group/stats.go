package group

import "github.com/spillway-go/spillway"

// Stats says what became of the members. At any time Submitted = Admitting + Running +
// Refused + Ended.Total() + Aborted.
type Stats struct {
	Submitted uint64                 // members that were submitted
	Admitting int                    // members that wait for their permit
	Running   int                    // members under way
	Refused   uint64                 // members that weren't started: refused, or the context was done
	Ended     spillway.OutcomeCounts // members that returned, by outcome
	Failed    uint64                 // of them, those that returned an error
	Aborted   uint64                 // members that a panic or Goexit ended
}

// Started returns how many members were started.
func (s Stats) Started() uint64 {
	return uint64(s.Running) + s.Ended.Total() + s.Aborted
}

// Succeeded returns how many members returned without an error.
func (s Stats) Succeeded() uint64 { return s.Ended.Total() - s.Failed }
