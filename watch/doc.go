// Package watch tells in words what is the matter with a guard: whether it is stuck, its
// limit is too tight, the backend behind it is slow, or somebody forgets to give permits
// back.
//
// [Judge] is the diagnosis alone, a pure function over two snapshots. A [Watcher] takes
// them at an interval, logs when the verdict changes, reports permits that are held too
// long, and, as a hook, says at a refusal or a timeout how things stand. A [Trace] logs
// who asks for permits and keeps the last of them. All of it is opt-in, goes to a
// slog.Logger of yours, and is bounded in how much it says.
//
// # Guarantees
//
//   - G-WAT-1: the verdict depends on nothing but the snapshots and the thresholds, and
//     its reason names the numbers.
//   - G-WAT-2: a guard whose permits don't come back while callers wait is told from one
//     that is merely busy, from a limit that is too tight, and from a slow backend.
//   - G-WAT-3: a change of verdict is logged once, and one that lasts and needs somebody
//     at most every Config.Every; refusals and timeouts at most one line every
//     Config.Every and guard, with the number of those left out.
//   - G-WAT-4: there is no goroutine but the one that Start starts and Close waits for.
//   - G-WAT-5: a source, a hook or a log handler that panics harms neither the call nor
//     the other sources.
//   - G-WAT-6: what isn't logged allocates nothing.
//
// # When not to use it
//
// For dashboards and alerts export the statistics with package otelx. To look once, read
// Stats and Holders, or the page of package debugz.
package watch
