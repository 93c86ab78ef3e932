package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"golang.org/x/time/rate"

	"github.com/spillway-go/spillway/adapters/aerospike"
)

const (
	batchSize = 500
	writeTime = 5 * time.Minute  // to look for all records and write them, besides what the rate asks for
	cleanTime = 30 * time.Second // likewise
	againTime = 500 * time.Millisecond
)

// records are what is written and read.
type records struct {
	client  *aerospike.Client
	options options
	pace    *rate.Limiter // of all that is sent
	keys    []*as.Key
	bins    as.BinMap
	ours    []*as.Key // those that were written, or may have been
	create  *as.WritePolicy
	update  *as.WritePolicy
}

func newRecords(client *aerospike.Client, o options) (*records, error) {
	r := &records{
		client: client, options: o, pace: rate.NewLimiter(rate.Limit(o.maxRate), max(1, int(o.maxRate/100))),
		bins: as.BinMap{"v": make([]byte, o.size)}, create: as.NewWritePolicy(0, 0), update: as.NewWritePolicy(0, 0),
	}
	once(&r.create.BasePolicy, o)
	once(&r.update.BasePolicy, o)
	// Nobody's record is overwritten, and a write that a slow node comes to after the
	// records were deleted brings none back.
	r.create.RecordExistsAction, r.update.RecordExistsAction = as.CREATE_ONLY, as.UPDATE_ONLY
	for i := range o.records {
		key, bad := as.NewKey(o.namespace, o.set, fmt.Sprintf("tune-%d", i))
		if bad != nil {
			return nil, bad
		}
		r.keys = append(r.keys, key)
	}
	return r, nil
}

func (r *records) read(ctx context.Context, i int) error {
	_, err := r.client.Get(ctx, nil, r.keys[i%len(r.keys)])
	return err
}

func (r *records) write(ctx context.Context, i int) error {
	return r.client.Put(ctx, r.update, r.keys[i%len(r.keys)], r.bins)
}

// wait waits until n more records may be asked for.
func (r *records) wait(ctx context.Context, n int) error {
	for n > 0 {
		part := min(n, r.pace.Burst())
		if err := r.pace.WaitN(ctx, part); err != nil {
			return err
		}
		n -= part
	}
	return nil
}

// prepare writes the records, unless there are some already, or they couldn't be deleted.
func (r *records) prepare(ctx context.Context) error {
	for _, node := range r.client.Cluster().GetNodes() {
		if !node.SupportsBatchAny() {
			return fmt.Errorf("%v is older than 6.0 and can't delete in batches, as is done at the end: nothing was written", node)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, r.options.atRate(2*len(r.keys), writeTime), errors.New("writing the records takes too long: try with fewer -records"))
	defer cancel()
	for part := range slices.Chunk(r.keys, batchSize) {
		if err := r.wait(ctx, len(part)); err != nil {
			return err
		}
		there, err := r.client.BatchExists(ctx, nil, part)
		if err != nil {
			return err
		}
		if slices.Contains(there, true) {
			return fmt.Errorf("%s.%s has records of an earlier run, or of somebody else: choose another -set, or delete them", r.options.namespace, r.options.set)
		}
	}
	for _, key := range r.keys {
		if err := r.wait(ctx, 1); err != nil {
			return err
		}
		err := r.client.Put(ctx, r.create, key, r.bins)
		var failed *aerospike.Error
		if err == nil || errors.As(err, &failed) && failed.InDoubt {
			r.ours = append(r.ours, key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clean deletes what was written, whatever became of the run. A cluster that was just
// overloaded may need some time until it does that.
func (r *records) clean(ctx context.Context, say func(string, ...any)) error {
	if len(r.ours) == 0 {
		return nil
	}
	say("deleting the records")
	ctx, cancel := context.WithTimeout(ctx, r.options.atRate(len(r.keys), cleanTime))
	defer cancel()
	for {
		err := r.deleteSome(ctx)
		if len(r.ours) == 0 {
			return nil
		}
		select {
		case <-time.After(againTime):
		case <-ctx.Done():
			return fmt.Errorf("%d records are left behind in %s.%s: %w", len(r.ours), r.options.namespace, r.options.set, cmp.Or(err, context.Cause(ctx)))
		}
	}
}

// deleteSome tries to delete each record once, and keeps in ours those that may still be there.
func (r *records) deleteSome(ctx context.Context) (last error) {
	var left []*as.Key
	for part := range slices.Chunk(r.ours, batchSize) {
		var results []*as.BatchRecord
		err := r.wait(ctx, len(part))
		if err == nil {
			results, err = r.client.BatchDelete(ctx, nil, nil, part)
		}
		for i, key := range part {
			if i >= len(results) || results[i] == nil {
				left = append(left, key)
			} else if code := results[i].ResultCode; code != types.OK && code != types.KEY_NOT_FOUND_ERROR {
				left = append(left, key)
				last = results[i].Err
			}
		}
		if err != nil {
			last = err
		}
	}
	r.ours = left
	return last
}
