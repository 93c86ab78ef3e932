package retry

import (
	"fmt"
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
)

// Budgets count in millionths of a retry.
const (
	microRetry   = 1_000_000
	maxPerSecond = 10_000
	maxBurst     = 1_000_000
)

// BudgetConfig are the settings of a budget.
type BudgetConfig struct {
	// Ratio is how many retries each success pays for, from 0 to 1. Zero means that
	// successes pay for none.
	Ratio float64
	// PerSecond is how many retries a second there are besides, from 0 to 10 000, so
	// that one who has no successes isn't locked out for ever. They are per process:
	// what all processes together have must be less than the backend can bear. Zero
	// means none. Ratio and PerSecond must not both be zero.
	PerSecond float64
	// Burst is how many retries can be saved up, from 1 to 1 000 000. A second's
	// worth of Ratio is enough. Zero is an error.
	Burst int
}

// DefaultBudgetConfig returns the settings that fit most: a tenth of the successes, one
// retry a second, a burst of 10. Above 100 calls a second Burst should be a tenth of
// the rate.
func DefaultBudgetConfig() BudgetConfig {
	return BudgetConfig{Ratio: 0.1, PerSecond: 1, Burst: 10}
}

// Budget bounds retries to a share of the successes, so that an outage isn't
// prolonged by those who repeat. It belongs to one dependency, and all retriers that
// call it share the budget. A retry is paid for when it starts, which is before its
// back-off: those who are asleep have paid, and can't all fire. A retry that isn't
// made after all is paid back. Success refills it, on whichever attempt; so does an
// answer of OutcomePermanent, for whoever gives it is well. Time refills it, too.
//
// A budget has no goroutine, no timer and no lock; a success costs two atomic
// reads while it is full, and one write more while it isn't. All methods are safe
// for concurrent use. The zero Budget grants nothing, a nil *Budget everything.
type Budget struct {
	ratio  int64     // what a success pays in, in millionths
	rate   uint64    // what a second pays in, in millionths
	burst  int64     // the most there can be, in millionths
	base   time.Time // time is counted from here
	_      [64]byte  // those above are only read
	debt   atomic.Int64
	fullAt atomic.Int64
	_      [64]byte

	granted  atomic.Uint64
	refunded atomic.Uint64
	denied   atomic.Uint64
}

// What there is, is earned(now) − debt, where debt is all that was spent minus all
// that was paid in. More than burst can't be saved: whoever spends raises debt to
// earned(now) − burst first. Between two spendings it only grows, so it is the same
// as if it were clamped at each deposit, which therefore needs no clock.
//
// fullAt is an earlier value of earned(now) − burst, and so never above it.
//
// Invariant: debt <= fullAt implies that the budget is full.

// NewBudget returns a full budget. A wrong configuration gives a
// *spillway.ConfigError that lists every fault.
func NewBudget(cfg BudgetConfig) (*Budget, error) {
	e := &spillway.ConfigError{Component: "retry budget"}
	if !(cfg.Ratio >= 0 && cfg.Ratio <= 1) { // NaN, too
		e.Add("Ratio", cfg.Ratio, "must be from 0 to 1")
	}
	if !(cfg.PerSecond >= 0 && cfg.PerSecond <= maxPerSecond) {
		e.Add("PerSecond", cfg.PerSecond, fmt.Sprintf("must be from 0 to %d", maxPerSecond))
	}
	if cfg.Burst < 1 || cfg.Burst > maxBurst {
		e.Add("Burst", cfg.Burst, fmt.Sprintf("must be from 1 to %d", maxBurst))
	}
	b := &Budget{
		ratio: int64(math.Round(cfg.Ratio * microRetry)),
		rate:  uint64(math.Round(max(cfg.PerSecond, 0) * microRetry)),
		burst: int64(cfg.Burst) * microRetry,
		base:  time.Now(),
	}
	if len(e.Faults) == 0 && b.ratio == 0 && b.rate == 0 {
		e.Add("Ratio", cfg.Ratio, "must be at least a millionth if PerSecond isn't: nothing would refill the budget")
	}
	if err := e.Err(); err != nil {
		return nil, err
	}
	b.debt.Store(-b.burst)
	b.fullAt.Store(-b.burst)
	return b, nil
}

// Withdraw pays for one retry and reports whether there was one left. If not,
// nothing was paid.
func (b *Budget) Withdraw() bool {
	if b == nil {
		return true
	}
	for {
		debt := b.debt.Load()
		now := b.earned()
		from := max(debt, now-b.burst) // what is over the burst is forfeited
		if now-from < microRetry {
			b.denied.Add(1)
			return false
		}
		if b.debt.CompareAndSwap(debt, from+microRetry) {
			b.fullAt.Store(now - b.burst)
			b.granted.Add(1)
			return true
		}
	}
}

// Deposit pays in for one success.
func (b *Budget) Deposit() {
	if b != nil && b.debt.Load() > b.fullAt.Load() {
		b.debt.Add(-b.ratio)
	}
}

// Refund pays back one retry that was paid for and not made.
func (b *Budget) Refund() {
	if b == nil {
		return
	}
	b.debt.Add(-microRetry)
	b.refunded.Add(1)
}

// earned is what time has paid in since the budget was made. A clock that goes back
// takes nothing away but time.
func (b *Budget) earned() int64 {
	if b.rate == 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(max(time.Since(b.base), 0)), b.rate)
	if hi >= uint64(time.Second) {
		return math.MaxInt64
	}
	sum, _ := bits.Div64(hi, lo, uint64(time.Second))
	return int64(min(sum, math.MaxInt64))
}

// BudgetStats is a snapshot of a budget. Counts start with the budget and only grow.
type BudgetStats struct {
	Burst     int     // the most that can be saved up
	Available float64 // retries that can be had at this moment
	Granted   uint64  // retries that were paid for
	Refunded  uint64  // those of them that were paid back
	Denied    uint64  // retries that there was nothing left for
}

// Stats returns a snapshot. That of a nil Budget is zero.
func (b *Budget) Stats() BudgetStats {
	if b == nil {
		return BudgetStats{}
	}
	left := min(b.earned()-b.debt.Load(), b.burst)
	return BudgetStats{
		Burst:     int(b.burst / microRetry),
		Available: float64(max(left, 0)) / microRetry,
		Granted:   b.granted.Load(),
		Refunded:  b.refunded.Load(),
		Denied:    b.denied.Load(),
	}
}
