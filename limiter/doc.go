// Package limiter caps how much goes on at once: N permits, and a caller who finds
// none is refused at once. A limiter never waits.
//
// It is the guard in front of a backend that many callers share. Below the
// backend's knee it costs some tens of nanoseconds a call; above it, it refuses
// what the backend could only queue, so that those who are let in are served at
// full speed. A refusal costs one atomic read and a count, allocates nothing and is a
// [spillway.Rejection], which matches [spillway.ErrBackpressure].
//
// # Guarantees
//
//   - G-LIM-1: at no time more than the limit is in use, unless the limit was
//     lowered or the mode isn't Enforce, or wasn't when the calls began.
//   - G-LIM-2: a call never waits.
//   - G-LIM-3: a permit comes back on every path: value, error, panic, Goexit.
//   - G-LIM-4: a permit comes back once, however often and on whichever copy it is
//     released.
//   - G-LIM-5: a done context admits nothing, even if permits are free.
//   - G-LIM-6: admission and refusal allocate nothing, unless holders are tracked
//     or nested calls are detected.
//   - G-LIM-7: every call is counted once: as refused, canceled, after close,
//     invalid, or admitted. ended + aborted <= admitted at any time, and they are
//     equal when nothing is going on. Mode Off counts no admissions.
//   - G-LIM-8: with a pace there is one call at a time, and none is admitted before the
//     gap has passed since the last came back.
//   - G-LIM-9: up to SetMaxWeight a call that is heavier than the limit runs when nothing
//     else is under way.
//   - G-LIM-10: a meter is told of each call that it measures, once, how it ended; whatever
//     it does, calls go on.
//
// # When not to use it
//
// If callers may wait a little, use package lane: it has a bounded waiting room. To
// limit a rate rather than what goes on at once, use golang.org/x/time/rate.
package limiter
