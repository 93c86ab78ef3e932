package aerospike

import (
	"context"
	"math/rand/v2"
	"slices"
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
	return c.administer(ctx, opDropIndex, namespace, set, either(policy, &c.defaults.write).TotalTimeout, func(ctx context.Context, cl *call, timeout time.Duration) error {
		nodes := cl.session.client.Cluster().GetNodes()
		if len(nodes) == 0 {
			return cl.wrap(&as.AerospikeError{ResultCode: types.SERVER_NOT_AVAILABLE})
		}
		_, err := ask(nodes[rand.IntN(len(nodes))], timeout, remove) // which tells the others
		switch {
		case err != nil && err.Matches(types.INDEX_NOTFOUND):
			return nil
		case err != nil:
			return cl.wrap(err)
		}
		return cl.awaitNoIndex(ctx, "sindex-exists:ns="+namespace+";indexname="+indexName)
	})
}

// awaitNoIndex asks until every node says that there is no such index.
func (cl *call) awaitNoIndex(ctx context.Context, question string) error {
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
		answers, err := cl.askAll(max(cl.budget.total, time.Millisecond), question)
		if err != nil && !IsOverload(err) {
			return err
		}
		if err == nil && !slices.ContainsFunc(answers, func(a string) bool { return a != "false" }) {
			return nil
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return &DetachedError{Op: opDropIndex.Name, Cause: context.Cause(ctx)}
		}
	}
}
