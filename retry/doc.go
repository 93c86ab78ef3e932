// Package retry repeats failed operations: those that are worth it, after a back-off
// that spreads them, within every bound there is, and never so many that the retries
// become the load.
//
// A [Policy] says how often and when; a [Retrier] does it; a [Budget], one for each
// dependency, keeps retries to a share of the successes. What an error means is read
// from its class, [spillway.OutcomeOf]: see [Classify]. An operation after whose
// failure it may have been executed is repeated only if the policy declares it
// idempotent.
//
// # Guarantees
//
//   - G-RET-1: a back-off is never negative and never longer than Cap, but for a
//     hint, up to MaxHint; jitter included, for any attempt number, duration and random
//     number.
//   - G-RET-2: after a pushback no attempt is made before Floor, nor before the
//     error's hint; those who were refused together come back spread.
//   - G-RET-3: which errors are repeated is the table of Classify.
//   - G-RET-4: there is a back-off between two attempts, none after the last, and no
//     more than MaxAttempts attempts.
//   - G-RET-5: an error that isn't worth repeating is returned as it is, without the
//     mark of Permanent, whichever attempt it ends.
//   - G-RET-6: unless the policy is Idempotent, what may have been executed isn't
//     executed again.
//   - G-RET-7: no attempt is made on a done context, and a back-off ends when its
//     context does.
//   - G-RET-8: no back-off is begun that MaxElapsed or the context's deadline
//     wouldn't let be followed by an attempt.
//   - G-RET-9: memory doesn't grow with the number of attempts, and an ended
//     back-off leaves no timer.
//   - G-RET-10: panics and Goexit of an operation go through; those of a hook harm
//     nobody.
//   - G-RET-11: retries never exceed Ratio of the successes and answers, PerSecond and
//     one Burst; a retry pays before its back-off, and is paid back if it isn't made.
//   - G-RET-12: every call is counted once: as canceled, invalid, aborted, or ended
//     for one reason. Ended + Aborted <= Originals, and they are equal when nothing is
//     under way.
//   - G-RET-13: Each sends again only what failed and is worth it, and returns a
//     result for every item in the order of the items, whatever happened.
//   - G-RET-14: a call whose first attempt succeeds, or fails with an answer,
//     allocates nothing.
//   - G-RET-15: nothing is held during a back-off: with a limiter inside there is one
//     permit an attempt.
//
// # When not to use it
//
// If another layer repeats already: three layers of three attempts are 27. If the
// caller can do without the answer: use [spillway.Fallback]. To reconnect, use
// package lifecycle.
package retry
