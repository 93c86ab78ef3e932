package permit

// BoundedKey is the key under which a context has a value that ends without showing a
// deadline. It bounds a wait as well as one that shows it, but a prediction must not take
// it for the time by which the call has to be done.
type BoundedKey struct{}
