package aerospike

import (
	"slices"
	"time"

	"github.com/spillway-go/spillway"
)

// codeClass is what a result code means to whoever sent the call. The table goes by
// number and knows nothing of the driver.
type codeClass struct {
	outcome spillway.Outcome
	http    int  // the status for a caller over HTTP; 0: as for the outcome
	grpc    int  // the status for a caller over gRPC; 0: as for the outcome
	refused bool // the server or the driver says that the call was not executed
}

// The statuses of HTTP that the table uses. They are not taken from net/http, which
// would come along into every program.
const (
	httpBadRequest            = 400
	httpUnauthorized          = 401
	httpForbidden             = 403
	httpNotFound              = 404
	httpConflict              = 409
	httpPreconditionFailed    = 412
	httpRequestEntityTooLarge = 413
	httpClientClosed          = 499
	httpInternalServerError   = 500
	httpNotImplemented        = 501
	httpServiceUnavailable    = 503
)

// The statuses of gRPC that the table uses, by number.
const (
	grpcCanceled           = 1
	grpcInvalidArgument    = 3
	grpcNotFound           = 5
	grpcAlreadyExists      = 6
	grpcPermissionDenied   = 7
	grpcFailedPrecondition = 9
	grpcAborted            = 10
	grpcUnimplemented      = 12
	grpcUnavailable        = 14
	grpcInternal           = 13
	grpcUnauthenticated    = 16
)

// stopWritesRetry is how often a server reconsiders whether it may write again.
const stopWritesRetry = 10 * time.Second

// classOf returns the class of a result code. A code that isn't known is
// OutcomeUnknown; it keeps its number in the error.
func classOf(code int) codeClass {
	for _, row := range codeTable {
		if slices.Contains(row.codes, code) {
			return row.class
		}
	}
	switch {
	case code >= 50 && code <= 99: // security and its many reasons
		return codeClass{spillway.OutcomePermanent, httpForbidden, grpcPermissionDenied, true}
	}
	return codeClass{outcome: spillway.OutcomeUnknown}
}

// codeTable follows what the server does when it answers a code, and what the
// driver does when it makes one up (below zero).
var codeTable = []struct {
	codes []int
	class codeClass
}{
	{[]int{0}, codeClass{outcome: spillway.OutcomeOK}},

	// The node, or the way to it, is overloaded: the pool has no connection, the
	// driver's breaker is open, the device or a queue can't take more.
	{[]int{-8, -15, 18, 152, 211}, codeClass{outcome: spillway.OutcomeOverload, refused: true}},
	// One key is.
	{[]int{14, 32}, codeClass{outcome: spillway.OutcomeKeyOverload, refused: true}},
	{[]int{83}, codeClass{outcome: spillway.OutcomeQuota, refused: true}},
	// Out of space, or not allowed to write for now.
	{[]int{8, 22}, codeClass{outcome: spillway.OutcomeStopWrites, refused: true}},
	{[]int{9, 212}, codeClass{outcome: spillway.OutcomeTimeout}},

	// The node is gone, going, or not the one any more. It wasn't executed. (-16 alone,
	// out of retries without any cause, is what the driver says of a node that it is just
	// taking out of its cluster.)
	{[]int{-3, -16, -11, -12, 7, 11, 15, 66, 80, 203, 210, 214}, codeClass{outcome: spillway.OutcomeNetwork, refused: true}},
	// The connection failed, or its answer made no sense. It may have been executed.
	{[]int{-2, -18, -19, -20, -21}, codeClass{outcome: spillway.OutcomeNetwork}},

	// Answers that are results.
	{[]int{2, 17, 23, 201, 1301, 1302}, codeClass{spillway.OutcomePermanent, httpNotFound, grpcNotFound, true}},
	{[]int{5, 6, 24, 200, 215}, codeClass{spillway.OutcomePermanent, httpConflict, grpcAlreadyExists, true}},
	{[]int{3, 28}, codeClass{spillway.OutcomePermanent, httpConflict, grpcAborted, true}},
	{[]int{26, 27}, codeClass{spillway.OutcomePermanent, httpPreconditionFailed, grpcFailedPrecondition, true}},

	// Requests that are wrong.
	{[]int{-1, -7, 4, 12, 19, 21, 160, 205}, codeClass{spillway.OutcomePermanent, httpBadRequest, grpcInvalidArgument, true}},
	{[]int{13, 151}, codeClass{spillway.OutcomePermanent, httpRequestEntityTooLarge, grpcInvalidArgument, true}},
	{[]int{10, 82}, codeClass{spillway.OutcomePermanent, httpForbidden, grpcPermissionDenied, true}},
	{[]int{60, 62, 65}, codeClass{spillway.OutcomePermanent, httpUnauthorized, grpcUnauthenticated, true}},
	{[]int{16, 25, 150}, codeClass{spillway.OutcomePermanent, httpNotImplemented, grpcUnimplemented, true}},
	{[]int{-6, -9, -10, -13, -17, 20, 202, 204, 206}, codeClass{spillway.OutcomePermanent, httpInternalServerError, grpcInternal, true}},
	// The server's own failure, and a script's: it may have done a part of it.
	{[]int{1, 213}, codeClass{outcome: spillway.OutcomeUnknown}},
	{[]int{100}, codeClass{spillway.OutcomePermanent, httpInternalServerError, grpcInternal, false}},

	{[]int{-4, -5}, codeClass{spillway.OutcomeLocal, httpClientClosed, grpcCanceled, true}},
	{[]int{50}, codeClass{outcome: spillway.OutcomeOK}},
}
