package aerospike

import (
	"context"
	"time"
)

// Task is work that goes on at the servers after the call that began it: an index that
// is built, a UDF that is distributed, a job over many records. It is safe for
// concurrent use. It belongs to the client, not to its connection: after a reconnect it
// asks over the new one.
type Task struct {
	client *Client
	op     *Operation
	id     uint64
	poll   poll
}

// task is the Task of what was begun, if nothing went wrong.
func (c *Client) task(op *Operation, id uint64, done poll, err error) (*Task, error) {
	if err != nil {
		return nil, err
	}
	return &Task{client: c, op: op, id: id, poll: done}, nil
}

// ID returns the id of a job; 0 for what has none.
func (t *Task) ID() uint64 { return t.id }

// Done asks every node whether the work is done.
func (t *Task) Done(ctx context.Context) (done bool, err error) {
	return administer(ctx, t.client, errand{op: opTaskDone}, func(_ context.Context, cl *call, timeout time.Duration) (bool, error) {
		return t.poll(cl, timeout)
	})
}

// The pauses between two questions: the first answer is hardly ever yes before the
// shortest, and a job that takes minutes isn't asked about every tenth of a second.
const (
	shortestPause = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// Wait asks again and again until the work is done, and returns nil; or ctx's cause if
// that ends first; or the first error of an answer that isn't overload.
func (t *Task) Wait(ctx context.Context) error {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		if err := rest(ctx, pause); err != nil {
			return err
		}
		done, err := t.Done(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return causeOf(ctx)
		case err != nil && !IsOverload(err):
			return err
		case done:
			return nil
		}
	}
}
