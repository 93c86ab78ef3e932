package aerospike

import (
	"errors"
	"slices"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway/retry"
)

// fates are what is known of the records of a batch, over all its sendings.
type fates struct {
	of    []fate
	reads func(item int) bool // which are only read; nil if none is
}

type fate struct {
	record *as.BatchRecord // as the last sending left it; nil if none returned one
	lost   error           // why it has no answer; nil if it has one
	doubt  bool            // whether it may have been executed by a sending that says nothing of it
}

// note takes over what came of a sending.
func (f *fates) note(items []int, records []*as.BatchRecord, results []retry.Result[struct{}], whole error) {
	for j, i := range items {
		known := &f.of[i]
		known.lost = nil
		if j < len(records) {
			known.record = records[j]
		}
		if !hasAnswer(known.record) {
			known.lost = whole
		}
		var e *Error
		known.doubt = known.doubt || errors.As(results[j].Err, &e) && e.executed
	}
}

// settle says of the records what the driver doesn't, if that is wanted: that one which
// failed, or has no answer, may have been executed, be it by an earlier sending. It returns
// the error of the batch; whole is that of the last sending.
func (f *fates) settle(mark bool, whole error) error {
	for i, known := range f.of {
		if whole == nil {
			whole = known.lost
		}
		if r := known.record; mark && known.doubt && r != nil && r.ResultCode != types.OK && (f.reads == nil || !f.reads(i)) {
			r.InDoubt = true
		}
	}
	return whole
}

func hasAnswer(r *as.BatchRecord) bool { return r != nil && r.ResultCode != types.NO_RESPONSE }

// unanswered reports whether no record has an answer, or was even sent: those that were
// fail otherwise.
func unanswered(records []*as.BatchRecord) bool { return !slices.ContainsFunc(records, hasAnswer) }

// maybeExecuted reports whether a batch of writes that ended with err may have been executed
// in part. Each node that failed has left an error in the chain, in no order, and one that
// gave up loses what it had tried if another is put below. What the driver makes of the
// answer of a batch of deletes, or functions, ends with the first record that failed: others
// may be done.
func (t *trip) maybeExecuted(err as.Error) bool {
	ends := t.op == opBatchDelete || t.op == opBatchExecute
	for link, ok := driverLink(err); ok; {
		below, more := driverLink(link.Unwrap())
		gaveUp := link.ResultCode == types.MAX_RETRIES_EXCEEDED || link.ResultCode == types.TIMEOUT && more
		switch {
		case gaveUp && more && !neverSent(below.ResultCode):
			return true
		case !gaveUp && sentBy(link) && (ends || !classOf(int(link.ResultCode)).refused):
			return true
		}
		link, ok = below, more
	}
	return false
}

// neverSent reports whether a code is the driver's for an attempt that found no node, or no
// connection.
func neverSent(code types.ResultCode) bool {
	switch code {
	case types.NO_AVAILABLE_CONNECTIONS_TO_NODE, types.MAX_ERROR_RATE, types.INVALID_NODE_ERROR,
		types.SERVER_NOT_AVAILABLE, types.INVALID_CLUSTER_PARTITION_MAP:
		return true
	}
	return false
}
