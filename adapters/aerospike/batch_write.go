package aerospike

import (
	"context"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway/retry"
)

// BatchOperate does to each record what it says: reads, writes, deletes and UDFs, mixed.
// The results are in the records: look at each one's ResultCode and Err, for as with
// the driver a record that failed is no error of the whole, unless it is the only one. A
// record that failed, or has no answer, may have been executed if it is InDoubt. If all
// records are reads, or the client was made with Idempotent, those that failed and are
// worth it are sent again, and only those.
func (c *Client) BatchOperate(ctx context.Context, policy *as.BatchPolicy, records []as.BatchRecordIfc) error {
	if c.core == nil {
		return errZero
	}
	keys, op := make([]*as.Key, len(records)), opBatchOperateReads
	for i, r := range records {
		if err := checkRecord(opBatchOperate, i, r); err != nil {
			return err
		}
		keys[i] = r.BatchRec().Key
		if _, read := r.(*as.BatchRead); !read {
			op = opBatchOperate
		}
	}
	reads := func(item int) bool { _, read := records[item].(*as.BatchRead); return read }
	return c.eachRecord(ctx, op, keys, reads, func(ctx context.Context, cl *call, items []int) ([]*as.BatchRecord, error) {
		part := make([]as.BatchRecordIfc, len(items))
		results := make([]*as.BatchRecord, len(items))
		for j, i := range items {
			part[j], results[j] = records[i], records[i].BatchRec()
		}
		err := c.batchOnce(ctx, cl, policy, pick(keys, items), func(client *as.Client, p *as.BatchPolicy) as.Error {
			return client.BatchOperate(p, part)
		}, func() bool { return unanswered(results) })
		if len(items) == 1 && len(records) > 1 && failedAlone(results[0]) {
			err = nil
		}
		return results, err
	})
}

// BatchDelete deletes many records. The results are in the records that it returns, in
// the order of the keys, as with BatchOperate; nil if nothing was sent.
func (c *Client) BatchDelete(ctx context.Context, policy *as.BatchPolicy, deletePolicy *as.BatchDeletePolicy, keys []*as.Key) ([]*as.BatchRecord, error) {
	if c.core == nil {
		return nil, errZero
	}
	return c.batchRecords(ctx, opBatchDelete, policy, keys, func(client *as.Client, p *as.BatchPolicy, part []*as.Key) ([]*as.BatchRecord, as.Error) {
		return client.BatchDelete(p, either(deletePolicy, &c.defaults.batchDelete), part)
	})
}

// BatchExecute runs a Lua function that is registered at the server on many records.
// The results are in the records that it returns, in the order of the keys, as with
// BatchOperate; nil if nothing was sent.
func (c *Client) BatchExecute(ctx context.Context, policy *as.BatchPolicy, udfPolicy *as.BatchUDFPolicy, keys []*as.Key, packageName, functionName string, args ...as.Value) ([]*as.BatchRecord, error) {
	if c.core == nil {
		return nil, errZero
	}
	if err := checkArgs(opBatchExecute, "args", args); err != nil {
		return nil, err
	}
	return c.batchRecords(ctx, opBatchExecute, policy, keys, func(client *as.Client, p *as.BatchPolicy, part []*as.Key) ([]*as.BatchRecord, as.Error) {
		return client.BatchExecute(p, either(udfPolicy, &c.defaults.batchUDF), part, packageName, functionName, args...)
	})
}

// batchRecords is a batch whose driver's method returns a record for each key.
func (c *Client) batchRecords(ctx context.Context, op *Operation, policy *as.BatchPolicy, keys []*as.Key, f func(*as.Client, *as.BatchPolicy, []*as.Key) ([]*as.BatchRecord, as.Error)) ([]*as.BatchRecord, error) {
	var out []*as.BatchRecord // nil until the driver has returned some
	err := c.eachRecord(ctx, op, keys, nil, func(ctx context.Context, cl *call, items []int) (part []*as.BatchRecord, err error) {
		sent := pick(keys, items)
		err = c.batchOnce(ctx, cl, policy, sent, func(client *as.Client, p *as.BatchPolicy) (aerr as.Error) {
			part, aerr = f(client, p, sent)
			return aerr
		}, func() bool { return unanswered(part) })
		if out == nil && part != nil {
			out = make([]*as.BatchRecord, len(keys))
		}
		for j, r := range part {
			out[items[j]] = r
		}
		return part, err
	})
	return out, err
}

// sendRecords sends the records of a batch that items names, and returns them, in that order,
// with what came of each.
type sendRecords func(ctx context.Context, cl *call, items []int) ([]*as.BatchRecord, error)

// eachRecord makes a trip of which only the records that failed, and are worth it, are
// sent again. The error is that of the last attempt as a whole, or that of records which
// have no answer and weren't sent again. reads reports which records are only read; nil is
// none.
func (c *Client) eachRecord(ctx context.Context, op *Operation, keys []*as.Key, reads func(item int) bool, send sendRecords) error {
	cl := c.batchCall(ctx, op, keys)
	t := &cl.trip
	items := make([]int, len(keys))
	for i := range items {
		items[i] = i
	}
	known := fates{of: make([]fate, len(keys)), reads: reads}
	r := c.retrierOf(t)
	attempt := func(ctx context.Context) (whole error) {
		once := func(ctx context.Context, items []int) (results []retry.Result[struct{}], asked bool, err error) {
			before := t.asked
			records, err := send(ctx, cl, items)
			if t.asked == before {
				return nil, false, err // what the records say is of an earlier call
			}
			results = t.judge(records, len(items), err)
			known.note(items, records, results, err)
			return results, true, err
		}
		if r == nil {
			t.attempts = 1
			_, _, whole = once(ctx, items)
			return known.settle(c.shapes(), whole)
		}
		t.attempts = 0 // this counts them anew, one for each sending
		_, _, err := retry.Each(ctx, r, items, func(ctx context.Context, items []int) ([]retry.Result[struct{}], error) {
			t.attempts++
			results, asked, err := once(ctx, items)
			if asked || t.attempts == 1 {
				whole = err
			} // else it ends with what came of the sendings before
			if !asked {
				return nil, err
			}
			return results, nil
		})
		if t.attempts == 0 {
			return err // nothing was sent
		}
		return known.settle(true, whole)
	}
	if !c.isWatched() {
		return attempt(ctx)
	}
	// The records are repeated here, so whoever stands around sees one attempt.
	send, t.parts = c.watchedSend(send, len(keys)), true
	once := *c
	once.choices.noRetry = true
	return once.watched(ctx, t, attempt)
}

// judge returns the error of every record. One node that fails is an error of the whole,
// although the others have done their part: it is the error of those records that have
// no answer.
func (t *trip) judge(records []*as.BatchRecord, n int, whole error) []retry.Result[struct{}] {
	results := make([]retry.Result[struct{}], n)
	for j := range results {
		if j >= len(records) || records[j] == nil {
			results[j].Err = whole
			continue
		}
		rec := records[j]
		if rec.ResultCode == types.OK {
			continue
		}
		if rec.Err == nil {
			results[j].Err = whole
			continue
		}
		v := Classify(rec.Err)
		results[j].Err = &Error{
			Op: t.op.Name, Namespace: t.ns, Set: t.set, Code: v.Code, outcome: v.Outcome, cause: rec.Err,
			executed: v.Sent && !v.Refused,
		}
	}
	return results
}

// pick returns the keys of the items.
func pick(keys []*as.Key, items []int) []*as.Key {
	if len(items) == len(keys) {
		return keys
	}
	part := make([]*as.Key, len(items))
	for j, i := range items {
		part[j] = keys[i]
	}
	return part
}
