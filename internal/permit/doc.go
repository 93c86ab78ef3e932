// Package permit is the core under limiter and lane: a number of permits in one
// packed atomic word, the first-in first-out queue of those who wait for them, the
// hand-off from who releases to who waits, and the table that makes a permit a
// value that can be released only once.
//
// The two packages above are policies over it. What they share is decided here, in
// one place: who may pass while others wait (nobody), whom a resize, a change of
// mode and a close wake (all whom they concern), and what a cancelled waiter leaves
// behind (nothing).
//
// # The lock protocol
//
// [Core] has one mutex. It guards the queue, the ghosts and the rare changes of
// settings; no caller's function runs under it, and the only channel operations
// under it are sends that can't block. The word is changed by compare-and-swap or
// by a single add. Four rules connect the two:
//
//   - The waiting bit is set and cleared only under the lock, and is set exactly
//     while the queue isn't empty. While it is set nobody is admitted except by
//     settle, which holds the lock: that is why nobody barges.
//   - Who lowers the use or raises the limit looks at the bits of the word that he
//     left behind. If the waiting, the closed or the paced bit is among them, he takes
//     the lock and settles.
//   - Who enqueues sets the waiting bit by a compare-and-swap from a word in which
//     there is no room. So either his swap fails because a permit came back
//     meanwhile, or whoever gives one back afterwards sees the bit.
//   - The paced bit is set and cleared only under the lock. While it is set, who is
//     admitted in mode Enforce holds the lock: what is known of the last release can't
//     change under him.
package permit
