//go:build go1.25

package lane_test

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/permit/permittest"
	"github.com/spillway-go/spillway/lane"
)

// FuzzSetModel reads its input as the settings of a set and a program of two bytes a
// step, runs it on a set and on models of its lanes, and compares them after each step.
func FuzzSetModel(f *testing.F) {
	f.Add([]byte{})
	for settings := range byte(32) {
		f.Add(permittest.Program(rand.New(rand.NewPCG(2, uint64(settings))), settings))
	}
	f.Fuzz(func(t *testing.T, program []byte) { compareWithModels(t, program) })
}

// A12, B4, B5, B14, B19, B20, W9: lanes do what their models do, one by one and together,
// with lending and without.
func TestSetDoesWhatItsModelsDo(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 27))
	all := map[string]int{}
	for settings := range 64 {
		for what, n := range compareWithModels(t, permittest.Program(r, byte(settings))) {
			all[what] += n
		}
	}
	for _, what := range []string{
		"limit_reached", "paced", "queue_full", "max_wait_exceeded", "deadline_insufficient", "dropped", "refuse_all",
		"limit_reduced", "canceled", "deadline_exceeded", "closed", "invalid_config", "invalid_weight", "borrowed", "hint",
	} {
		require.Positive(t, all[what], "%s in %v", what, all)
	}
}

func compareWithModels(t *testing.T, program []byte) (seen map[string]int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cfg, busy := setOf(program)
		p := newSetPair(t, cfg)
		if busy {
			p.prepare()
		}
		for i := 2; i+1 < len(program) && i < 1000; i += 2 {
			p.step(program[i], int(program[i+1]))
			p.compare(i / 2)
		}
		seen = p.seen
		for _, side := range p.sides {
			seen["borrowed"] += int(side.borrowedTotal)
		}
		p.finish()
	})
	return seen
}

// setOf reads the settings: three lanes, one of which nobody waits in. Steps are taken at
// whole milliseconds; gaps end a tenth after one, ghosts three, waits five, and contexts
// seven and something of their own: so no context ends when anything else does.
func setOf(program []byte) (cfg lane.SetConfig, busy bool) {
	program = append(append([]byte(nil), program...), 0, 0)
	is := func(bit int) bool { return program[0]>>bit&1 != 0 }
	waits := lane.Config{Name: "waits", Limit: 2, MaxWaiting: 3, MaxWait: 45_500 * time.Microsecond, Predict: is(0)}
	if is(1) {
		waits.Order = lane.Newest
	}
	bounded := lane.Config{Name: "bounded", Limit: 1 + int(program[1]%3), MaxWaiting: 4, RetryAfter: 5 * time.Millisecond, Predict: is(2)}
	if is(5) {
		bounded.Order = lane.Newest
	}
	cfg = lane.SetConfig{
		Name: "set", Default: "waits", Lanes: []lane.Config{waits, bounded, {Name: "never", Limit: 2, Track: spillway.TrackSite}},
	}
	if is(3) {
		cfg.Lending = lane.Lending{Brief: 30 * time.Millisecond, Keep: 1, Ceiling: 1 + int(program[1]/3%3)}
		if program[1] >= 128 {
			cfg.Lending.NoLend = []string{"bounded"}
		}
	}
	return cfg, is(4)
}

// prepare has each lane hand its permits on so often that it believes what it has seen.
func (p *setPair) prepare() {
	for i := range p.cfg.Lanes[:2] {
		p.admit(i, p.cfg.Lanes[i].Limit, time.Hour)
		for step := range 55 {
			p.admit(i, p.cfg.Lanes[i].Limit, time.Hour)
			p.advance(3 * time.Millisecond)
			p.end(0, ends, 0)
			p.compare(-step)
		}
		p.end(0, ends, 0)
	}
}

func (p *setPair) step(op byte, arg int) {
	i := arg % 3
	d := time.Duration(arg/3)*time.Millisecond + 700*time.Microsecond + time.Duration(p.calls)*2
	switch op % 22 {
	case 0, 1, 2:
		p.do(i, 0)
	case 3, 4, 5:
		p.do(i, d)
	case 6:
		p.admit(i, arg/3%5, 0)
	case 7, 8:
		p.admit(i, arg/3%4, d)
	case 9, 10, 11:
		p.end(arg, ends, 0)
	case 12:
		p.end(arg, ending(arg%4), 0)
	case 13:
		p.end(arg, fails, time.Duration(arg)*time.Millisecond+300*time.Microsecond)
	case 14:
		p.cancel(arg % (p.calls + 1))
	case 15:
		n := 1 + arg/3%4
		require.NoError(p.t, p.set.Lane(p.cfg.Lanes[i].Name).SetLimit(n))
		p.models[i].SetLimit(n)
	case 16:
		mode := spillway.Mode(max(arg/3%32-28, 0)) // mostly Enforce
		require.NoError(p.t, p.set.Lane(p.cfg.Lanes[i].Name).SetMode(mode))
		p.models[i].SetMode(mode)
	case 17:
		p.advance(time.Duration(1+arg%16) * time.Millisecond)
	case 18:
		p.advance(time.Duration(1+arg%64) * time.Millisecond)
	case 19:
		if arg >= 253 {
			p.shut()
		}
	case 20:
		gap := []time.Duration{0, 0, 0, 2_100, 9_100, 30_100}[arg/3%6] * time.Microsecond // mostly none
		require.NoError(p.t, p.set.Lane(p.cfg.Lanes[i].Name).SetPace(gap))
		p.models[i].SetPace(gap)
	case 21:
		n := []int{0, 3, 6, 30}[arg/3%4]
		require.NoError(p.t, p.set.Lane(p.cfg.Lanes[i].Name).SetMaxWeight(n))
		p.models[i].SetMaxWeight(n)
	}
}

// finish brings everything to an end and looks whether anything is left.
func (p *setPair) finish() {
	for _, c := range p.open {
		c.cancel(errFails)
	}
	for _, c := range p.open {
		synctest.Wait()
		if isClosed(c.inside) && c.how != nil {
			c.how <- ends
		}
		<-c.over
		c.permit.Release()
	}
	time.Sleep(time.Hour)
	p.shut()
	require.NoError(p.t, <-p.closing)
	for _, st := range p.set.Stats() {
		require.Zero(p.t, st.InUse+st.Waiting+st.Borrowed, st.Name)
		require.Equal(p.t, st.Admitted, st.Ended.Total()+st.Aborted, st.Name)
	}
}
