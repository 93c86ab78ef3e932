package main

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// process looks at this process while something runs.
type process struct {
	over       chan struct{}
	all        sync.WaitGroup
	before     float64 // MB that were in use at the beginning
	goroutines int
	memory     float64 // MB
}

// lookEvery is how often. It must not cost what it measures: a look takes microseconds.
const lookEvery = 5 * time.Millisecond

func watchProcess() *process {
	runtime.GC()
	p := &process{over: make(chan struct{})}
	p.before = inUse()
	p.all.Go(func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			p.goroutines, p.memory = max(p.goroutines, runtime.NumGoroutine()), max(p.memory, inUse())
			select {
			case <-p.over:
				return
			case <-ticker.C:
			}
		}
	})
	return p
}

// end returns the most goroutines there were, and by how much the memory grew.
func (p *process) end() (goroutines int, memory float64) {
	close(p.over)
	p.all.Wait()
	return p.goroutines, max(p.memory-p.before, 0)
}

// inUse is the memory of live and not yet collected objects and of stacks, in MB.
func inUse() float64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return float64(samples[0].Value.Uint64()+samples[1].Value.Uint64()) / (1 << 20)
}
