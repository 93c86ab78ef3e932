package lua

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// Bounds of a call, and of what a stream's functions do for each record.
const (
	maxInstructions = 5_000_000
	maxTime         = 2 * time.Second
	maxMemory       = 64 << 20 // bytes of strings and collections
)

var (
	errInstructions = errors.New("too many instructions")
	errTime         = errors.New("out of time")
	errMemory       = errors.New("not enough memory")
)

// A budget bounds a call. It is the context of the interpreter, which looks at Done
// before every instruction: so Done counts them. One instruction may be a call that takes
// long, so a timer keeps the time, not the count. It belongs to one goroutine, but for late.
type budget struct {
	context.Context // never ends

	instructions int
	memory       int
	timer        *time.Timer
	late         atomic.Bool   // the time is over
	over         chan struct{} // closed, and what Done returns, when something is used up
	err          error
}

func newBudget() *budget {
	b := &budget{Context: context.Background(), over: make(chan struct{})} //nolint:forbidigo // values only: the end is this type's own
	close(b.over)
	b.timer = time.AfterFunc(maxTime, func() { b.late.Store(true) })
	b.renew()
	return b
}

// end lets go of the timer.
func (b *budget) end() { b.timer.Stop() }

// renew gives a stream's functions their instructions and time anew, but not
// memory: what they hold adds up.
func (b *budget) renew() {
	if b.err == nil {
		b.instructions = maxInstructions
		b.timer.Reset(maxTime)
		b.late.Store(false)
	}
}

// Done implements context.Context.
func (b *budget) Done() <-chan struct{} {
	if b.err != nil {
		return b.over
	}
	b.instructions--
	switch {
	case b.instructions < 0:
		b.err = errInstructions
	case b.late.Load():
		b.err = errTime
	default:
		return nil
	}
	return b.over
}

// Err implements context.Context.
func (b *budget) Err() error { return b.err }

// use takes bytes, and reports whether there are enough. When there aren't, the call
// ends with its next instruction, whatever it catches.
func (b *budget) use(n int) bool {
	if b.memory += max(n, 0); b.memory > maxMemory {
		b.err = errMemory
	}
	return b.err == nil
}
