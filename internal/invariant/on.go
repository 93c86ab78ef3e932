//go:build race || invariants

package invariant

import "fmt"

// Enabled reports whether invariants are checked in this build.
const Enabled = true

// Check panics with the message if ok is false: the accounting is broken, and
// going on would hide it.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic("bug: " + fmt.Sprintf(format, args...))
	}
}
