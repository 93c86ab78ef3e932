package jobs

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Kinds of jobs, as info commands name them.
const (
	Basic         = "basic"
	BackgroundOps = "background-ops"
	BackgroundUDF = "background-udf"
	Aggregation   = "aggregation"
)

// A Result is how a job has ended.
type Result string

// Results.
const (
	OK      Result = "ok"
	Aborted Result = "user-aborted"
	Failed  Result = "abandoned-unknown"
	// Unanswered is that of a job whose client has gone.
	Unanswered Result = "abandoned-response-error"
)

// A Job is a scan or a query. Its first fields must not change once it is in a
// table; the rest is safe for concurrent use.
type Job struct {
	ID             uint64 // 0 lets the table choose
	Kind           string
	Namespace, Set string
	Index          string
	From           string // the client's address
	RPS            int    // as asked for; 0 is none
	SocketTimeout  uint32 // milliseconds
	Partitions     int    // to go through
	PIDs, Digests  int    // of those, as the request named them
	Visited        atomic.Int64
	Succeeded      atomic.Int64
	Failures       atomic.Int64
	Filtered       atomic.Int64
	Throttled      atomic.Int64
	NetBytes       atomic.Int64
	started        time.Time
	abort          chan struct{} // closed to end the job
	abortOnce      sync.Once
	mu             sync.Mutex
	finished       time.Time // guarded by mu; zero while the job is active
	result         Result    // guarded by mu
	asked          bool      // guarded by mu; to abort
}

// Aborted returns a channel that is closed when the job is to end.
func (j *Job) Aborted() <-chan struct{} { return j.abort }

// Stopped reports whether the job is to end.
func (j *Job) Stopped() bool {
	select {
	case <-j.abort:
		return true
	default:
		return false
	}
}

func (j *Job) stop() { j.abortOnce.Do(func() { close(j.abort) }) }

// Line is what query-show shows of the job.
func (j *Job) Line() string {
	j.mu.Lock()
	finished, result := j.finished, j.result
	j.mu.Unlock()
	status, run, since, threads := "active(ok)", time.Since(j.started), time.Duration(0), 1
	if !finished.IsZero() {
		status, run, since, threads = "done("+string(result)+")", finished.Sub(j.started), time.Since(finished), 0
	}
	var b strings.Builder
	fmt.Fprintf(&b, "trid=%d:ns=%s", j.ID, j.Namespace)
	if j.Set != "" {
		b.WriteString(":set=" + j.Set)
	}
	if j.Index != "" {
		b.WriteString(":sindex-name=" + j.Index)
	}
	if j.PIDs+j.Digests > 0 {
		fmt.Fprintf(&b, ":n-pids-requested=%d:n-keyds-requested=%d", j.PIDs+j.Digests, j.Digests)
	}
	progress := 100.0
	if finished.IsZero() && j.Partitions > 0 {
		progress = 100 * float64(j.Visited.Load()) / float64(j.Partitions)
	}
	fmt.Fprintf(&b, ":rps=%d:active-threads=%d:status=%s:job-progress=%.2f:run-time=%d:time-since-done=%d",
		j.RPS, threads, status, progress, run.Milliseconds(), since.Milliseconds())
	fmt.Fprintf(&b, ":recs-throttled=%d:recs-filtered-meta=0:recs-filtered-bins=%d:recs-succeeded=%d:recs-failed=%d:from=%s",
		j.Throttled.Load(), j.Filtered.Load(), j.Succeeded.Load(), j.Failures.Load(), strings.ReplaceAll(j.From, ":", "+"))
	fmt.Fprintf(&b, ":job-type=%s:net-io-bytes=%d:socket-timeout=%d", j.Kind, j.NetBytes.Load(), j.SocketTimeout)
	return b.String()
}
