package retry

import (
	"context"
	"fmt"

	"github.com/spillway-go/spillway"
)

// Result is what became of one item of a batch.
type Result[O any] struct {
	Value O     // the result; with an error, whatever came with it
	Err   error // nil on success
}

// Each sends a batch and sends those of its items again that failed in a way that
// is worth repeating, and no others, as r's policy says. It returns a result for
// every item, in the order of items, whatever happened. Without items nothing is sent.
//
// send gets the items that are open, in their order, and returns a result for each
// of them. If it returns an error instead, its results are ignored: the error is
// that of every item it was given. It must not change the slice, which at first is
// items itself; what is sent again is a copy.
//
// The whole batch is one operation of r: each sending is an attempt, a repeated one
// costs one retry of the budget, and the back-off is that of the open item which
// asks for the longest. The error of Each is nil if every item was answered, be it by
// an error that isn't worth repeating: look at the items. Otherwise it is what Do would
// return: an *[ExhaustedError] that says how many items are open, and those have their
// last errors, also if the policy allows one sending only; or the error of send, if that
// isn't worth repeating, or was that of the only sending.
func Each[I, O, T any](ctx context.Context, r *Retrier[T], items []I, send func(ctx context.Context, items []I) ([]Result[O], error)) ([]Result[O], Report, error) {
	b := batch[I, O]{core: r.core, open: items, results: make([]Result[O], len(items))}
	if b.core == nil {
		b.core = single()
	}
	var s call
	if len(items) == 0 {
		return b.results, b.core.report(&s, 0), nil
	}
	err := b.run(ctx, &s, send)
	return b.results, b.core.report(&s, b.unresolved), err
}

// batch is the state of one Each.
type batch[I, O any] struct {
	core       *core
	results    []Result[O] // by the index of the item
	open       []I         // the items to send next
	index      []int       // their indices; nil if all are open
	failed     failure     // the last item that failed for good; its err is nil if none did
	unresolved int         // items that were given up
}

func (b *batch[I, O]) run(ctx context.Context, s *call, send func(context.Context, []I) ([]Result[O], error)) error {
	c := b.core
	if err := b.begin(ctx, s); err != nil {
		return err
	}
	returned := false
	defer func() {
		if !returned {
			c.abort(s)
		}
	}()
	for {
		s.attempts++
		results, err := send(ctx, b.open)
		if err == nil && len(results) != len(b.open) {
			err = Permanent(fmt.Errorf("%w: %d for %d", ErrResultCount, len(results), len(b.open)))
		}
		f := b.settle(results, err)
		if f.err == nil {
			c.succeed(s.phase)
			returned = true
			return nil
		}
		if again, err := c.next(ctx, s, f); !again {
			returned = true
			if f.items && f.stop != StopSuccess {
				return nil // single items failed for good, the batch is done
			}
			b.unresolved = f.open
			return err
		}
	}
}

// begin is that of the core. If it rules the batch out, no item was sent.
func (b *batch[I, O]) begin(ctx context.Context, s *call) error {
	if !b.core.careful && ctx.Err() == nil {
		return nil
	}
	err := b.core.begin(ctx, s)
	if err != nil {
		b.unresolved = len(b.results)
		for i := range b.results {
			b.results[i].Err = err
		}
	}
	return err
}

// settle takes in what came of one sending, leaves those items open that are worth
// sending again, and returns what they ask for together. If none is open it is the
// failure of an item that failed for good, and none if all succeeded.
func (b *batch[I, O]) settle(results []Result[O], err error) failure {
	if err != nil {
		f := b.core.judge(err)
		for i := range b.open {
			b.results[b.indexOf(i)] = Result[O]{Err: f.err}
		}
		f.open = len(b.open)
		return f
	}
	together := failure{items: true}
	var open []I
	var index []int
	for i, res := range results {
		at := b.indexOf(i)
		var f failure
		if res.Err != nil {
			f = b.core.judge(res.Err)
			res.Err = f.err
		}
		b.results[at] = res
		together.mayHave(f)
		switch {
		case res.Err == nil:
		case f.stop != StopSuccess:
			b.failed = f
		default:
			together.err = f.err
			together.pushed = together.pushed || f.pushed
			together.hint = max(together.hint, f.hint)
			open, index = append(open, b.open[i]), append(index, at)
		}
	}
	b.open, b.index = open, index
	if together.open = len(open); together.open == 0 {
		together.err, together.stop, together.answer = b.failed.err, b.failed.stop, b.failed.answer
	}
	return together
}

// mayHave notes what an item's failure, or its success, says of whether something was
// executed in this sending: it was in doubt, or there was an answer, or neither.
func (f *failure) mayHave(item failure) {
	answered := item.err == nil || item.stop == StopNotRetryable && spillway.OutcomeOf(item.err) != spillway.OutcomeLocal
	switch {
	case item.doubt != spillway.OutcomeOK:
		f.doubt = item.doubt
	case answered && f.doubt == spillway.OutcomeOK:
		f.doubt = spillway.OutcomeUnknown
	}
}

// indexOf returns the index, among all items, of the open item i.
func (b *batch[I, O]) indexOf(i int) int {
	if b.index == nil {
		return i
	}
	return b.index[i]
}
