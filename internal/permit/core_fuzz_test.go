//go:build go1.25

package permit_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit"
	"github.com/spillway-go/spillway/internal/permit/permittest"
)

// FuzzCoreModel reads its input as the settings of a core and a program of two bytes a
// step, runs it on a core and on the model, and compares the two after each step.
func FuzzCoreModel(f *testing.F) {
	f.Add([]byte{})
	for settings := range byte(64) {
		f.Add(permittest.Program(rand.New(rand.NewPCG(1, uint64(settings))), settings))
	}
	f.Fuzz(func(t *testing.T, program []byte) { compareWithModel(t, program) })
}

// A1, A2, A11, A13, B4, B5, B14, B19, B20: all that the rows are about, in any order;
// with and without predictions, hints, tracked holders, paces, heavy calls, and the newest
// first.
func TestCoreDoesWhatItsModelDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	var all seen
	for settings := range 128 {
		all.add(compareWithModel(t, permittest.Program(r, byte(settings))))
	}
	for reason, n := range all.stats.Refused {
		if r := spillway.Reason(reason); r != spillway.ReasonExpired { // which is no core's
			require.Positive(t, n, "refused because of %v", r)
		}
	}
	for name, n := range map[string]int{
		"canceled": int(all.stats.Canceled), "after close": int(all.stats.AfterClose), "aborted": int(all.stats.Aborted),
		"over the limit": int(all.stats.WouldRefuse), "ghosts": int(all.stats.GhostsTotal), "lent": all.lent,
		"hints": all.hints, "warned": all.warned, "closed in time": all.drained, "deadlines": all.deadlines,
	} {
		require.Positive(t, n, name)
	}
}

// seen is what came about in a program.
type seen struct {
	stats                                   permit.Stats
	lent, hints, warned, drained, deadlines int
}

func (s *seen) add(o seen) {
	for i, n := range o.stats.Refused {
		s.stats.Refused[i] += n
	}
	s.stats.Canceled += o.stats.Canceled
	s.stats.AfterClose += o.stats.AfterClose
	s.stats.Aborted += o.stats.Aborted
	s.stats.WouldRefuse += o.stats.WouldRefuse
	s.stats.GhostsTotal += o.stats.GhostsTotal
	s.lent += o.lent
	s.hints += o.hints
	s.warned += o.warned
	s.drained += o.drained
	s.deadlines += o.deadlines
}

func compareWithModel(t *testing.T, program []byte) (what seen) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, settingsOf(program))
		defer func() { what = p.seen }()
		if len(program) > 1 && program[0]&16 != 0 {
			p.warm(time.Duration(1+program[1]%8) * time.Millisecond)
		}
		for i := 2; i+1 < len(program) && i < 1000; i += 2 {
			p.step(program[i], int(program[i+1]))
			// A look at Stats ends ghosts; half of the time the next call has to.
			p.compare(i/2, program[i] < 128)
		}
		p.finish()
	})
	return what
}

// settingsOf reads the settings. Steps are taken at whole milliseconds; gaps end a tenth
// after one, ghosts three, waits five, and contexts seven and something of their own: so
// no context ends when anything else does.
func settingsOf(program []byte) permit.Options {
	opts := permit.Options{Limit: 3, MaxWait: 105 * time.Millisecond, Room: 4}
	if len(program) < 2 {
		return opts
	}
	is := func(bit int) bool { return program[0]>>bit&1 != 0 }
	opts.Limit += int(program[1] % 3)
	opts.Newest, opts.Predict = is(0), is(1)
	opts.Estimate = opts.Predict || is(2)
	if is(3) {
		opts.Track, opts.HoldWarn = spillway.TrackSite, 25*time.Millisecond
	}
	opts.MaxWait = []time.Duration{105_500, 45_500, 405_500, 0}[program[1]/3%4] * time.Microsecond
	if is(5) {
		opts.RetryAfter, opts.Room = 20*time.Millisecond, 9
	}
	return opts
}

// warm has all permits handed on, each after d, so often that the core believes what it
// has seen.
func (p *pair) warm(d time.Duration) {
	p.enter(p.opts.Limit, false)
	for i := range 60 {
		p.wait(p.opts.Limit, 0)
		p.advance(d)
		p.release(0, spillway.OutcomeOK, 0)
		p.compare(-i, i%8 == 0)
	}
}

func (p *pair) step(op byte, arg int) {
	switch op % 22 {
	case 0, 1:
		p.enter(arg%6, arg >= 128)
	case 2:
		p.lend(arg%5, 1+arg/5%3)
	case 3, 4, 5:
		p.wait(weightOf(arg), 0)
	case 6, 7, 8:
		p.wait(arg%5, time.Duration(arg/5)*time.Millisecond+700*time.Microsecond+time.Duration(p.calls)*time.Nanosecond*2)
	case 9, 10:
		p.release(arg, spillway.OutcomeOK, 0)
	case 11:
		p.release(arg, spillway.OutcomeTimeout, 0)
	case 12:
		p.release(arg, spillway.OutcomeTimeout, time.Duration(arg)*time.Millisecond+300*time.Microsecond)
	case 13:
		p.abort(arg)
	case 14:
		p.cancel(arg % (p.calls + 1))
	case 15:
		p.setLimit(1 + arg%6)
	case 16:
		p.setMode(spillway.Mode(max(arg%32-28, 0))) // mostly Enforce
	case 17:
		p.advance(time.Duration(1+arg%16) * time.Millisecond)
	case 18:
		p.advance(time.Duration(1+arg%64) * time.Millisecond)
	case 19:
		p.rare(arg)
	case 20:
		p.setPace([]time.Duration{0, 0, 0, 2_100, 9_100, 30_100}[arg%6] * time.Microsecond) // mostly none
	case 21:
		p.setMaxWeight([]int{0, 3, 6, 30}[arg%4])
	}
}

// weightOf is what a call that waits asks for: a few permits, none at all, or one in ten
// times more than there ever are.
func weightOf(arg int) int {
	if arg >= 230 {
		return 24
	}
	return arg%7 - 1
}

// rare are steps that would spoil the program if they were frequent, or do nothing.
func (p *pair) rare(arg int) {
	switch {
	case arg >= 250:
		p.close()
	case arg >= 200:
		ctx, cancel := context.WithCancel(p.t.Context())
		cancel()
		_, err := p.core.Wait(ctx, 1, p.opts.Room)
		require.Equal(p.t, context.Canceled, err)
		p.model.CountCanceled()
	case len(p.old) > 0:
		p.old[arg%len(p.old)].Release()
		p.old[arg%len(p.old)].ReleaseAfter(time.Hour)
	}
}
