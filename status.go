package spillway

import (
	"context"
	"errors"
	"math"
	"time"
)

// Status is what a server answers a caller whose call failed.
type Status struct {
	HTTP       int           // the HTTP status code
	GRPC       int           // the gRPC status code, by number
	RetryAfter time.Duration // when the caller may come back, in whole seconds; 0: nothing is said
}

// The HTTP status codes that StatusOf uses. They are not taken from net/http, which
// would come along into every program that imports a primitive.
const (
	httpOK                  = 200
	httpTooManyRequests     = 429
	httpInternalServerError = 500
	httpServiceUnavailable  = 503
	httpGatewayTimeout      = 504
)

// httpClientClosed is what HTTP servers log for a caller that went away.
const httpClientClosed = 499

// The gRPC status codes that StatusOf uses, by number.
const (
	grpcOK                = 0
	grpcCanceled          = 1
	grpcUnknown           = 2
	grpcDeadlineExceeded  = 4
	grpcResourceExhausted = 8
	grpcInternal          = 13
	grpcUnavailable       = 14
)

// StatusOf maps an error to what a server should answer. A refusal is 429 if the
// caller's own lane was full, because he sends too much, and 503 if the whole was;
// both say when to come back, one second at least. A call that was out of time is
// 504, a cancelled one 499. Overload and failure of the backend are 503 and 504, and
// so is what never got there for want of a connection. What carries no class is 500,
// and so is a panic. The error's text should not be shown to the caller.
func StatusOf(err error) Status {
	if err == nil {
		return Status{HTTP: httpOK, GRPC: grpcOK}
	}
	var r *Rejection
	var p *PanicError
	switch {
	case errors.As(err, &p):
		return Status{HTTP: httpInternalServerError, GRPC: grpcUnknown} // whatever was panicked with
	case errors.As(err, &r):
		return statusOfRejection(r)
	case errors.Is(err, context.Canceled):
		return Status{HTTP: httpClientClosed, GRPC: grpcCanceled}
	case errors.Is(err, ErrBackpressure), errors.Is(err, ErrClosed):
		return unavailable(0)
	}
	switch OutcomeOf(err) {
	case OutcomeOK:
		return Status{HTTP: httpOK, GRPC: grpcOK}
	case OutcomeLate, OutcomeTimeout:
		return Status{HTTP: httpGatewayTimeout, GRPC: grpcDeadlineExceeded}
	case OutcomeOverload, OutcomeKeyOverload, OutcomeNetwork, OutcomeStopWrites, OutcomeLocal:
		return unavailable(0)
	case OutcomeQuota:
		return Status{HTTP: httpTooManyRequests, GRPC: grpcResourceExhausted, RetryAfter: time.Second}
	case OutcomePermanent:
		return Status{HTTP: httpInternalServerError, GRPC: grpcInternal}
	default: // OutcomeUnknown
		return Status{HTTP: httpInternalServerError, GRPC: grpcUnknown}
	}
}

func statusOfRejection(r *Rejection) Status {
	switch {
	case r.Reason == ReasonExpired:
		return Status{HTTP: httpGatewayTimeout, GRPC: grpcDeadlineExceeded}
	case r.Component == "lane" && r.Reason != ReasonRefuseAll:
		return Status{HTTP: httpTooManyRequests, GRPC: grpcResourceExhausted, RetryAfter: seconds(r.RetryAfter)}
	}
	return unavailable(r.RetryAfter)
}

func unavailable(after time.Duration) Status {
	return Status{HTTP: httpServiceUnavailable, GRPC: grpcUnavailable, RetryAfter: seconds(after)}
}

// seconds rounds a hint up to whole seconds, the unit of the Retry-After header,
// and at least to one.
func seconds(d time.Duration) time.Duration {
	if d > math.MaxInt64-time.Second {
		return math.MaxInt64 / time.Second * time.Second
	}
	return (max(d, time.Second) + time.Second - 1) / time.Second * time.Second
}
