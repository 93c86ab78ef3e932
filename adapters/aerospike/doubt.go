package aerospike

import (
	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway"
)

// maybeExecuted reports whether an attempt that ended with err, of which v is the verdict,
// may have changed something, if its operation does.
func (cl *call) maybeExecuted(err as.Error, v Verdict) bool {
	op := cl.trip.op
	switch {
	case !cl.called: // what was asked before changes nothing
		return false
	case op.Kind == spillway.KindJob && cl.nodes > 1:
		return begunSomewhere(err, cl.nodes)
	case op.Kind == spillway.KindWrite && cl.trip.items > 1:
		return executedInPart(err, op == opBatchDelete || op == opBatchExecute)
	}
	return v.Sent && !v.Refused
}

// executedInPart reports whether a batch may have been executed in part. Each node that
// failed has left an error in the chain, in no order, and one that gave up loses what it had
// tried if another is put below. ends says that what the driver makes of a node's answer ends
// with the first record that failed, as that of deletes and functions: others may be done.
func executedInPart(err as.Error, ends bool) bool {
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

// begunSomewhere reports whether a job may have begun at one of so many nodes: the driver
// asks them all, and has an error of those alone that failed. It has not if each has refused
// it, or the driver itself has, which names no node.
func begunSomewhere(err as.Error, nodes int) bool {
	refused := 0
	for link, ok := driverLink(err); ok; link, ok = driverLink(link.Unwrap()) {
		switch {
		case !sentBy(link) || !classOf(int(link.ResultCode)).refused:
			return true
		case link.Node == nil:
			return false
		}
		refused++
	}
	return refused < nodes
}

// neverSent reports whether a code is the driver's for an attempt that found no node, or no
// connection.
func neverSent(code types.ResultCode) bool {
	switch code {
	case types.NO_AVAILABLE_CONNECTIONS_TO_NODE, types.MAX_ERROR_RATE, types.INVALID_NODE_ERROR,
		types.SERVER_NOT_AVAILABLE, types.INVALID_CLUSTER_PARTITION_MAP:
		return true
	default:
		return false
	}
}
