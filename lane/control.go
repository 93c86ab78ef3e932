package lane

import (
	"time"

	"github.com/spillway-go/spillway"
)

// Name returns the lane's name.
func (b *base) Name() string {
	if b == nil {
		return ""
	}
	return b.core.Name()
}

// SetLimit changes the number of permits. Raising it admits at once whom it has room
// for; lowering it takes nothing away from calls under way, and refuses who waits
// for more than there now are. If n is out of range it returns a
// *spillway.ConfigError and changes nothing.
func (b *base) SetLimit(n int) error {
	if b == nil {
		return errZero
	}
	return b.core.SetLimit(n)
}

// SetMode changes what is done with the verdict. Shadow and Off admit everybody who
// waits, RefuseAll refuses them. Calls admitted before keep their permits. An
// unknown mode gives a *spillway.ConfigError and changes nothing.
func (b *base) SetMode(m spillway.Mode) error {
	if b == nil {
		return errZero
	}
	return b.core.SetMode(m)
}

// Service returns what a call is taken to need: the ninth decile of how long permits
// were held, by one call in 16; 0 if nothing was measured yet. It costs a read.
func (b *base) Service() time.Duration {
	if b == nil {
		return 0
	}
	return b.core.Service()
}
