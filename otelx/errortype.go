package otelx

import (
	"context"
	"errors"

	"github.com/spillway-go/spillway"
)

// failure is what telemetry says of an error. All of it comes from closed sets, or is
// bounded where it is used.
type failure struct {
	kind   string // error.type
	status string // db.response.status_code; empty if the backend answered none
}

// answered is an error of a backend, as an adapter gives it: the status code is empty if
// the backend has answered nothing.
type answered interface {
	error
	ErrorType() string
	StatusCode() string
}

// failureOf classifies an error: by what the backend answered to the last attempt, if it was
// asked, else by what the error says of itself, else as an ended context.
func failureOf(err error) (f failure) {
	// A refusal first, because under overload nearly every error is one.
	if r, ok := err.(*spillway.Rejection); ok && r != nil { //nolint:errorlint // the tree is searched below
		return failure{kind: r.Reason.String()}
	}
	f.kind = other
	defer func() { _ = recover() }() // its methods are somebody else's
	var backend answered
	var typed interface{ ErrorType() string }
	switch {
	case errors.As(err, &backend):
		f.kind, f.status = backend.ErrorType(), backend.StatusCode()
	case errors.As(err, &typed):
		f.kind = typed.ErrorType()
	case errors.Is(err, context.Canceled):
		f.kind = "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		f.kind = "deadline_exceeded"
	}
	if f.kind == "" {
		f.kind = other
	}
	return f
}

// outcomeOf is spillway.OutcomeOf, of an error whose methods may panic.
func outcomeOf(err error) (o spillway.Outcome) {
	o = spillway.OutcomeUnknown
	defer func() { _ = recover() }()
	return spillway.OutcomeOf(err)
}

// isError is the default of WithErrorClassifier.
func isError(call spillway.Call, f failure) bool {
	if call.System != aerospike {
		return true
	}
	switch f.status {
	case "KEY_NOT_FOUND_ERROR":
		switch call.Operation {
		case "Get", "GetHeader", "GetObject", "Exists", "Touch", "Delete":
			return false
		}
	case "FILTERED_OUT", "KEY_EXISTS_ERROR", "GENERATION_ERROR": // which only those get who ask for them
		return false
	}
	return true
}

// textOf returns an error's text; its method is somebody else's.
func textOf(err error) (text string) {
	defer func() { _ = recover() }()
	return err.Error()
}
