package aerospike

import (
	"context"
	"errors"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lifecycle"
)

// errGeneration is the error of a call on a Compat whose connection was closed.
var errGeneration error = &spillway.ClosedError{Component: "aerospike.Compat", Name: "its connection"}

// compatError is an error of ours in the shape of the driver's. The interface of the
// driver's errors has methods that nobody outside can write; embedding gives them.
type compatError struct {
	*as.AerospikeError
	cause error
}

// Error implements error.
func (e *compatError) Error() string { return "spillway: " + e.cause.Error() }

// Unwrap returns our error.
func (e *compatError) Unwrap() error { return e.cause }

// As gives errors.As the driver's part.
func (e *compatError) As(target any) bool {
	p, ok := target.(**as.AerospikeError)
	if ok {
		*p = e.AerospikeError
	}
	return ok
}

// Outcome returns the class of the cause.
func (e *compatError) Outcome() spillway.Outcome { return spillway.OutcomeOf(e.cause) }

// fail returns an error as the driver's interface wants it; nil for none.
func (c *compat) fail(err error) as.Error {
	if err == nil {
		return nil
	}
	var ours *Error
	if errors.As(err, &ours) {
		if driver, ok := ours.cause.(as.Error); ok { //nolint:errorlint // the driver's own, as it was
			return driver
		}
	}
	var p *spillway.PanicError
	if errors.As(err, &p) && p.Value != nil {
		panic(p.Value)
	}
	if errors.Is(err, spillway.ErrBackpressure) {
		c.slowDown()
	}
	return &compatError{AerospikeError: &as.AerospikeError{ResultCode: compatCode(err)}, cause: err}
}

// failWrite is fail for what changes something: a call that was left goes on, and what it was
// to do may still be done. Any other error of ours is of a call that wasn't sent; of what was,
// the driver knows.
func (c *compat) failWrite(err error) as.Error {
	failed := c.fail(err)
	var left *DetachedError
	if e, ok := failed.(*compatError); ok && errors.As(err, &left) {
		e.InDoubt = true
	}
	return failed
}

// compatCode is the code of an error that isn't the driver's: see Compat.
func compatCode(err error) types.ResultCode {
	var argument *spillway.ConfigError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return types.TIMEOUT
	case errors.Is(err, spillway.ErrBackpressure):
		return types.DEVICE_OVERLOAD
	case errors.Is(err, spillway.ErrClosed), errors.Is(err, lifecycle.ErrNotConnected):
		return types.SERVER_NOT_AVAILABLE
	case errors.As(err, &argument):
		return types.PARAMETER_ERROR
	}
	return types.COMMON_ERROR
}

// slowDown lets a refusal take its least time.
func (c *compat) slowDown() {
	if c.delay <= 0 {
		return
	}
	timer := time.NewTimer(c.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
}
