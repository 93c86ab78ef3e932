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
	started    int     // goroutines that were there at the beginning, and the one that looks
	before     float64 // MB that were in use at the beginning
	goroutines int
	memory     float64 // MB
}

const (
	// lookEvery is how often. It must not cost what it measures: a look takes microseconds.
	lookEvery = 5 * time.Millisecond
	// What ends has ended if there were no fewer goroutines for quietFor. That is waited
	// for no longer than settleIn.
	quietFor = 20 * lookEvery
	settleIn = 5 * time.Second
)

func watchProcess() *process {
	p := &process{over: make(chan struct{}), started: settled() + 1}
	runtime.GC()
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

// settled waits for what was closed before, whose goroutines would be taken for some that
// stay, and returns how many goroutines there are.
func settled() int {
	runtime.GC() // finalizers close things, too
	began, n := time.Now(), runtime.NumGoroutine()
	for fell := began; time.Since(fell) < quietFor && time.Since(began) < settleIn; {
		time.Sleep(lookEvery)
		now := runtime.NumGoroutine()
		if now < n {
			fell = time.Now()
		}
		n = now
	}
	return n
}

// end returns how many goroutines there were at most, and by how much the memory grew,
// beyond what was there at the beginning.
func (p *process) end() (goroutines int, memory float64) {
	close(p.over)
	p.all.Wait()
	return max(p.goroutines-p.started, 0), max(p.memory-p.before, 0)
}

// inUse is the memory of live and not yet collected objects and of stacks, in MB.
func inUse() float64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return float64(samples[0].Value.Uint64()+samples[1].Value.Uint64()) / (1 << 20)
}
