package debugz

import (
	"fmt"

	"github.com/spillway-go/spillway/watch"
)

// level is how much a component needs somebody.
type level uint8

const (
	idle level = iota // nothing is going on
	fine              // all is as it should be
	warn              // somebody should look
	bad               // somebody must look now
)

var levelNames = [...]string{"idle", "ok", "warn", "bad"}

// String is the level's name, in JSON and as a class of the page.
func (l level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// MarshalText gives the name.
func (l level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// finding is what is the matter with a component, in words.
type finding struct {
	level  level
	urgent int // of two that need somebody the more urgent comes first
	word   string
	reason string
}

// ofGuard is the verdict on a guard as a finding.
func ofGuard(v watch.Verdict) finding {
	f := finding{word: v.Kind.String(), reason: v.Reason, urgent: 10 * int(v.Kind)}
	switch v.Kind {
	case watch.Idle:
		f.level = idle
	case watch.Busy:
		f.level = fine
	case watch.Stuck:
		f.level = bad
	default:
		f.level = warn
	}
	return f
}

// The urgencies of what isn't a verdict on a guard, which are ten times its kind: they say
// between which of those it belongs.
const (
	urgentTight        = 10 * int(watch.LimitTight)
	urgentSlow         = 10 * int(watch.BackendSlow)
	urgentDisconnected = 10*int(watch.Leaking) + 8
	urgentBroken       = 10*int(watch.Leaking) + 9
)
