package aerospiketest_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestMain fails the run if goroutines of the server are left when all tests
// are over.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leaked(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines left:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines of the server. Close has waited for all
// of them, but one that has said so may still be about to return: so this one
// place looks again, a few times.
func leaked() string {
	left := ""
	for range 100 {
		left = ""
		buf := make([]byte, 1<<20)
		buf = buf[:runtime.Stack(buf, true)]
		for g := range strings.SplitSeq(string(buf), "\n\n") {
			if strings.Contains(g, "aerospiketest.(*") {
				left += g + "\n\n"
			}
		}
		if left == "" {
			return ""
		}
		runtime.GC() // takes a while, and lets others run
	}
	return left
}
