package spillway

import "fmt"

// Mode says what a guard does with its verdict. It can be changed at run time.
// The zero Mode is Enforce, so that a guard whose mode was forgotten guards.
type Mode uint8

// The modes of a guard.
const (
	Enforce   Mode = iota // refuse what is over the limit
	Shadow                // admit everything, and count what would have been refused
	Off                   // admit everything and count nothing: the kill switch
	RefuseAll             // refuse everything: "shed now", and the way to test refusals
)

var modeNames = [...]string{"enforce", "shadow", "off", "refuse-all"}

// Valid reports whether m is one of the four modes.
func (m Mode) Valid() bool { return int(m) < len(modeNames) }

// String returns the mode's name: enforce, shadow, off or refuse-all.
func (m Mode) String() string {
	if m.Valid() {
		return modeNames[m]
	}
	return fmt.Sprintf("mode(%d)", uint8(m))
}

// MarshalText returns the mode's name. It fails for a mode that isn't valid.
func (m Mode) MarshalText() ([]byte, error) {
	if !m.Valid() {
		return nil, fmt.Errorf("spillway: unknown mode %d", uint8(m))
	}
	return []byte(m.String()), nil
}

// UnmarshalText sets m from a mode's name. On an unknown name it returns an error
// that lists the known ones, and m is unchanged.
func (m *Mode) UnmarshalText(text []byte) error {
	for i, name := range modeNames {
		if string(text) == name {
			*m = Mode(i)
			return nil
		}
	}
	return fmt.Errorf("spillway: unknown mode %q: want enforce, shadow, off or refuse-all", text)
}
