// Package adaptive moves the limit of a limiter or lane by what it observes, for backends
// whose capacity nobody knows, that change, or that many processes share.
//
// [Drive] puts a [Controller] in charge of a guard. The controller measures the guard's
// calls on their own goroutines (it has none itself, and no timer), and every 20 to 500
// milliseconds decides what the limit should be: lower if calls take longer than their reference
// allows, are answered with overload or don't come back at all; higher if the limit was in
// use and all was well. Below one permit the limit is a pace: one call at a time, with a
// gap between. Every change says why it was made, and on which figures: in [Stats] and to
// [Hooks].
//
//	ctl, err := adaptive.Drive(lane, adaptive.DefaultConfig(99))
//	if err != nil { ... }
//	defer ctl.Stop()
//
// The scheme is AIMD on a delay target with errors, after Swift (SIGCOMM 2020): many
// senders and one bottleneck agree if they hold the same latency. So give a target
// ([Config.Target], and one for each [Class]) whenever more than two or three processes
// share the backend. Without one the reference is learned, which is good for a process
// that has the backend for itself. ADR 31 has the rule, what was tried beside it, and what
// it isn't good at.
//
// # Guarantees
//
//   - G-ADA-1: the limit stays within its bounds, whatever is seen: between Min and Max,
//     and within half and twice the static limit until it is trusted. Stop gives the guard its
//     static limit back, not measured, not paced, without a higher weight.
//   - G-ADA-2: the limit grows only if it was in use, hardly anything failed and latencies
//     are tolerated, or back from a measurement; it never grows when idle.
//   - G-ADA-3: every change says its cause and what it was decided on.
//   - G-ADA-4: latency alone never lowers the limit below 1.5 times what was in use when
//     all was well, but for a moment, to find out whether the number of calls is what makes
//     them slow. If it isn't, what was learned is raised, or beside a target the static
//     limit serves: a backend that has become slower isn't starved.
//   - G-ADA-5: latencies are compared with those of their own class.
//   - G-ADA-6: below one permit calls go one at a time, with a gap of 100 ms at most.
//   - G-ADA-7: only what says something of the backend counts: a hot key, a refusal of our
//     own, a wrong request are no samples.
//   - G-ADA-8: a call that is measured allocates nothing, and none is lost or counted twice.
//   - G-ADA-9: Shadow computes and tells and leaves the static limit; Off measures nothing.
//   - G-ADA-10: it is safe for concurrent use; hooks may call back, and may panic or
//     end their goroutine.
//   - G-ADA-11: the limit is lowered if nothing comes back, without any call that ends; a
//     backend that only takes long isn't silent.
//   - G-ADA-12: a call that weighs more than a lowered limit runs alone, and isn't refused.
//   - G-ADA-13: a controller whose numbers can't be right goes back to the static limit.
//   - G-ADA-14: tens of processes that have the same target and met the load together share
//     a backend about evenly, over seconds; one that was there before keeps what G-ADA-4
//     leaves it.
//
// # When not to use it
//
// If you know the backend and its callers, a static limit of the right size serves as
// much, and is simpler to reason about at night. If what is bounded is a rate (a quota of calls a
// second), a concurrency limit, moved or not, is the wrong tool: use
// golang.org/x/time/rate.
package adaptive
