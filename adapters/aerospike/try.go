package aerospike

import (
	"context"
	"slices"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway"
)

// try makes an attempt under the eyes of an observer who wants to see each. attempt is only
// called, so that it stays on its caller's stack.
func (c *Client) try(ctx context.Context, t *trip, attempt func(context.Context) error) error {
	if c.attempts == nil {
		return attempt(ctx)
	}
	asked, waited, backend := t.asked, t.waited, t.backend
	ctx, observation := beginning(ctx, func() (context.Context, spillway.Observation) {
		return c.attempts.BeginAttempt(ctx, c.callOf(t), t.attempts)
	})
	err := errCutShort
	defer func() {
		only := *t // of the attempt alone
		only.asked, only.waited, only.backend = t.asked-asked, t.waited-waited, t.backend-backend
		if only.asked == 0 {
			only.guard = nil
		}
		only.report(observation, err)
	}()
	err = attempt(ctx)
	return err
}

// watchedSend is send for somebody who watches: each sending is an attempt, and the trip knows
// how many of the n records have failed.
func (c *Client) watchedSend(send sendRecords, n int) sendRecords {
	failed := make([]bool, n)
	return func(ctx context.Context, cl *call, items []int) (records []*as.BatchRecord, err error) {
		t := &cl.trip
		asked := t.asked
		err = c.try(ctx, t, func(ctx context.Context) (err error) {
			records, err = send(ctx, cl, items)
			if t.asked > asked {
				t.lost = tally(failed, items, records)
			}
			return err
		})
		return records, err
	}
}

// tally notes which of the items that were sent failed, and returns how many there are in all.
func tally(failed []bool, items []int, records []*as.BatchRecord) (n int) {
	for j, i := range items {
		failed[i] = j >= len(records) || records[j] == nil || isFailure(records[j].ResultCode)
	}
	for _, f := range failed {
		if f {
			n++
		}
	}
	return n
}

// isFailure reports whether a record's code is one that nobody asks for: "isn't there" and the
// like are answers.
func isFailure(code types.ResultCode) bool {
	return !slices.Contains([]types.ResultCode{
		types.OK, types.KEY_NOT_FOUND_ERROR, types.KEY_EXISTS_ERROR, types.GENERATION_ERROR, types.FILTERED_OUT,
	}, code)
}
