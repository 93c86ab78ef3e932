package limiter

import (
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// Name returns the limiter's name.
func (l *Limiter[T]) Name() string {
	if l.core == nil {
		return ""
	}
	return l.core.Name()
}

// SetLimit changes the number of permits. After raising it the next call finds
// room; lowering it takes nothing away from calls under way, and nobody is admitted
// until enough of them have ended. If n is out of range it returns a
// *spillway.ConfigError and changes nothing.
func (l *Limiter[T]) SetLimit(n int) error {
	if l.core == nil {
		return permit.ErrNone
	}
	return l.core.SetLimit(n)
}

// SetMode changes what is done with the verdict. Calls admitted before keep their
// permits. Calls admitted in mode Off are not counted as in use, so after a change
// from Off to Enforce there may be more going on than the limit, until they have
// ended. An unknown mode gives a *spillway.ConfigError and changes nothing.
func (l *Limiter[T]) SetMode(m spillway.Mode) error {
	if l.core == nil {
		return permit.ErrNone
	}
	return l.core.SetMode(m)
}

// Limit returns the number of permits there are. It costs a read.
func (l *Limiter[T]) Limit() int {
	if l.core == nil {
		return 0
	}
	return l.core.Limit()
}

// SetPace makes a limit of less than one: with gap > 0 calls go one at a time, and
// none is admitted before gap has passed since the last came back; who comes earlier is
// refused with ReasonPaced and told to come back after gap. A gap also begins when calls
// come to be paced, and when the mode changes while they are. With gap 0 calls aren't
// paced. A negative gap gives a *spillway.ConfigError and changes nothing.
func (l *Limiter[T]) SetPace(gap time.Duration) error {
	if l.core == nil {
		return permit.ErrNone
	}
	return l.core.SetPace(gap)
}

// SetMaxWeight lets calls up to weight n run although the limit is below that, when
// nothing else is under way: they count as the whole limit then. With 0, as New leaves
// it, the limit is the highest weight. If n is out of range it returns a
// *spillway.ConfigError and changes nothing.
func (l *Limiter[T]) SetMaxWeight(n int) error {
	if l.core == nil {
		return permit.ErrNone
	}
	return l.core.SetMaxWeight(n)
}

// SetMeter has m measure one in every calls admitted from now on, in place of the meter
// that was there; nil ends that. every must be a power of two up to 1024, or it returns a
// *spillway.ConfigError and changes nothing. A call that is measured costs two readings
// of the clock more, the others nothing. The times for which permits are held are then of
// these calls and no others, unless there is Track.
func (l *Limiter[T]) SetMeter(m spillway.Meter, every int) error {
	if l.core == nil {
		return permit.ErrNone
	}
	return l.core.SetMeter(m, every)
}

// Meter returns the meter that SetMeter has set; nil if there is none.
func (l *Limiter[T]) Meter() spillway.Meter {
	if l.core == nil {
		return nil
	}
	return l.core.Meter()
}
