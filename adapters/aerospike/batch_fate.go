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
		known.doubt = known.doubt || errors.As(results[j].Err, &e) && e.executed && !scriptFailed(known.record)
	}
}

// scriptFailed reports whether a record's answer is that its function failed: all that the
// server can say of it, and as sure as any other answer. What the function had done by then
// is known to whoever wrote it.
func scriptFailed(r *as.BatchRecord) bool { return r != nil && r.ResultCode == types.UDF_BAD_RESPONSE }

// settle says of the records what the driver doesn't, or says wrongly, if that is wanted:
// whether one that failed, or has no answer, may have been executed, be it by an earlier
// sending. It returns the error of the batch; whole is that of the last sending.
func (f *fates) settle(mark bool, whole error) error {
	for i, known := range f.of {
		if whole == nil {
			whole = known.lost
		}
		if r := known.record; mark && r != nil && r.ResultCode != types.OK {
			r.InDoubt = known.doubt && (f.reads == nil || !f.reads(i))
		}
	}
	return whole
}

func hasAnswer(r *as.BatchRecord) bool { return r != nil && r.ResultCode != types.NO_RESPONSE }

// failedAlone reports whether the server has an answer for a record that was sent alone. Of
// a batch of one the driver makes that an error of the whole; of one of several, of which
// only this was sent again, it is none.
func failedAlone(r *as.BatchRecord) bool {
	return r.ResultCode > types.OK && r.ResultCode != types.TIMEOUT
}

// unanswered reports whether no record has an answer, or was even sent: those that were
// fail otherwise.
func unanswered(records []*as.BatchRecord) bool { return !slices.ContainsFunc(records, hasAnswer) }
