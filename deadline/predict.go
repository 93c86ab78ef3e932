package deadline

import (
	"time"

	"github.com/spillway-go/spillway"
)

// The rules of prediction. Both of the last two are needed: without them an estimate
// that is too high refuses everything, nothing runs any more, and so nothing could
// ever lower it again.
const (
	minReleases = 50                             // jobs that have to end before anything is predicted
	probeAfter  = int64(50 * time.Millisecond)   // with nothing started for so long, somebody is let in to find out
	paceMemory  = 64                             // jobs that the mean run time reaches back
	longRun     = paceMemory / 2                 // samples below the p90 in a row that make it fall faster
	floorStep   = float64(10 * time.Microsecond) // so that a p90 of zero can rise
	timedOut    = 1.5                            // how much longer a job would have run that its deadline ended
)

// pace is how fast work goes: what a prediction is made of. It is guarded by the
// core's lock. Durations are nanoseconds.
type pace struct {
	releases uint64
	mean     float64 // of the run time, over the last jobs
	p90      float64 // of the run time; a frugal quantile: no samples are kept
	streak   int     // samples in a row above the p90, or below it if negative
}

// add takes in the run time of a job.
func (p *pace) add(run float64) {
	p.releases++
	p.mean += (run - p.mean) / float64(min(p.releases, paceMemory))
	if p.releases == 1 {
		p.p90 = run
		return
	}
	// One in ten is above the p90 and moves it up nine times as far as the others
	// move it down. A streak that chance hardly ever makes says that the estimate is
	// far off: then the steps grow.
	step := 0.05
	if p.releases <= minReleases {
		step = 0.25
	}
	if run > p.p90 {
		p.streak = max(p.streak, 0) + 1
		for range min(p.streak-2, 5) {
			step *= 2
		}
		p.p90 = min(run, p.p90+0.9*min(step, 2)*max(p.p90, floorStep))
		return
	}
	p.streak = min(p.streak, 0) - 1
	if over := -p.streak - longRun; over > 0 {
		step *= 1 + float64(over)/4
	}
	p.p90 = max(run, p.p90-0.1*min(step, 2)*p.p90)
}

// tooLate reports whether a job that started now would probably end too late.
func (p *pace) tooLate(now, deadline int64) bool {
	return p.releases >= minReleases && float64(deadline-now) < p.p90
}

// waitBehind predicts how long a job waits with so many before it. Not the releases
// per second are what counts, as they would for permits: while workers idle those
// measure how many jobs come, not how many could be done. A mean run time over the
// number of workers is the same under load and right without. All workers have been
// busy since the last start, so what runs has run for that long at least; that is
// what shows that a backend stalls, of which no job that has ended could tell.
func (p *pace) waitBehind(ahead, workers int, sinceStart int64) float64 {
	return float64(ahead+1) * max(p.mean, float64(sinceStart)) / float64(workers)
}

func (c *core) predictsLocked() bool {
	return c.share > 0 && (c.mode == spillway.Enforce || c.mode == spillway.Shadow)
}

// foreseeLocked says whether a job that comes now has a chance.
func (c *core) foreseeLocked(o *order) verdict {
	if !c.predictsLocked() || c.pace.releases < minReleases {
		return admitted
	}
	ahead := c.queue.n + c.parked.n
	if ahead == 0 && (c.busy == 0 || o.since-c.started >= probeAfter) {
		o.probe = true
		return admitted
	}
	wait := 0.0
	if free := c.freeLocked(); ahead >= free {
		wait = c.pace.waitBehind(ahead-free, c.target, o.since-c.started)
	}
	left := float64(o.deadline - o.since)
	if wait <= c.share*left && wait+c.pace.p90 <= left {
		return admitted
	}
	return predicted
}
