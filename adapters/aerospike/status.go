package aerospike

import (
	"errors"

	"github.com/spillway-go/spillway"
)

// StatusOf returns what to answer a caller of yours whose request failed with err:
// the HTTP and gRPC status, and for those who should come back, when. Answers of
// the database that mean something to a caller (not found, exists already, wrong
// generation …) have their own status; everything else goes by its class, as in
// spillway.StatusOf. A nil err is 200.
func StatusOf(err error) spillway.Status {
	status := spillway.StatusOf(err)
	var r *spillway.Rejection
	if errors.As(err, &r) && r.Component == "lane" {
		// The database's lane is full, not one of the caller's own.
		status.HTTP, status.GRPC = httpServiceUnavailable, grpcUnavailable
	}
	var ours *Error
	if !errors.As(err, &ours) {
		return status
	}
	class := classOf(int(ours.Code))
	if class.http != 0 {
		status.HTTP = class.http
	}
	if class.grpc != 0 {
		status.GRPC = class.grpc
	}
	if class.outcome == spillway.OutcomeStopWrites {
		status.RetryAfter = max(status.RetryAfter, stopWritesRetry)
	}
	return status
}
