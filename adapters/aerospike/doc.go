// Package aerospike guards the Aerospike Go client v7 with the Spillway toolkit:
// every method takes a context first, is limited per node and lane, returns by its
// context's deadline, and fails with an error whose class is known.
//
// The driver parks callers in a busy-wait when its connection pool runs dry, so a
// service with thousands of concurrent requests collapses where it should merely
// refuse. A [Client] puts lanes in front of each node, for reads, writes, batches and
// streams: what is over a lane's limit is refused at once with an error that matches
// spillway.ErrBackpressure, and what is admitted runs at full speed.
//
//	client, err := aerospike.New(aerospike.DefaultConfig("127.0.0.1:3000"))
//	err = client.Connect(ctx)
//	record, err := client.Get(ctx, nil, key)
//	err = client.Close(ctx)
//
// Methods have the driver's names, policies and results; the context comes first
// and the error is an error. A nil policy is the client's default policy. Errors
// of the driver come as an [Error], which unwraps to the driver's own; refusals come
// as a *spillway.Rejection.
//
// A context's deadline becomes the driver's timeout. Once it is cancelled nothing more is
// sent, but a call that was sent returns when the driver does, which nothing can
// interrupt; see [Detach]. Streams end with their context at once.
//
// Reads are retried within a budget, at a replica; writes only by a client that was
// told that they are [Idempotent]. [Client.With] makes such choices once;
// [Client.Apply] changes limits, modes and retries while calls are under way.
//
// Code that can't be given contexts yet gets the same client in the shape of the
// driver's from [Client.Compat].
//
// # Guarantees
//
//   - G-AER-1: per node no more calls are in the driver than its lanes hold, together
//     less than its connection pool: the pool is never exhausted.
//   - G-AER-2: a call whose time is up isn't sent; one that is sent carries no longer
//     timeout than its context, or its [Budget], has left, and never none.
//   - G-AER-3: the driver's client isn't closed while calls or streams are in it.
//   - G-AER-4: a stream that is closed, broken off or out of time leaves no
//     goroutine, connection or permit behind.
//   - G-AER-5: the policies that a caller passes are never changed.
//   - G-AER-6: a permit is held until the driver's call has ended, also if the caller's
//     context is done before.
//   - G-AER-7: every limited method refuses in mode RefuseAll and over its limit, and
//     the server sees nothing of it.
//   - G-AER-8: however a server fails a command, the call gives back what it took, and
//     its error has a class.
//   - G-AER-9: Compat declares every method of the driver's interface itself.
//   - G-AER-10: a refusal through Compat is an as.Error that is no error of the pool and
//     matches our sentinels.
//   - G-AER-11: a Compat is bound to one connection, and sends nothing after its close.
//   - G-AER-12: a Recordset of Compat gives its permits back when it is drained, closed,
//     out of time or abandoned.
//   - G-AER-13: reads are retried at the next replica, writes only if they are declared
//     idempotent; of BatchOperate, BatchDelete and BatchExecute only the keys that failed.
//     Other batches are retried as a whole.
//   - G-AER-14: middlewares and the observer see every call once, refusals too, and an
//     observer's panic harms nobody.
//   - G-AER-15: writes in the background are bounded, counted record by record, and
//     drained by Close within its bound.
//   - G-AER-16: a detached call returns with its context; what it sent keeps its permit
//     and its lease until the driver returns.
//   - G-AER-17: in mode Shadow calls have the results, attempts and timeouts that they
//     have without us, and what is counted is what Enforce then does.
//   - G-AER-18: a node that is killed under load and comes back costs no acknowledged
//     write and no permit; after two looks of the driver every call goes through again.
//   - G-AER-19: Close sends away at once who waits for a permit, and he never reaches the
//     server.
//   - G-AER-20: a partition filter says after its stream where to go on, however that has
//     ended, and is done only if all was read.
//
// # When not to use it
//
// A tool that makes one call after the other has nothing to limit. For tests without
// a database see the package aerospiketest, which doesn't need this one.
package aerospike
