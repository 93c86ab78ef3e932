// Package lane caps how much goes on at once, and lets a bounded number of callers
// wait for a bounded time. Named lanes isolate what matters from what can wait: each
// has its own permits and its own waiting room, so that bulk work never starves the
// critical.
//
// A [Lane] is a limiter with a waiting room. Who finds no permit waits, first in
// first out, if there is room; who can't be served in time is refused at once, if the
// lane predicts ([Config.Predict]). A [Set] holds several lanes and sends each call to
// the lane that its context names ([Set.Into]), that its class is mapped to, or to the
// default. A [Router] does the same over anything that runs operations, such as
// executors.
//
// # Guarantees
//
//   - G-LAN-1: at no time more than the limit is in use, unless the limit was
//     lowered or the mode isn't Enforce, or wasn't when the calls began.
//   - G-LAN-2: at most MaxWaiting callers wait, none longer than MaxWait or its
//     context.
//   - G-LAN-3: waiting callers are served in the order in which they came, and nobody
//     passes them; a heavy one isn't starved by light ones. (Order Newest turns the
//     order around, and sheds the oldest. Who borrows takes nothing that they wait for.)
//   - G-LAN-4: a caller who gives up, times out or is refused leaves nothing behind: no
//     place, no permit, no goroutine, no timer.
//   - G-LAN-5: a resize, a change of mode and a close wake whom they concern.
//   - G-LAN-6: a lane that predicts refuses at once who can't be served in time, and
//     never locks up over its prediction.
//   - G-LAN-7: what one lane of a set does can't take a permit of another, unless
//     lending is on; with it, the next permit that comes back is the lender's.
//   - G-LAN-8: an uncontended call allocates nothing and takes no lock.
//   - G-LAN-9: with a pace there is one call at a time, and callers wait for the next to be
//     due in their order, no longer than they may.
//
// # When not to use it
//
// If nobody should wait, use package limiter: it is the same without the waiting room.
// If the work should go on without its caller, or by workers of its own, use package
// deadline.
package lane
