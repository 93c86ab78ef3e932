package retry

import "fmt"

// Jitter says how back-offs are spread, so that those who failed together don't
// come back together. c is the ceiling of the back-off, min(Base·2ⁿ, Cap).
type Jitter uint8

// The kinds of jitter.
const (
	FullJitter         Jitter = iota // from 0 to c: the least work for the backend
	EqualJitter                      // from c/2 to c: never at once
	DecorrelatedJitter               // from Base to three times the last one, within Cap
	NoJitter                         // c itself: for a single client, and for tests
)

var jitterNames = [...]string{"full", "equal", "decorrelated", "none"}

// Valid reports whether j is one of the four kinds.
func (j Jitter) Valid() bool { return int(j) < len(jitterNames) }

// String returns the kind's name: full, equal, decorrelated or none.
func (j Jitter) String() string {
	if j.Valid() {
		return jitterNames[j]
	}
	return fmt.Sprintf("jitter(%d)", uint8(j))
}

// MarshalText returns the kind's name. It fails for one that isn't valid.
func (j Jitter) MarshalText() ([]byte, error) {
	if !j.Valid() {
		return nil, fmt.Errorf("retry: unknown jitter %d", uint8(j))
	}
	return []byte(j.String()), nil
}

// UnmarshalText sets j from a kind's name. On an unknown name it returns an error
// that lists the known ones, and j is unchanged.
func (j *Jitter) UnmarshalText(text []byte) error {
	for i, name := range jitterNames {
		if string(text) == name {
			*j = Jitter(i)
			return nil
		}
	}
	return fmt.Errorf("retry: unknown jitter %q: want full, equal, decorrelated or none", text)
}
