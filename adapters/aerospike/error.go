package aerospike

import (
	"context"
	"errors"
	"fmt"
	"strings"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway"
)

// Error is an error of the driver, with what it means. It unwraps to the driver's
// own, so errors.Is(err, as.ErrKeyNotFound) and errors.As to *as.AerospikeError
// work as they do without us. Its text is short, however long the driver's is.
type Error struct {
	Op        string           // the method, as in "Get"
	Namespace string           // where it went
	Set       string           // the set
	Node      string           // the node's name; empty if none was chosen
	Code      types.ResultCode // the code of the cause: see Classify
	InDoubt   bool             // whether what it was to change may be changed all the same
	outcome   spillway.Outcome
	executed  bool // whether the attempt may have been executed
	cause     error
	dialled   *dialled // of Connect; else nil
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("aerospike: " + e.Op)
	if e.Namespace != "" {
		b.WriteString(" " + e.Namespace + "." + e.Set)
	}
	if e.Node != "" {
		fmt.Fprintf(&b, " on %s", e.Node)
	}
	if e.dialled != nil {
		b.WriteString(" to " + e.dialled.hosts)
	}
	text, wraps := strings.CutSuffix(types.ResultCodeToString(e.Code), ". Checked the wrapped error for detail")
	fmt.Fprintf(&b, ": %s (%d)", text, int(e.Code))
	if e.InDoubt {
		b.WriteString(", in doubt")
	}
	why := ""
	if e.dialled != nil {
		why = e.dialled.why
	} else if wraps { // so here it is
		why = rootText(e.Unwrap())
	}
	if why != "" {
		b.WriteString(": " + why)
	}
	return b.String()
}

// Unwrap returns the driver's error; of an Error that a fake has made, one with its Code.
func (e *Error) Unwrap() error {
	if e.cause != nil {
		return e.cause
	}
	return &as.AerospikeError{ResultCode: e.Code, InDoubt: e.InDoubt}
}

// Is reports whether target is context.DeadlineExceeded, for a call that wasn't
// answered in time: the driver's timeout is the context's deadline.
func (e *Error) Is(target error) bool {
	return target == context.DeadlineExceeded && e.Outcome() == spillway.OutcomeTimeout
}

// Outcome returns the class of the cause.
func (e *Error) Outcome() spillway.Outcome {
	switch {
	case e.cause != nil:
		return e.outcome
	case e.Code == types.OK: // which no error is
		return spillway.OutcomeUnknown
	}
	return classOf(int(e.Code)).outcome
}

// ErrorType returns the cause's result code by name, the value of the error.type
// attribute.
func (e *Error) ErrorType() string { return codeName(e.Code) }

// Verdict is what Classify finds.
type Verdict struct {
	Code    types.ResultCode // the code of the cause
	Outcome spillway.Outcome // its class
	Sent    bool             // whether the request reached a connection
	Refused bool             // whether it is certain that it was not executed
}

// Classify finds the cause in an error of the driver. The driver chains one error
// for each turn it took, newest first, and puts one more on top when it gives up:
// out of retries, or out of time. So the outermost link may say only that it gave up,
// and matching down the chain finds noise of older turns, such as a pool that was
// empty for a moment. Classify takes that top off; the link below is the cause. (Only
// the top: a timeout further down is the timeout of an attempt, although the driver
// has dropped the network error that it came from.) A nil error is OutcomeOK; an
// error that isn't the driver's is classified by spillway.OutcomeOf.
func Classify(err error) Verdict {
	if err == nil {
		return Verdict{Code: types.OK, Outcome: spillway.OutcomeOK}
	}
	var ours *Error
	if errors.As(err, &ours) {
		err = ours.Unwrap()
	}
	link, ok := driverLink(err)
	if !ok {
		return Verdict{Code: types.COMMON_ERROR, Outcome: spillway.OutcomeOf(err)}
	}
	link = uncover(link)
	class := classOf(int(link.ResultCode))
	v := Verdict{Code: link.ResultCode, Outcome: class.outcome, Refused: class.refused}
	for ok {
		// What was sent once may have been executed, also if the newest attempt
		// never got that far.
		v.Sent = v.Sent || sentBy(link)
		link, ok = driverLink(link.Unwrap())
	}
	return v
}

// uncover takes off what the driver put on top when it gave up. A batch that was
// split for a retry has such a top for each part, one below the other.
func uncover(link *as.AerospikeError) *as.AerospikeError {
	for {
		next, more := driverLink(link.Unwrap())
		switch {
		case more && link.ResultCode == types.MAX_RETRIES_EXCEEDED:
			if link = next; link.ResultCode == types.TIMEOUT {
				return link // an attempt's
			}
		case more && link.ResultCode == types.TIMEOUT:
			return next
		default:
			return link
		}
	}
}

// driverLink returns err as a link of the driver's chain.
func driverLink(err error) (*as.AerospikeError, bool) {
	if err == nil {
		return nil, false
	}
	link, ok := err.(*as.AerospikeError) //nolint:errorlint // the chain is walked link by link
	if ok {
		return link, link != nil
	}
	// One of the driver's constants, or wrapped by somebody else.
	link = new(as.AerospikeError)
	if errors.As(err, &link) {
		return link, true
	}
	return nil, false
}

// sentBy reports whether an attempt's link proves that the request went out: the
// server answered it, the connection failed under it, or no answer came.
func sentBy(link *as.AerospikeError) bool {
	return link.ResultCode == types.NETWORK_ERROR || link.ResultCode > 0
}

// IsOverload reports whether an error says that something is overloaded: the call
// was refused here, or by the driver for want of a connection, or by the server;
// or it wasn't answered in time, or its partition has no node to serve it. Whoever
// gets one should send less.
func IsOverload(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, spillway.ErrBackpressure) {
		return true
	}
	v := Classify(err)
	switch v.Outcome {
	case spillway.OutcomeOverload, spillway.OutcomeKeyOverload, spillway.OutcomeQuota,
		spillway.OutcomeStopWrites, spillway.OutcomeTimeout:
		return true
	default:
		return v.Code == types.PARTITION_UNAVAILABLE || v.Code == types.SERVER_NOT_AVAILABLE
	}
}

// sentinel is an error that has a class, so that nobody repeats what it is about.
type sentinel struct {
	text    string
	outcome spillway.Outcome
}

func (e *sentinel) Error() string { return "aerospike: " + e.text }

// Outcome returns the class.
func (e *sentinel) Outcome() spillway.Outcome { return e.outcome }
