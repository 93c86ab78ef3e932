package aerospike

import (
	"context"
	"math/rand/v2"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
)

// DropIndex removes a secondary index, and returns when no node has it any more; one
// that there isn't is no error. If ctx ends first it returns a *[DetachedError]: the
// servers go on removing it. Without a deadline it waits as long as a stream may take
// (Config.StreamTimeout). The driver's own waits without a limit.
func (c *Client) DropIndex(ctx context.Context, policy *as.WritePolicy, namespace, set, indexName string) error {
	if c.core == nil {
		return errZero
	}
	remove := "sindex-delete:ns=" + namespace
	if set != "" {
		remove += ";set=" + set
	}
	remove += ";indexname=" + indexName
	e := errand{op: opDropIndex, namespace: namespace, set: set, policy: either(policy, &c.defaults.write).TotalTimeout, waits: true}
	_, err := administer(ctx, c, e, func(ctx context.Context, cl *call, timeout time.Duration) (struct{}, error) {
		_, err := cl.askAny(timeout, remove)
		switch {
		case err != nil && err.Matches(types.INDEX_NOTFOUND):
			return struct{}{}, nil
		case err != nil:
			return struct{}{}, cl.wrap(err)
		}
		cl.trip.doubt = true // it is being removed, whatever comes of the questions
		return struct{}{}, cl.await(ctx, indexGone(namespace, indexName))
	})
	return err
}

// waitUntil returns when a call that began at began is left, if it waits for the end of what
// it asks for. What its policy says is for the question; the wait has a bound of its own, and
// doesn't end earlier. Zero is none but the context's.
func (cl *call) waitUntil(ctx context.Context, began time.Time) time.Time {
	limit := cl.trip.choices.budget
	if _, has := ctx.Deadline(); !has && limit == 0 {
		limit = cl.client.cfg.StreamTimeout
	}
	if limit == 0 {
		return time.Time{}
	}
	if end := began.Add(limit); end.After(cl.budget.ends()) {
		return end
	}
	return cl.budget.ends()
}

// await asks until what a poll is about is done, or ctx.
func (cl *call) await(ctx context.Context, gone poll) error {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		timeout := cl.budget.total
		if deadline, has := ctx.Deadline(); has {
			timeout = min(timeout, time.Until(deadline))
		}
		done, err := gone(cl, max(timeout, time.Millisecond))
		switch {
		case done:
			return nil
		case err != nil && !IsOverload(err):
			return err
		case rest(ctx, pause) != nil:
			return &DetachedError{Op: cl.trip.op.Name, Cause: causeOf(ctx)}
		}
	}
}

// rest waits for a pause, about, and returns ctx's cause if that ends first.
func rest(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause/2 + rand.N(pause))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return causeOf(ctx)
	}
}
