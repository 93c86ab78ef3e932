package lab

import (
	"math"
	"slices"
	"sync"
	"time"
)

// binWidth is the grain of recovery and pictures.
const binWidth = 100 * time.Millisecond

// ended is an operation that has ended.
type ended struct {
	stream, client int
	meant          time.Duration // when it was to be made
	took           time.Duration // from then to its end
	sends          int           // attempts that reached the backend
	good           bool          // answered in time
}

// bin is what was meant to be made within a tenth of a second.
type bin struct {
	offered, good int
	latencies     []time.Duration // of good ones
	limit         float64
	pending       int
	inside        int // calls in the backend
}

// tally is what became of the calls of a stream in the judged window.
type tally struct {
	offered, good int
	latencies     []time.Duration // of those that were sent
}

// record is what was seen in a run.
type record struct {
	w *Workload

	mu       sync.Mutex
	bins     []bin
	streams  []tally
	clients  []int // good calls by client, in the window, once all have started
	refusals []time.Duration
	once     int // refusals that took no time at all
	sent     int // operations that were sent, in the whole run
	sends    int // attempts that were, in the whole run
	inWindow int // attempts in the window, by the time they were sent
	goodAll  int
}

func newRecord(w *Workload) *record {
	return &record{
		w: w, bins: make([]bin, int(w.Length/binWidth)+1),
		streams: make([]tally, len(w.Streams)), clients: make([]int, w.Clients),
	}
}

func (r *record) judged(at time.Duration) bool { return at >= r.w.From && at < r.w.To }

// send notes an attempt.
func (r *record) send(at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sends++
	if r.judged(at) {
		r.inWindow++
	}
}

// add notes the end of an operation.
func (r *record) add(e ended) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &r.bins[e.meant/binWidth]
	b.offered++
	if e.sends > 0 {
		r.sent++
	}
	if e.good {
		b.good++
		r.goodAll++
		b.latencies = append(b.latencies, e.took)
	}
	if !r.judged(e.meant) {
		return
	}
	t := &r.streams[e.stream]
	t.offered++
	if e.good {
		t.good++
		if e.meant >= r.w.Stagger { // before, not all were there
			r.clients[e.client]++
		}
	}
	switch {
	case e.sends > 0:
		t.latencies = append(t.latencies, e.took)
	case e.took == 0:
		r.once++
	default:
		r.refusals = append(r.refusals, e.took)
	}
}

// recovery is the time from the end of the cause to the first of ten bins in a row with 99 %
// success; infinite if there are none.
func recovery(bins []bin, ends time.Duration) time.Duration {
	const row = 10
	well := 0
	for i := int(ends / binWidth); i < len(bins); i++ {
		if bins[i].offered == 0 || float64(bins[i].good) < .99*float64(bins[i].offered) {
			well = 0
			continue
		}
		if well++; well == row {
			return time.Duration(i-row+1)*binWidth - ends
		}
	}
	return math.MaxInt64
}

// quantile sorts the samples and returns one of them; 0 if there are none.
func quantile(samples []time.Duration, q float64) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	slices.Sort(samples)
	return samples[min(int(q*float64(len(samples))), len(samples)-1)]
}

// refusalQuantile is quantile with those that took no time in front.
func (r *record) refusalQuantile(q float64) time.Duration {
	at := int(q * float64(r.once+len(r.refusals)))
	if at < r.once || len(r.refusals) == 0 {
		return 0
	}
	slices.Sort(r.refusals)
	return r.refusals[min(at-r.once, len(r.refusals)-1)]
}

// jain is Jain's index of fairness: 1 if all have the same, 1/n if one has everything.
func jain(shares []int) float64 {
	sum, squares := 0.0, 0.0
	for _, s := range shares {
		sum += float64(s)
		squares += float64(s) * float64(s)
	}
	if squares == 0 {
		return math.NaN()
	}
	return sum * sum / (float64(len(shares)) * squares)
}
