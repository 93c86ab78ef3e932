// Package model is a backend that obeys a formula: B(c, F, κ, Q, x). It has c slots that serve
// first come first served, a distribution F of service times, a slowdown κ of what is asked for
// more than it has slots for, a bound Q on its queue, and it either drops what expired in its queue
// (x) or serves it although nobody waits any more. Its speed may change over time, down to a stall,
// and it may be down.
//
// Time is real time: it runs in a testing/synctest bubble, where hours cost seconds. Time spans in
// its configuration count from its making.
//
// It has no goroutine of its own. Each call is the goroutine of its caller; a timer ends each
// service.
package model
