package lane

import (
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// Name returns the lane's name; that of a lane of a set is the set's and its own, as in
// "db/bulk".
func (b base) Name() string {
	if b.core == nil {
		return ""
	}
	return b.core.Name()
}

// SetLimit changes the number of permits. Raising it admits at once whom it has room
// for; lowering it takes nothing away from calls under way, and refuses who waits
// for more than there now are. If n is out of range it returns a
// *spillway.ConfigError and changes nothing.
func (b base) SetLimit(n int) error {
	if b.core == nil {
		return permit.ErrNone
	}
	return b.core.SetLimit(n)
}

// SetMode changes what is done with the verdict. Shadow and Off admit everybody who
// waits, RefuseAll refuses them. Calls admitted before keep their permits. An
// unknown mode gives a *spillway.ConfigError and changes nothing.
func (b base) SetMode(m spillway.Mode) error {
	if b.core == nil {
		return permit.ErrNone
	}
	return b.core.SetMode(m)
}

// Limit returns the number of permits there are. It costs a read.
func (b base) Limit() int {
	if b.core == nil {
		return 0
	}
	return b.core.Limit()
}

// SetPace makes a limit of less than one: with gap > 0 calls go one at a time, and
// none is admitted before gap has passed since the last came back. Who comes earlier
// waits like any other, or is refused with ReasonPaced if nobody may wait. A gap also
// begins when calls come to be paced, and when the mode changes while they are. With gap 0
// calls aren't paced. A negative gap gives a *spillway.ConfigError and changes nothing.
func (b base) SetPace(gap time.Duration) error {
	if b.core == nil {
		return permit.ErrNone
	}
	return b.core.SetPace(gap)
}

// SetMaxWeight lets calls up to weight n run although the limit is below that, when
// nothing else is under way: they count as the whole limit then. With 0, as New leaves
// it, the limit is the highest weight; who waits for more is refused, so a limit that is
// to be raised at the same time has to be raised first. If n is out of range it returns a
// *spillway.ConfigError and changes nothing.
func (b base) SetMaxWeight(n int) error {
	if b.core == nil {
		return permit.ErrNone
	}
	return b.core.SetMaxWeight(n)
}

// SetMeter has m measure one in every calls admitted from now on, in place of the meter
// that was there; nil ends that. every must be a power of two up to 1024, or it returns a
// *spillway.ConfigError and changes nothing. A call that is measured costs two readings
// of the clock more, the others nothing. The times for which permits are held, and what
// is predicted from them, are then of these calls and no others, unless there is Track.
func (b base) SetMeter(m spillway.Meter, every int) error {
	if b.core == nil {
		return permit.ErrNone
	}
	return b.core.SetMeter(m, every)
}

// Meter returns the meter that SetMeter has set; nil if there is none.
func (b base) Meter() spillway.Meter {
	if b.core == nil {
		return nil
	}
	return b.core.Meter()
}

// Service returns what a call is taken to need: the ninth decile of how long permits
// were held, by each of the first 32 calls and then one in 64, of those that waited one
// in 16; by those that a meter measures if there is one, or by all with Track; 0 if
// nothing was measured yet. It costs a read.
func (b base) Service() time.Duration {
	if b.core == nil {
		return 0
	}
	return b.core.Service()
}
