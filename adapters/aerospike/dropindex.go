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
	// The wait for the end has a bound of its own; what the policy says is for the question.
	e := errand{op: opDropIndex, namespace: namespace, set: set, policy: either(policy, &c.defaults.write).TotalTimeout}
	_, err := administer(ctx, c, e, func(ctx context.Context, cl *call, timeout time.Duration) (struct{}, error) {
		_, err := cl.askAny(timeout, remove)
		switch {
		case err != nil && err.Matches(types.INDEX_NOTFOUND):
			return struct{}{}, nil
		case err != nil:
			return struct{}{}, cl.wrap(err)
		}
		return struct{}{}, cl.await(ctx, indexGone(namespace, indexName))
	})
	return err
}

// await asks until what a poll is about is done.
func (cl *call) await(ctx context.Context, gone poll) error {
	limit := cl.trip.choices.budget
	if _, has := ctx.Deadline(); !has && limit == 0 && cl.client.shapes() {
		limit = cl.client.cfg.StreamTimeout
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		done, err := gone(cl, max(cl.budget.total, time.Millisecond))
		switch {
		case done:
			return nil
		case err != nil && !IsOverload(err):
			return err
		case rest(ctx, pause) != nil:
			return &DetachedError{Op: cl.trip.op.Name, Cause: context.Cause(ctx)}
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
		return context.Cause(ctx)
	}
}
