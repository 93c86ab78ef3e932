// Package lifecycle owns a connection from its dial to its close. A [Machine] makes
// sure that there is one at most, that exactly one dial makes it, that nobody uses
// it after its close has begun, and that each ends where it began: Disconnected,
// with nothing left open.
//
// A connection is whatever a dial returns: a database client, a session, a pool.
// Those who use it take a [Lease] of it, or are bound to it by [Bind]; both cost
// about as much as a counter. Close waits for the leases, within a bound, and only
// then closes the connection.
//
// # Guarantees
//
//   - G-LIF-1: however many call Connect at once, one dial is made; the others get
//     at once an error that names the state.
//   - G-LIF-2: a dial that fails, panics, is cancelled or comes late leaves the
//     machine Disconnected, and what it opened is closed.
//   - G-LIF-3: Close, in any state, any number of times, from anywhere, ends
//     Disconnected within its bound.
//   - G-LIF-4: a connection is closed after its last lease came back, never before,
//     and exactly once. One that outlives Close's bound is counted as orphaned.
//   - G-LIF-5: a lease of one generation never touches another.
//   - G-LIF-6: only the transitions of the table happen, and observers see them in
//     order.
//   - G-LIF-7: Lease and Release allocate nothing and take no lock.
//
// # When not to use it
//
// A connection that is opened once in main and closed by the process's end needs no
// machine. Nor does a pool that dials and drops connections by itself: the machine
// is for the pool as a whole.
package lifecycle
