package aerospike

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
)

// badArgument is the error of a call that the driver would panic of.
func badArgument(op *Operation, field string, value any, problem string) error {
	e := &spillway.ConfigError{Component: "aerospike." + op.Name}
	e.Add(field, value, problem)
	return e
}

// In a batch, or an aggregation, the driver reads its arguments on goroutines of its own,
// where a panic of a nil among them would end the process.

// checkOps finds a nil operation; where says what the operations belong to.
func checkOps(op *Operation, where string, ops []*as.Operation) error {
	if i := slices.Index(ops, nil); i >= 0 {
		return badArgument(op, fmt.Sprintf("%s[%d]", where, i), nil, "must not be nil")
	}
	return nil
}

// checkArgs is checkOps for the arguments of a function. as.NewValue(nil) is one that can be
// passed.
func checkArgs(op *Operation, where string, args []as.Value) error {
	if i := slices.Index(args, nil); i >= 0 {
		return badArgument(op, fmt.Sprintf("%s[%d]", where, i), nil, "must not be nil: as.NewValue(nil) is a value")
	}
	return nil
}

// checkRecord finds what the driver would panic of in the record i of a batch.
func checkRecord(op *Operation, i int, r as.BatchRecordIfc) error {
	if isNil(r) {
		return badArgument(op, fmt.Sprintf("records[%d]", i), nil, "must not be nil")
	}
	switch r := r.(type) {
	case *as.BatchRead:
		return inRecord(i, checkOps(op, "Ops", r.Ops))
	case *as.BatchWrite:
		return inRecord(i, checkOps(op, "Ops", r.Ops))
	case *as.BatchUDF:
		return inRecord(i, checkArgs(op, "FunctionArgs", r.FunctionArgs))
	}
	return nil
}

// inRecord says in which record of a batch an argument is wrong; a nil error is none.
func inRecord(i int, err error) error {
	var e *spillway.ConfigError
	if errors.As(err, &e) {
		for j := range e.Faults {
			e.Faults[j].Field = fmt.Sprintf("records[%d].%s", i, e.Faults[j].Field)
		}
	}
	return err
}

// isNil reports whether there is no record, be it that a pointer to none is there.
func isNil(r as.BatchRecordIfc) bool {
	v := reflect.ValueOf(r)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
