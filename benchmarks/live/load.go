package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/retry"
)

// spec says what a client process does.
type spec struct {
	Hosts    []string
	Side     string
	Limit    int           // permits, of a counter or per node; 0: the default
	Callers  int           // that call one after the other
	Rate     float64       // calls a second of all callers together, whether or not they get answers; 0: as fast as they can
	Bulk     float64       // likewise, of bulk calls beside critical ones
	Writes   bool          // write, each a record of its own, and read all back afterwards
	Hot      float64       // the share of calls that are for one key
	Deadline time.Duration // of each call, and what is later is no success; 0: none
	Duration time.Duration
}

const (
	namespace, setName = "test", "spillway-live"
	keyCount           = 1000
	bin                = 100 * time.Millisecond
)

// result is what a client process got. Latencies are from the moment at which a call
// should have been sent, so that a caller that is held up hides nothing; what should have
// been sent and wasn't by the end is late.
type result struct {
	Seconds           float64
	OK, Late, Refused int
	Errors            int
	Bulk              int                   // bulk calls that succeeded
	Latencies         spillway.Distribution // of answers, late ones included
	BinOK, BinFailed  []int                 // successes, and all else, in each 100 ms
	Unread            int                   // acknowledged writes that could not be read back
	Goroutines        int                   // in the middle of the load
	HeapMB            float64               // likewise
	Sample            string                // the first error
}

// client is a process that makes load: it gets a spec, connects, says that it is ready,
// waits for a line, and answers with a result.
func client(ctx context.Context, in io.Reader, out io.Writer) error {
	lines, answers := json.NewDecoder(in), json.NewEncoder(out)
	var s spec
	if err := lines.Decode(&s); err != nil {
		return err
	}
	side, err := open(ctx, s)
	if err != nil {
		return err
	}
	keys, err := prepare(ctx, side)
	if err != nil {
		return err
	}
	if err := answers.Encode("ready"); err != nil {
		return err
	}
	var word string
	if err := lines.Decode(&word); err != nil {
		return err
	}
	l := newLoad(s, side, keys)
	l.run(ctx)
	l.result.Unread = l.readBack(ctx)
	return errors.Join(answers.Encode(l.result), side.close(ctx))
}

// prepare writes the records that are read, one after the other.
func prepare(ctx context.Context, s side) ([]*as.Key, error) {
	keys := make([]*as.Key, keyCount)
	for i := range keys {
		key, bad := as.NewKey(namespace, setName, i)
		if bad != nil {
			return nil, bad
		}
		keys[i] = key
	}
	for _, key := range keys {
		if err := s.put(ctx, key); err != nil {
			return nil, fmt.Errorf("writing the records: %w", err)
		}
	}
	return keys, nil
}

// load is a run of a spec.
type load struct {
	spec
	side     side
	keys     []*as.Key
	comeBack retry.Policy
	start    time.Time

	mu      sync.Mutex
	result  result
	written []*as.Key // acknowledged
}

func newLoad(s spec, side side, keys []*as.Key) *load {
	l := &load{spec: s, side: side, keys: keys, comeBack: retry.DefaultPolicy()}
	bins := int(s.Duration/bin) + 1
	l.result.BinOK, l.result.BinFailed = make([]int, bins), make([]int, bins)
	return l
}

// run lets the callers loose until the time is over, and waits for the last of them.
func (l *load) run(ctx context.Context) {
	l.start = time.Now()
	critical := ctx
	if l.Bulk > 0 {
		critical = spillway.WithClass(ctx, spillway.Critical)
	}
	var all sync.WaitGroup
	for i := range l.Callers {
		all.Go(func() { l.caller(critical, i, l.Rate/float64(l.Callers), false) })
		if l.Bulk > 0 {
			all.Go(func() { l.caller(ctx, i, l.Bulk/float64(l.Callers), true) })
		}
	}
	time.Sleep(l.Duration / 2) // at the end callers leave
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	goroutines := runtime.NumGoroutine()
	all.Wait()
	l.result.Goroutines, l.result.HeapMB = goroutines, float64(m.HeapAlloc)/1e6
	l.result.Seconds = l.Duration.Seconds()
}

// caller makes calls at its rate, or one after the other if there is none. One that has
// fallen behind makes them without a pause until it has caught up: what should have been
// sent is sent, and counted from when it should have been.
func (l *load) caller(ctx context.Context, i int, rate float64, bulk bool) {
	interval := time.Duration(0)
	next := l.start
	if rate > 0 {
		interval = time.Duration(float64(time.Second) / rate)
		next = next.Add(time.Duration(rand.Float64() * float64(interval)))
	}
	end := l.start.Add(l.Duration)
	for n := 0; ; n++ {
		now := time.Now()
		if interval == 0 {
			next = now
		}
		if !next.Before(end) || !now.Before(end) {
			l.unsent(next, end, interval, bulk)
			return
		}
		if wait := next.Sub(now); wait > 0 {
			time.Sleep(wait)
		}
		err := l.call(ctx, i, n, next, bulk)
		if interval == 0 && errors.Is(err, spillway.ErrBackpressure) {
			time.Sleep(l.comeBack.DelayAfter(1, err)) // as retry would
		}
		next = next.Add(interval)
	}
}

// unsent counts the calls that should have been sent from then to the end, and weren't.
func (l *load) unsent(next, end time.Time, interval time.Duration, bulk bool) {
	if bulk || interval == 0 || !next.Before(end) {
		return
	}
	n := int((end.Sub(next) + interval - 1) / interval)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.result.Late += n
	l.result.BinFailed[len(l.result.BinFailed)-1] += n
}

func (l *load) call(ctx context.Context, i, n int, intended time.Time, bulk bool) error {
	if l.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, intended.Add(l.Deadline))
		defer cancel()
	}
	var err error
	var key *as.Key
	if l.Writes {
		if key, err = newKey(i, n); err == nil {
			err = l.side.put(ctx, key)
		}
	} else {
		key = l.keys[rand.IntN(len(l.keys))]
		if rand.Float64() < l.Hot {
			key = l.keys[0]
		}
		err = l.side.get(ctx, key)
	}
	l.count(err, key, time.Since(intended), bulk)
	return err
}

func newKey(i, n int) (*as.Key, error) {
	key, bad := as.NewKey(namespace, setName, fmt.Sprintf("%d-%d", i, n))
	if bad != nil {
		return nil, bad
	}
	return key, nil
}

func (l *load) count(err error, key *as.Key, took time.Duration, bulk bool) {
	at := min(int(time.Since(l.start)/bin), len(l.result.BinOK)-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &l.result
	if bulk {
		if err == nil {
			r.Bulk++
		}
		return
	}
	if err == nil && l.Writes {
		l.written = append(l.written, key)
	}
	switch {
	case err == nil && (l.Deadline == 0 || took <= l.Deadline):
		r.OK++
		r.BinOK[at]++
	case err == nil:
		r.Late++
		r.BinFailed[at]++
	case errors.Is(err, spillway.ErrBackpressure):
		r.Refused++
		r.BinFailed[at]++
		return
	default:
		r.Errors++
		r.BinFailed[at]++
		if r.Sample == "" {
			r.Sample = err.Error()
		}
		return
	}
	r.Latencies.Count++
	r.Latencies.Sum += took
	r.Latencies.Buckets[spillway.DistributionBucket(took)]++
}

// readBack reads every write that was acknowledged, and counts those that aren't there.
func (l *load) readBack(ctx context.Context) (unread int) {
	var mu sync.Mutex
	var readers sync.WaitGroup
	for part := range slices.Chunk(l.written, len(l.written)/readBackers+1) {
		readers.Go(func() {
			for _, key := range part {
				if !l.isThere(ctx, key) {
					mu.Lock()
					unread++
					mu.Unlock()
				}
			}
		})
	}
	readers.Wait()
	return unread
}

// How many read back at once, and how often each read is tried: what is looked for is a
// record that is lost, not a call that fails.
const readBackers, readTries = 16, 5

func (l *load) isThere(ctx context.Context, key *as.Key) bool {
	for range readTries {
		if l.side.get(ctx, key) == nil {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}
