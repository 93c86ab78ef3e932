package callsite

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Of returns the first of the frames that is neither the toolkit's nor the runtime's, as
// "function file:line". If there is none, as of go lane.Do(…), it is the toolkit's last: where
// the goroutine came in.
func Of(pcs []uintptr) string {
	top := root()
	var site, entry string
	walk(pcs, func(f runtime.Frame) bool {
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
		case ours(f, top):
			entry = text(f, " ")
		default:
			site = text(f, " ")
		}
		return site == ""
	})
	return cmp.Or(site, entry)
}

// Stack returns all frames, two lines for each.
func Stack(pcs []uintptr) string {
	var b strings.Builder
	walk(pcs, func(f runtime.Frame) bool {
		b.WriteString(text(f, "\n\t") + "\n")
		return true
	})
	return b.String()
}

func walk(pcs []uintptr, visit func(runtime.Frame) bool) {
	frames := runtime.CallersFrames(pcs)
	for more := len(pcs) > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.Function != "" && !visit(f) {
			return
		}
	}
}

func text(f runtime.Frame, gap string) string {
	return fmt.Sprintf("%s%s%s:%d", f.Function, gap, f.File, f.Line)
}

// root returns the directory of the toolkit's root module, with a slash at its end.
func root() string {
	_, here, _, _ := runtime.Caller(0)
	return strings.TrimSuffix(here, "internal/callsite/callsite.go")
}

// ours reports whether a frame is one of the toolkit's own. Its tests are somebody. The file
// says so, because a closure of ours that is inlined bears the name of its caller.
func ours(f runtime.Frame, root string) bool {
	if strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	if strings.HasPrefix(f.Function, "github.com/spillway-go/spillway/adapters/aerospike.") {
		return true // another module, with another place for its files
	}
	rest, ok := strings.CutPrefix(f.File, root)
	dir, _, below := strings.Cut(rest, "/")
	rooms := []string{"internal", "limiter", "lane", "retry", "deadline", "group", "lifecycle", "watch"}
	return ok && (!below || slices.Contains(rooms, dir))
}
