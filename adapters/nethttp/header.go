package nethttp

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// ClassFromHeader returns a function for [GuardConfig.Class] that takes the class from a
// header, if it is one of known, and says nothing otherwise. The header must be one that
// your own services set and your edge removes: else everybody is critical.
func ClassFromHeader(header string, known ...spillway.Class) func(*http.Request) spillway.Class {
	known = slices.Clone(known) // the caller may go on using his
	return func(r *http.Request) spillway.Class {
		if class := spillway.Class(r.Header.Get(header)); slices.Contains(known, class) {
			return class
		}
		return ""
	}
}

// Paths returns a function for [GuardConfig.Exempt] that exempts the requests whose path
// is exactly one of paths.
func Paths(paths ...string) func(*http.Request) bool {
	paths = slices.Clone(paths)
	return func(r *http.Request) bool { return slices.Contains(paths, r.URL.Path) }
}

// timeoutOf returns how long a request may take: what its header says, but no longer
// than most.
func timeoutOf(r *http.Request, header string, most time.Duration) time.Duration {
	if header == "" {
		return most
	}
	n, err := strconv.ParseInt(strings.TrimSpace(r.Header.Get(header)), 10, 64)
	if err != nil || n <= 0 || n > most.Milliseconds() {
		return most // of numbers that are too big as well
	}
	return time.Duration(n) * time.Millisecond
}
