package nethttp

import (
	"context"
	"reflect"

	"github.com/spillway-go/spillway"
)

// Admission gives out permits: a limiter, a lane, a set of lanes, or anything else that
// knows when there is room. Admit returns a permit, or an error and nothing; if it waits
// it must return when ctx is done. It must be safe for concurrent use.
type Admission interface {
	Admit(ctx context.Context) (spillway.Permit, error)
}

// weighted is an admission that gives out several permits in one.
type weighted interface {
	AdmitN(ctx context.Context, n int) (spillway.Permit, error)
}

// router is an admission with named lanes.
type router interface {
	Into(ctx context.Context, lane string) context.Context
}

// missing reports whether v is nil, or an interface around a nil pointer, which would
// be found out only by the first request.
func missing(v any) bool {
	if v == nil {
		return true
	}
	p := reflect.ValueOf(v)
	return p.Kind() == reflect.Pointer && p.IsNil()
}
