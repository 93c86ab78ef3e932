// Package spillway holds the vocabulary that the toolkit's packages share: the
// shape of an operation ([Op]) and of what goes around it ([Decorator],
// [Middleware]), the words for how a call ended ([Outcome], [Rejection]) and the
// [Permit].
//
// The toolkit keeps a service and its backend alive under overload. It refuses
// early, cheaply and with one clear error ([ErrBackpressure]) what the backend
// can't serve in time, and keeps serving the rest at full speed. The primitives
// live in the packages below this one: limiter, lane, retry, deadline, lifecycle
// and group. They need nothing but the standard library.
//
// # One shape
//
// Everything composes at one function shape, Op. A primitive either runs an
// operation at once (its Do method) or returns a decorated one (its Wrap
// method), and [Chain] joins decorators. The usual order, outermost first, is
//
//	observe → retry → deadline gate → lane or limiter → lease → op
//
// so that no permit is held while a retry backs off, a refusal costs one atomic
// read, the deadline is judged anew after each back-off, and the connection is taken
// last. Another gate behind a lane judges it after the wait for a permit, too.
//
// # Errors
//
// Three families are never mixed. Refused before the start: every such error
// matches [ErrBackpressure], and nothing was sent. The operation's own error: it
// is returned untouched. Gave up: retry's own error, which unwraps to the last
// cause. A closed component ([ErrClosed]), a component that is not connected, a
// wrong configuration ([ConfigError]) and a done context (its cause) belong to
// none of these, and are never retried.
//
// # When not to use it
//
// This package alone does nothing: import a primitive. A program with a handful
// of callers, or one in front of a backend that already refuses cheaply, may not
// need any of it.
package spillway
