package adaptive

import "context"

type classKey struct{}

// WithClass returns a context whose calls are of the class with that name, to every
// controller that has such a class; to others they are unmarked. It allocates: for a
// fixed class make the context once per request.
func WithClass(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, classKey{}, name)
}

// classOf returns the name of the class that ctx carries; empty if none.
func classOf(ctx context.Context) string {
	name, _ := ctx.Value(classKey{}).(string)
	return name
}
