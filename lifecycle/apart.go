package lifecycle

import (
	"runtime/debug"

	"github.com/spillway-go/spillway"
)

// apart calls somebody else's function on a goroutine of its own, and returns what is
// closed when that has ended, however it did: a runtime.Goexit on the goroutine of a
// Connect, a Close or a supervisor would leave its work half done.
func apart(f func()) (ended <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	return done
}

// guarded calls somebody else's function for the machine, or whatever it is, of that name,
// and tells done its error, which its panic and its Goexit are, too. The latter goes on to
// end the goroutine.
func guarded(name string, f func() error, done func(error)) {
	err, returned := error(nil), false
	defer func() {
		if !returned {
			err = &spillway.PanicError{Component: "lifecycle", Name: name, Value: recover(), Stack: debug.Stack()}
		}
		done(err)
	}()
	err = f()
	returned = true
}
