//go:build go1.25

package deadline_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/deadline"
)

// FuzzExecutorModel reads its input as a program of two bytes a step, runs it on an
// executor and on the model, and compares the two after each step.
func FuzzExecutorModel(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{2, 0, 6, 0, 8, 9, 8, 1, 4, 0, 4, 5, 10, 2, 12, 0, 9, 1})
	f.Fuzz(func(t *testing.T, program []byte) { compareWithModel(t, program) })
}

// Rows 52, 63, 64, E10: G-EXE-1, G-EXE-3, G-EXE-5, G-EXE-7, G-EXE-8, in any order of events.
func TestExecutorDoesWhatItsModelDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	program := make([]byte, 200)
	for range scaled(400) {
		for i := range program {
			program[i] = byte(r.Uint32())
		}
		compareWithModel(t, program)
	}
}

func compareWithModel(t *testing.T, program []byte) {
	t.Helper()
	if len(program) < 2 {
		return
	}
	synctest.Test(t, func(t *testing.T) {
		cfg := deadline.Config{
			Workers: 1 + int(program[0]%3), Queue: int(program[0] / 3 % 4), MaxSubmitters: int(program[0] / 12 % 3),
		}
		if program[0] >= 200 {
			cfg.Queue, cfg.MaxSubmitters, cfg.Overflow = max(cfg.Queue, 1), 0, deadline.DropOldest
		}
		p := &pair{t: t, executor: newExecutor(t, cfg), model: &model{cfg: cfg}, begin: time.Now()}
		for i := 2; i+1 < len(program) && i < 600; i += 2 {
			p.step(program[i], int(program[i+1]))
			p.compare()
		}
		p.finish()
	})
}

// pair is an executor and its model, and what the jobs of both came to.
type pair struct {
	t        *testing.T
	executor *deadline.Executor[int]
	model    *model
	begin    time.Time
	jobs     []*pairJob
}

type pairJob struct {
	*modelJob
	tells  chan func() (int, error) // what the operation shall do
	cancel context.CancelCauseFunc
	got    atomic.Value // how it ended, as a string, once its caller knows
}

func (p *pair) step(op byte, arg int) {
	switch op % 13 {
	case 0, 1, 2, 3, 4, 5:
		p.submit(int(op%13), arg)
	case 6, 7:
		if n := len(p.model.running); n > 0 {
			j := p.jobs[p.model.running[arg%n].number]
			p.model.leave(j.modelJob, "value", "")
			j.tells <- func() (int, error) { return 1, nil }
		}
	case 8:
		if n := len(p.model.running); n > 0 {
			j := p.jobs[p.model.running[arg%n].number]
			p.model.leave(j.modelJob, "panic", "")
			j.tells <- func() (int, error) {
				if arg >= 128 {
					runtime.Goexit()
				}
				panic("no")
			}
		}
	case 9:
		if n := len(p.jobs); n > 0 {
			j := p.jobs[arg%n]
			p.model.leave(j.modelJob, "canceled", "canceled")
			j.cancel(errOp)
		}
	case 10:
		time.Sleep(time.Duration(1+arg%3) * time.Second)
		p.model.advance(time.Since(p.begin))
	case 11:
		n := 1 + arg%4
		p.model.cfg.Workers = n
		p.model.settle()
		require.NoError(p.t, p.executor.SetWorkers(n))
	case 12:
		p.model.shed = arg%2 == 0
		mode := spillway.Enforce
		if p.model.shed {
			p.model.clear(&p.model.parked, "refuse_all")
			mode = spillway.RefuseAll
		}
		require.NoError(p.t, p.executor.SetMode(mode))
	}
	synctest.Wait()
}

// submit hands a job in by one of the four ways. No two deadlines are the same, so
// that it is certain which comes first.
func (p *pair) submit(way, arg int) {
	j := &pairJob{modelJob: &modelJob{number: len(p.jobs)}, tells: make(chan func() (int, error), 1)}
	p.jobs = append(p.jobs, j)
	ctx, cancel := context.WithCancelCause(context.Background())
	j.cancel = cancel
	now := time.Since(p.begin)
	j.deadline = now.Truncate(time.Second) + time.Duration(2+arg%5)*time.Second + time.Duration(len(p.jobs))*time.Microsecond
	if arg%2 == 0 {
		timed, stop := context.WithDeadline(ctx, p.begin.Add(j.deadline))
		p.t.Cleanup(stop)
		ctx = timed
	} else { // only the executor's timer and the operation itself know the time
		ctx = deadlineOnly{ctx, p.begin.Add(j.deadline)}
	}
	op := func(ctx context.Context) (int, error) {
		select {
		case do := <-j.tells:
			return do()
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(j.deadline - time.Since(p.begin)):
			return 0, context.DeadlineExceeded
		}
	}
	p.model.come(j.modelJob, way == 1 || way >= 4)
	switch way {
	case 0:
		if err := p.executor.Go(ctx, op); err != nil {
			j.got.Store(endOf(err))
		}
	case 1:
		go func() { j.got.Store(p.waitFor(p.executor.Submit(ctx, op))) }()
	case 2, 3:
		f, err := p.executor.TrySubmit(ctx, op)
		go func() { j.got.Store(p.waitFor(f, err)) }()
	default:
		go func() { _, err := p.executor.Do(ctx, op); j.got.Store(endOf(err)) }()
	}
}

func (p *pair) waitFor(f *deadline.Future[int], err error) string {
	if err == nil {
		_, err = result(f)
	}
	return endOf(err)
}

// endOf names how a job ended, in the words of the model.
func endOf(err error) string {
	var r *spillway.Rejection
	var panicked *spillway.PanicError
	switch {
	case err == nil:
		return "value"
	case errors.As(err, &r):
		return r.ErrorType()
	case errors.As(err, &panicked):
		return "panic"
	case errors.Is(err, spillway.ErrClosed):
		return "closed"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, errOp), errors.Is(err, context.Canceled):
		return "canceled"
	}
	return err.Error()
}

func (p *pair) compare() {
	p.t.Helper()
	st := p.executor.Stats()
	synctest.Wait()
	require.Equal(p.t, len(p.model.running), st.Busy, "busy")
	require.Equal(p.t, len(p.model.queue), st.Depth, "depth")
	require.Equal(p.t, len(p.model.parked), st.Parked, "parked")
	require.Equal(p.t, st.Submitted, uint64(st.Parked+st.Depth+st.Busy)+st.Outcomes())
	ends := map[string]uint64{}
	for _, j := range p.jobs {
		ends[j.end]++
		if got := j.got.Load(); got != nil {
			require.Equal(p.t, j.end, got, "job %d", j.number)
		}
	}
	require.Equal(p.t, ends["value"], st.Ended.Of(spillway.OutcomeOK))
	require.Equal(p.t, ends["timeout"], st.Ended.Of(spillway.OutcomeTimeout))
	require.Equal(p.t, ends["panic"], st.Aborted)
	require.Equal(p.t, ends["canceled"], st.Canceled+st.Ended.Of(spillway.OutcomeLocal))
	for _, r := range []spillway.Reason{
		spillway.ReasonQueueFull, spillway.ReasonExpired, spillway.ReasonDropped, spillway.ReasonRefuseAll,
	} {
		require.Equal(p.t, ends[r.String()], st.Refused.Of(r), "%v", r)
	}
}

// finish closes the executor, which drains nothing, and looks that everybody was told.
func (p *pair) finish() {
	p.model.clear(&p.model.parked, "closed")
	p.model.clear(&p.model.queue, "closed")
	p.model.clear(&p.model.running, "canceled")
	_ = p.executor.Close(context.Background())
	synctest.Wait()
	for _, j := range p.jobs {
		j.cancel(nil)
	}
	p.compare()
}
