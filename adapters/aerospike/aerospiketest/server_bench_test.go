package aerospiketest_test

import (
	"runtime"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

const callers = 64

// live returns how many bytes the live heap has.
func live() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// The heap of server and driver together shouldn't grow with the number of requests:
// -benchtime 10000000x shows it.
func BenchmarkGetParallel(b *testing.B) {
	_, c := start(b)
	k := key(b, 1)
	put(b, c, k, as.NewBin("a", 1))
	warm(b, c, callers)
	p := readPolicy()
	b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
	b.ReportAllocs()
	before := live()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Get(p, k, "a"); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
	b.ReportMetric((live()-before)/1024, "heap-growth-KiB")
}

func BenchmarkPutParallel(b *testing.B) {
	_, c := start(b)
	warm(b, c, callers)
	p := writePolicy()
	bin := as.NewBin("a", 1)
	k := key(b, 1)
	b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := c.PutBins(p, k, bin); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		s, err := aerospiketest.Start(aerospiketest.Config{Nodes: 3})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
