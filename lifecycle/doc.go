// Package lifecycle owns a connection from its dial to its close. A [Machine] makes
// sure that there is one at most, that exactly one dial makes it, that nobody uses
// it after its close has begun, and that each ends where it began: Disconnected,
// with nothing left open.
//
// A connection is whatever a dial returns: a database client, a session, a pool.
// Those who use it take a [Lease] of it, or are bound to it by [Bind]; both cost
// some twenty nanoseconds. Close waits for the leases, within a bound, and only
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
// Around the machine stand three more: a [Registry] holds a machine for each key, and
// dials it when it is first asked for; a [Supervisor] keeps a machine connected; a
// [Shutdown] ends a process in order and in time.
//
//   - G-REG-1: each key is dialled once however many ask; those who wait are bounded by
//     their contexts, and no key holds up another.
//   - G-REG-2: a dial that fails fails all who waited for it, leaves nothing, and the next
//     Get dials anew.
//   - G-REG-3: a key may be removed at any time, while it is dialled or leased: who waits
//     is told, and nothing is opened or left open behind the back of who removed it.
//   - G-REG-4: keys and waiting callers are bounded, and who is over the bound is refused.
//   - G-REG-5: Close closes all within the bound of one; the number of open connections is
//     exact at any time, and returns to zero.
//   - G-REG-6: Get of a connected key takes no lock and allocates nothing.
//   - G-SUP-1: while the backend can be reached there is a connection, or a dial under way,
//     or a back-off that ends.
//   - G-SUP-2: there is one dial at a time, with a back-off between them that grows as long
//     as no connection lasts.
//   - G-SUP-3: a nudge ends a back-off, and never makes dials closer than MinGap.
//   - G-SUP-4: Stop returns at once from a dial or a back-off, and when the supervisor's
//     goroutines have ended; it leaves the machine as it is.
//   - G-SUP-5: only several failed checks in a row make it drop a connection; a check that
//     hangs or panics has failed.
//   - G-SHU-1: the steps run one after the other, in the order of the phases.
//   - G-SHU-2: every step runs, whatever the ones before it did: error, panic, Goexit, hang.
//   - G-SHU-3: Run returns within its bound; what a step claims is kept free for it.
//
// # When not to use it
//
// A connection that is opened once in main and closed by the process's end needs no
// machine. Nor does a pool that dials and drops connections by itself: the machine
// is for the pool as a whole.
package lifecycle
