package causetest

import "context"

// Merged ends with one context and has the values of another. Before Go 1.25 context.Cause
// asks the other.
type Merged struct {
	context.Context

	Values context.Context
}

// Value implements context.Context.
func (m Merged) Value(key any) any { return m.Values.Value(key) }

// Ended returns one that is done, with the values of a context that should live on, and
// should be one that can be cancelled.
func Ended(values context.Context) Merged {
	ended, cancel := context.WithCancel(context.WithoutCancel(values))
	cancel()
	return Merged{ended, values}
}
