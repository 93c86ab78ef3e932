package main

import (
	"cmp"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// work does an operation n times, one after the other, on its caller's goroutine. It is
// safe for concurrent use.
type work func(n int)

// side is one of the things that are measured beside each other.
type side struct {
	name string
	work work
	unit int       // operations that are done in one go, as a burst; 0 is 1
	ns   []float64 // nanoseconds an operation, by mode; NaN where it wasn't measured
	// allocs is how many allocations an operation makes, by mode.
	allocs []float64
}

// mode is a way to make load.
type mode struct {
	name       string
	callers    int           // goroutines that do the work; 0: as many as processors
	neighbours bool          // whether each processor has a goroutine besides that never rests
	median     bool          // whether the median of the rounds counts, and not the least
	chunk      time.Duration // how long a side is measured at a stretch
}

// The modes. The least of many short stretches is what a thing costs when nothing else
// disturbs it. Where being disturbed is the point the median counts. The least of parallel
// callers is the stretch in which they met least, the one done before the next was awake; so
// theirs is long beside that. Beside neighbours it is many of the scheduler's slices long.
func serial() mode    { return mode{name: "serial", callers: 1, chunk: time.Millisecond} }
func parallel() mode  { return mode{name: "parallel", median: true, chunk: 10 * time.Millisecond} }
func crowded() mode   { return mode{name: "32 callers", callers: 32, chunk: 10 * time.Millisecond} }
func neighbour() mode { return beside(serial()) }

// beside is m with neighbours that never rest.
func beside(m mode) mode {
	m.name, m.neighbours, m.median, m.chunk = m.name+", busy neighbours", true, true, time.Second
	return m
}

// besideLeast is beside where callers wait for each other. Then the scheduler has two rhythms,
// and how a stretch begins decides which: callers follow upon each other at once, or each
// step waits until a neighbour's slice is over, a thousand times as long, whatever it is that
// they wait for. With many short stretches, of which the least counts, all sides are
// measured in the first.
func besideLeast(m mode) mode {
	m = beside(m)
	m.median, m.chunk = false, 200*time.Millisecond
	return m
}

// goroutines is how many do the work.
func (m mode) goroutines() int { return cmp.Or(m.callers, runtime.GOMAXPROCS(0)) }

// run does the work n times in all, and says how long that took.
func (m mode) run(w work, n int) time.Duration {
	callers := m.goroutines()
	if callers == 1 {
		began := time.Now()
		w(n)
		return time.Since(began)
	}
	each := max(n/callers, 1)
	start := make(chan struct{})
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			<-start
			w(each)
		})
	}
	began := time.Now()
	close(start)
	all.Wait()
	// As if it had been n exactly.
	return time.Duration(float64(time.Since(began)) * float64(n) / float64(each*callers))
}

// size finds how many operations fill a stretch. Of two runs the shorter counts: what held up
// the other would be taken for the work.
func (m mode) size(w work) int {
	n := 1
	for {
		took := min(m.run(w, n), m.run(w, n))
		if took >= m.chunk/4 || n >= 1<<26 {
			return max(1, int(float64(n)*float64(m.chunk)/float64(max(took, 1))))
		}
		n *= 4
	}
}

// measure runs the sides in turn, a short stretch each, so that whatever disturbs the
// machine disturbs all of them. It fills in what a side takes in each mode.
func measure(sides []*side, modes []mode, rounds int) {
	for _, m := range modes {
		for _, s := range sides {
			s.allocs = append(s.allocs, m.countAllocs(s.work))
		}
		measureMode(sides, m, rounds)
	}
}

func measureMode(sides []*side, m mode, rounds int) {
	if m.neighbours {
		rounds = max(rounds/10, 3)
	}
	sizes := make([]int, len(sides))
	if !m.neighbours {
		for i, s := range sides {
			sizes[i] = m.size(s.work)
		}
	}
	samples := make([][]float64, len(sides))
	runtime.GC()
	for round := range rounds {
		for k := range sides {
			i := (k + round) % len(sides) // nobody always comes after the same
			samples[i] = append(samples[i], m.sample(sides[i], sizes[i]))
		}
	}
	for i, s := range sides {
		if m.median {
			s.ns = append(s.ns, median(samples[i]))
		} else {
			s.ns = append(s.ns, least(samples[i]))
		}
	}
}

// sample is what an operation takes, by a stretch of n of them. Beside neighbours, where
// one may take a thousand times as long as the next, the stretch has a time and no number.
func (m mode) sample(s *side, n int) float64 {
	if !m.neighbours {
		return float64(m.run(s.work, n)) / float64(n)
	}
	defer startNeighbours()()
	var done atomic.Int64
	began := time.Now()
	until := began.Add(m.chunk)
	var all sync.WaitGroup
	for range max(m.callers, 1) {
		all.Go(func() { done.Add(int64(doUntil(until, s.work, max(s.unit, 1)))) })
	}
	all.Wait()
	return float64(time.Since(began)) / float64(done.Load())
}

// doUntil does pieces of work until then, longer ones if they are short, so that looking at
// the clock costs nothing. It returns how many operations that were.
func doUntil(then time.Time, w work, piece int) (n int) {
	for {
		began := time.Now()
		w(piece)
		n += piece
		now := time.Now()
		if !now.Before(then) {
			return n
		}
		if now.Sub(began) < 100*time.Microsecond {
			piece *= 2
		}
	}
}

// startNeighbours keeps every processor busy with work that never gives it up by itself,
// until the returned function is called: what is fast on an idle machine may not be beside
// other work.
func startNeighbours() (stop func()) {
	over := make(chan struct{})
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			x := uint64(1)
			for {
				select {
				case <-over:
					runtime.KeepAlive(x)
					return
				default:
				}
				for range 10_000 {
					x ^= x << 13
					x ^= x >> 7
					x ^= x << 17
				}
			}
		})
	}
	return func() {
		close(over)
		all.Wait()
	}
}

// countAllocs is how many allocations an operation makes on average under this load, other
// goroutines' included: who waits may allocate where who doesn't has no need to. Of several
// counts the least is taken: the runtime allocates now and then, too.
func (m mode) countAllocs(w work) float64 {
	n := 1000 * m.goroutines() // so that the goroutines themselves aren't seen
	m.run(w, n)                // what is made once has been made
	fewest := math.Inf(1)
	var before, after runtime.MemStats
	for range 5 {
		runtime.ReadMemStats(&before)
		m.run(w, n)
		runtime.ReadMemStats(&after)
		fewest = min(fewest, float64(after.Mallocs-before.Mallocs)/float64(n))
	}
	return fewest
}
