package lane

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// Lending lets a call whose lane is full run with a permit that another lane of the
// set leaves idle. The permit stays the lender's: the next one that comes back to
// it goes to whoever waits there. How long a lender may have to wait for that is how
// long the borrower holds: so only lanes that hold briefly may borrow. A lane that
// is paced neither borrows nor lends. The zero Lending is off.
type Lending struct {
	// Brief is the longest time that calls of a lane may hold permits, by the ninth
	// decile of its samples, for the lane to borrow. Zero switches lending off. A lane
	// that has not ended 32 calls yet isn't known well enough to borrow.
	Brief time.Duration
	// Keep is how many permits a lender keeps free for itself. It must be positive
	// with lending on.
	Keep int
	// Ceiling is how many calls of one lane may run with borrowed permits at once. It
	// must be positive with lending on.
	Ceiling int
	// NoLend names the lanes that never lend.
	NoLend []string
}

// lending is a Lending that was validated.
type lending struct {
	brief   time.Duration
	keep    int
	ceiling int64
	noLend  map[int]bool
}

// loans are what a lane has borrowed and lent.
type loans struct {
	borrowed      atomic.Int64  // calls of this lane with a permit of another now
	borrowedTotal atomic.Uint64 // and ever
	lent          atomic.Uint64 // calls of other lanes with a permit of this one
}

// settle validates the lending; nil if it is off.
func (l Lending) settle(e *spillway.ConfigError, r *routes) *lending {
	if l.Brief < 0 {
		e.Add("Lending.Brief", l.Brief, "must not be negative")
	}
	if l.Brief == 0 {
		if l.Keep != 0 || l.Ceiling != 0 || len(l.NoLend) > 0 {
			e.Add("Lending.Brief", l.Brief, "must be positive for lending to be on")
		}
		return nil
	}
	if l.Keep < 1 {
		e.Add("Lending.Keep", l.Keep, "must be at least 1: a lender keeps a permit for itself")
	}
	if l.Ceiling < 1 {
		e.Add("Lending.Ceiling", l.Ceiling, "must be at least 1")
	}
	s := &lending{brief: l.Brief, keep: l.Keep, ceiling: int64(l.Ceiling), noLend: map[int]bool{}}
	for i, name := range l.NoLend {
		lane, ok := r.index[name]
		if !ok {
			e.Add(fmt.Sprintf("Lending.NoLend[%d]", i), name, "must be the name of one of the lanes")
		}
		s.noLend[lane] = true
	}
	return s
}

// borrow takes a permit of another lane for a call of lane i, if lane i is full and
// holds briefly, and the other has more idle than it keeps. A nested call borrows
// nothing: not in its own lane's stead, which will say what it is, nor of a lane that it
// holds a permit of. Nor does one whose wait nothing would bound: it is wrong, whatever
// is free. The caller must give back the borrowed count with the permit.
func (s *setBase) borrow(ctx context.Context, i int) (lender base, use permit.Use, ok bool) {
	lane, l := s.lanes[i], s.lending
	if !lane.core.Full(1) {
		return lender, use, false
	}
	if !lane.core.Brief(l.brief) || lane.core.IsInside(ctx) || !lane.core.Bounds(ctx) {
		return lender, use, false
	}
	defer func() { // also if the context, which is the caller's code, panics
		if !ok {
			lane.loans.borrowed.Add(-1)
		}
	}()
	if lane.loans.borrowed.Add(1) > l.ceiling {
		return lender, use, false
	}
	for j, other := range s.lanes {
		if j == i || l.noLend[j] || other.core.IsInside(ctx) {
			continue
		}
		if use, ok = other.core.Lend(ctx, 1, l.keep); ok {
			lane.loans.borrowedTotal.Add(1)
			other.loans.lent.Add(1)
			return other, use, true
		}
	}
	return lender, use, false
}

// settled takes back a borrowed permit's place under the ceiling. Its hold is a sample of
// the borrower's: one that has become slow borrows for no longer than it takes to see it.
func (b base) settled(began int64) {
	b.loans.borrowed.Add(-1)
	b.core.Learn(time.Duration(b.core.Now() - began))
}

// loan is a borrowed permit that is given back by whoever ends the work.
type loan struct {
	borrower base
	began    int64           // on the borrower's clock
	permit   spillway.Permit // the lender's
	over     atomic.Bool
}

// End implements spillway.Releaser. It takes effect once, as the permit itself does.
func (l *loan) End(_ uint64, o spillway.Outcome, hold time.Duration) {
	if !l.over.CompareAndSwap(false, true) {
		return
	}
	l.borrower.settled(l.began)
	if hold > 0 {
		l.permit.ReleaseAfter(hold)
	} else {
		l.permit.ReleaseWith(o)
	}
}
