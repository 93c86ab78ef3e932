// Package group runs many operations at once, as children that their parent owns:
// each has a permit before it has a goroutine, and the parent sees all of them end.
//
// The usual way round, a goroutine for everything and a semaphore inside, bounds the
// backend's load but not the process's: a million items are a million goroutines that
// wait. Here the permit comes first ([Admission]: a limiter, a lane, or your own), so a
// full lane slows whoever produces the work, and a full limiter refuses it; neither
// starts anything.
//
// A [Group] takes operations one by one and keeps a result for each. [Each] and [Map]
// take them from a sequence, millions if need be, and keep nothing: [Each] counts, [Map]
// hands each result on as it comes.
//
// # Guarantees
//
//   - G-GRP-1: no goroutine starts without a permit: there are never more of them than
//     permits, and a handful that have given theirs back and are on their way out.
//   - G-GRP-2: Wait, Each and Map return when every child has ended and every permit is
//     back, on every path: error, panic, Goexit, a done context, a consumer that breaks
//     off, a sequence that panics.
//   - G-GRP-3: every submission has one outcome and is counted once: Submitted =
//     Admitting + Running + Refused + Ended.Total() + Aborted at any time.
//   - G-GRP-4: a panic or Goexit of a child is an error with its stack, which cancels
//     the siblings if errors do, and harms nobody else.
//   - G-GRP-5: results are in the order of submission, and those that are there are
//     there whatever became of the others.
//   - G-GRP-6: nothing starts once the context is done, and a producer that waits for a
//     permit then returns.
//   - G-GRP-7: memory and goroutines of Each and Map don't grow with the number of items.
//   - G-GRP-8: the error of a group matches every failure, and its text is bounded.
//
// # When not to use it
//
// For a handful of calls that may all go at once use sync.WaitGroup. If the work should
// go on without its submitter, or be dropped when it is too old, use package deadline.
package group
