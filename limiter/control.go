package limiter

import "github.com/spillway-go/spillway"

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
		return errZero
	}
	return l.core.SetLimit(n)
}

// SetMode changes what is done with the verdict. Calls admitted before keep their
// permits. Calls admitted in mode Off are not counted as in use, so after a change
// from Off to Enforce there may be more going on than the limit, until they have
// ended. An unknown mode gives a *spillway.ConfigError and changes nothing.
func (l *Limiter[T]) SetMode(m spillway.Mode) error {
	if l.core == nil {
		return errZero
	}
	return l.core.SetMode(m)
}
