// Package deadline runs work that is worth something only until a certain moment:
// a bounded queue and a fixed number of workers that drop what nobody can use any
// more, and a gate that refuses a call which has too little time left.
//
// An [Executor] is right where work may wait a little, or where its caller doesn't
// wait for it at all. Each job has a deadline, its context's or the executor's; it is
// looked at when the job comes, while it waits, and right before it starts. A job
// whose time is up is never started, and what runs ends with its context.
//
// # Guarantees
//
//   - G-EXE-1: at most Workers jobs run and at most Queue jobs wait at any time,
//     unless SetWorkers lowered the number just now; at most MaxSubmitters callers
//     are parked.
//   - G-EXE-2: a job is never started after its deadline, nor once its context is
//     done.
//   - G-EXE-3: an expired job leaves the queue at its deadline and frees its place,
//     with one timer for the whole executor.
//   - G-EXE-4: a running job has a context that ends at its deadline, and at its
//     caller's.
//   - G-EXE-5: whoever waits gets an answer, on every path: value, error, panic,
//     Goexit, expired, canceled, dropped, refused, closed.
//   - G-EXE-6: a panic or a Goexit in a job, in a sink or in a hook costs no worker.
//   - G-EXE-7: submitted = parked + waiting + running + all outcomes, at any time.
//   - G-EXE-8: jobs start in the order in which they came; nobody overtakes a parked
//     caller.
//   - G-EXE-9: a job, a sink or a hook that would have to wait for its own executor gets
//     an error, and nobody hangs.
//   - G-EXE-10: a prediction never shuts the executor: with nothing in the queue and
//     nothing running, or nothing started for 50 ms, a job is let in to find out.
//   - G-EXE-11: Close returns no later than its context ends. It starts nothing
//     afterwards, and when it returned nil every goroutine of the executor is gone.
//   - G-EXE-12: no goroutine and no timer belongs to a waiting job, and nothing of a
//     job is kept after its end but what its future holds.
//
// # When not to use it
//
// If the caller waits for the answer anyway and the work can run on his goroutine,
// package lane does the same without workers. If work must not be lost, this is the
// wrong place: the queue is in memory and drops on purpose.
package deadline
