// Package policy has the ways of calling a backend that the lab compares: none at all, what is
// usually done, two libraries of others, and what this module is made of. Each is production code
// behind the same small interface; only the driver is a model, because the real one needs sockets.
//
// To add one, write a function that returns a [Client] for an [Env], and name it in [All].
package policy
