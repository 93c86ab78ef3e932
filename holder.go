package spillway

import "time"

// Track says what a guard keeps of who holds its permits. The zero Track keeps
// nothing and costs nothing; with the others each admission reads the clock and
// allocates.
type Track uint8

// What can be kept of a holder.
const (
	TrackOff   Track = iota // nothing
	TrackSite               // the call site that took the permit, and when
	TrackStack              // the whole stack, and when
)

// Valid reports whether t is one of the three.
func (t Track) Valid() bool { return t <= TrackStack }

// Holder is somebody who holds a permit of a guard that tracks its holders.
type Holder struct {
	Site   string        // function, file and line that took it; of the toolkit itself if a goroutine began there
	Stack  string        // the whole stack, with TrackStack
	Class  Class         // the class its context carried; empty if none
	Weight int           // permits
	Age    time.Duration // how long it has been held
}
