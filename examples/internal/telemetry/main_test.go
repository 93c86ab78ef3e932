package telemetry_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"
)

// A goroutine that outlives the tests fails them. The driver's own end some time
// after its Close has returned, and nobody tells when: so this one place looks
// again, for a while.
func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		runtime.GC() // connections that the driver forgot are closed by finalizers
		if time.Now().After(end) {
			fmt.Fprintf(os.Stderr, "FAIL: %d goroutines before the tests, %d after:\n", before, runtime.NumGoroutine())
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			os.Exit(1)
		}
	}
	os.Exit(code)
}
