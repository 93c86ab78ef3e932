package spillway

import "context"

// Class says how much a call matters to its caller. It travels in the context
// across components; each set of lanes maps classes to its own lanes, and an
// unmapped class goes to the default lane. Users may add classes of their own.
type Class string

// The classes everybody knows.
const (
	Critical Class = "critical" // someone waits and the business suffers if it fails
	Normal   Class = "normal"   // the usual
	Bulk     Class = "bulk"     // can wait, be repeated later, or be left out
)

type classKey struct{}

// WithClass returns a context whose calls are of the class c. It allocates; for a
// fixed class make the context once per request.
func WithClass(ctx context.Context, c Class) context.Context {
	return context.WithValue(ctx, classKey{}, c)
}

// ClassFrom returns the class that ctx carries, and whether it carries one.
func ClassFrom(ctx context.Context) (Class, bool) {
	c, ok := ctx.Value(classKey{}).(Class)
	return c, ok
}
