//go:build go1.25

package permit_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
)

// FuzzCoreModel reads its input as a program of two bytes a step, runs it on a core
// and on the model, and compares the two after each step.
func FuzzCoreModel(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, program []byte) { compareWithModel(t, program) })
}

// A1, A2, A11, A13, B4, B5, B14, B20: all that the rows are about, in any order.
func TestCoreDoesWhatItsModelDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	program := make([]byte, 240)
	for range 150 {
		for i := range program {
			program[i] = byte(r.Uint32())
		}
		compareWithModel(t, program)
	}
}

func compareWithModel(t *testing.T, program []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		limit := 3
		p := &pair{
			t: t, model: newModel(limit), waiting: map[int]*waiter{},
			core: newCore(permit.Options{Limit: limit, MaxWait: modelMaxWait}),
		}
		for i := 0; i+1 < len(program) && i < 1000; i += 2 {
			p.step(program[i], int(program[i+1]))
			// A look at Stats ends ghosts; half of the time the next call has to.
			p.compare(i/2, program[i] < 128)
		}
		p.finish()
	})
}

// pair is a core and its model, and what the calls of both got.
type pair struct {
	t       *testing.T
	core    *permit.Core
	model   *model
	calls   int
	waiting map[int]*waiter // by the number of the call
	held    []hold
	old     []spillway.Permit // released already
	closing *waiter
}

type hold struct {
	permit spillway.Permit
	answer answer
}

func (p *pair) step(op byte, arg int) {
	switch op % 16 {
	case 0, 1, 2:
		got, err := p.core.Admit(p.t.Context(), arg%6)
		want, _ := p.model.call(0, arg%6, 0)
		p.answered(got, err, want)
	case 3, 4, 5, 6:
		p.wait(arg%7 - 1)
	case 7, 8, 9:
		p.release(arg, spillway.OutcomeOK, 0)
	case 10:
		// Ghosts end three milliseconds after a multiple of ten.
		p.release(arg, spillway.OutcomeTimeout, time.Duration(arg%20*10+3)*time.Millisecond)
	case 11:
		if id := arg % (p.calls + 1); p.model.cancel(id) {
			p.waiting[id].cancel(context.Canceled)
		}
	case 12:
		require.NoError(p.t, p.core.SetLimit(1+arg%6))
		p.model.setLimit(1 + arg%6)
	case 13:
		mode := spillway.Mode(max(arg%8-4, 0)) // mostly Enforce
		require.NoError(p.t, p.core.SetMode(mode))
		p.model.setMode(mode)
	case 14:
		d := time.Duration(1+arg%8) * 10 * time.Millisecond
		time.Sleep(d)
		p.model.advance(d)
	case 15:
		p.rare(arg)
	}
}

// rare are steps that would spoil the program if they were frequent, or do nothing.
func (p *pair) rare(arg int) {
	switch {
	case arg >= 250 && p.closing == nil:
		p.close()
		p.model.close()
	case arg >= 200:
		ctx, cancel := context.WithCancel(p.t.Context())
		cancel()
		_, err := p.core.Wait(ctx, 1, modelMaxWaiting)
		require.Equal(p.t, context.Canceled, err)
		p.model.stats.Canceled++
	case len(p.old) > 0:
		p.old[arg%len(p.old)].Release()
		p.old[arg%len(p.old)].ReleaseAfter(time.Hour)
	}
}

func (p *pair) wait(n int) {
	p.calls++
	w := wait(p.core, n, modelMaxWaiting)
	want, waits := p.model.call(p.calls, n, modelMaxWaiting)
	if waits {
		w.requireWaiting(p.t)
		p.waiting[p.calls] = w
		return
	}
	require.True(p.t, w.done(), "still waits; the model says %v", want)
	p.answered(p.core.Own(w.use), w.err, want)
}

// answered compares an answer with the model's and keeps what it holds.
func (p *pair) answered(got spillway.Permit, err error, want answer) {
	p.t.Helper()
	require.Equal(p.t, want.text, textOf(err))
	require.Equal(p.t, want.counted, got != spillway.Permit{})
	if want.counted {
		p.held = append(p.held, hold{got, want})
	}
}

func textOf(err error) string {
	var typed interface{ ErrorType() string }
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &typed):
		return typed.ErrorType()
	case errors.Is(err, context.Canceled):
		return "canceled"
	}
	return err.Error()
}

func (p *pair) release(arg int, o spillway.Outcome, d time.Duration) {
	if len(p.held) == 0 {
		return
	}
	at := arg % len(p.held)
	h := p.held[at]
	p.held = append(p.held[:at], p.held[at+1:]...)
	if d > 0 {
		h.permit.ReleaseAfter(d)
	} else {
		h.permit.ReleaseWith(o)
	}
	p.old = append(p.old, h.permit)
	p.model.end(h.answer, o, d)
}

func (p *pair) close() {
	p.closing = &waiter{core: p.core, answered: make(chan struct{})}
	go func() {
		p.closing.err = p.core.Close(context.Background())
		close(p.closing.answered)
	}()
	synctest.Wait()
}

// compare fails if core and model differ in the answers, or to a closer look.
func (p *pair) compare(step int, closer bool) {
	synctest.Wait()
	for id := range p.calls + 1 {
		w, want := p.waiting[id], p.model.answers[id]
		if w == nil {
			continue
		}
		require.Equal(p.t, want.text != "", w.done(), "step %d: call %d answered; the model says %q", step, id, want.text)
		if w.done() {
			p.answered(p.core.Own(w.use), w.err, want)
			delete(p.waiting, id)
		}
	}
	if closer {
		got := p.core.Stats()
		got.OldestWait, got.Wait = 0, spillway.Distribution{} // the model knows no time
		require.Equal(p.t, p.model.look(), got, "step %d", step)
	}
	if p.closing != nil {
		require.Equal(p.t, p.model.drained(), p.closing.done(), "step %d: Close has returned", step)
	}
}

// finish brings everything to an end and looks whether anything is left.
func (p *pair) finish() {
	for id, w := range p.waiting {
		w.cancel(errGone)
		require.True(p.t, w.done(), "call %d", id)
		p.core.Leave(w.use, spillway.OutcomeOK) // it may have been in front of another
	}
	for _, h := range p.held {
		h.permit.Release()
	}
	time.Sleep(time.Hour)
	if p.closing == nil {
		p.close()
	}
	require.True(p.t, p.closing.done(), "Close has returned")
	require.NoError(p.t, p.closing.err)
	requireWhole(p.t, p.core)
}
