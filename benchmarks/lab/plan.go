package lab

import (
	"time"

	"github.com/spillway-go/spillway/benchmarks/lab/model"
)

// tail is for how long a workload goes on when the cause of its trouble is gone, where all is to be
// well within a second.
const tail = 2400 * time.Millisecond

// lead is for how long a workload goes well before its trouble begins.
const lead = time.Second

// capacity is what the standard backend serves in a second.
const capacity = 8000

// standard is the backend of all workloads that name no other.
func standard() model.Config {
	return model.Config{Slots: 16, Mean: 2 * time.Millisecond, Net: 200 * time.Microsecond, Kappa: .5}
}

// phase is a stretch of time with one value.
type phase struct {
	lasts time.Duration
	value float64
}

// profile joins phases, each with its value times the unit.
func profile(unit float64, phases ...phase) model.Profile {
	var p model.Profile
	at := time.Duration(0)
	for _, f := range phases {
		p = append(p, model.Step{At: at, Value: f.value * unit})
		at += f.lasts
	}
	return p
}

// steady is a rate that never changes.
func steady(rate float64) model.Profile { return model.Profile{{Value: rate}} }

// dent is 1, but for a stretch with another value.
func dent(from, to time.Duration, value float64) model.Profile {
	return model.Profile{{At: from, Value: value}, {At: to, Value: 1}}
}

// one is a single kind of call.
func one(rate model.Profile, deadline time.Duration) []Stream {
	return []Stream{{Name: "calls", Rate: rate, Deadline: deadline}}
}

// Causes why a static limit misses a target.
const (
	causeStatic   = "a static limit doesn't move: this is what an adaptive one is for"
	causeThrottle = "nothing here stops calling a backend that is down: that takes a client-side throttle or a breaker"
	causeHeavy    = "bulk has a third of 1.5c, half of the slots, and the critical calls need 0.3C on average: 0.8 in all. With one permit more bulk reaches 0.85, and the critical lane loses its 99.9 %"
	causeStall    = "what is under way when the stall begins is lost, and once more what its time-outs let in: a hundredth, give or take"
	causeShare    = "a process has its share of the limit from the start, and can't use what those leave who haven't started yet"
	causeWhole    = "permits are whole, and processes can't lend them: with one each, a process refuses while others idle, and a hundred processes have too many together"

	movesItself  = "a limit that moves takes a step of its own now and then, hot key or not"
	movesBlind   = "without a target each process takes what it finds when it starts for the normal case: those who come late find an overload, and those who came first give way to them"
	movesUp      = "before the overload each process has grown to a few permits, because bursts fill a small limit by chance; it takes a hundred milliseconds to take that back"
	movesPaced   = "a process that goes one call at a time sees eight calls in a third of a second, and decides no faster"
	movesFew     = "a process sees 24 calls a second: too few to learn anything from within two seconds, and one call of each is sixty times what the backend can do at once"
	movesNoise   = "the limit moves by a twentieth all the time, and a line through 90 s of that has a slope of some tenths of a percent a minute by chance"
	movesFirst   = "the one that came first was alone and needed much, and gives way no further than to 1.5 times that, as long as the overload lasts: the price of never starving a backend that has become slower (W2)"
	movesCrowd   = "small limits are tolerated more, so that a hundred of half a permit each keep three calls inside for each slot, and from two on this backend serves slower"
	movesStart   = "what is lost is lost in the first second, while processes still start"
	movesLuck    = "a process with so few calls at a time decides on few of them, and its limit is partly chance; over 18 s instead of 2 or 3 it evens out"
	movesSeconds = "it takes two seconds to doubt what was learned, and until then what a call took before is what it may take"
	movesChance  = "the backend refuses what finds 8 waiting also at 0.7C, now and then: ten tenths of a second in a row without a hundredth of that are luck"
)

// Plan returns the workloads of the lab, in the order of the scoreboard.
func Plan() []Workload {
	var all []Workload
	for _, part := range [][]Workload{
		healthy(), steps(), slowdowns(), stalls(), foreign(), mixes(), bursts(), storms(), fleets(), lanes(), hours(), hotKey(), outages(), whole(), holdOuts(),
	} {
		all = append(all, part...)
	}
	return all
}

// whole is the toolkit from end to end, retries included, and the cascade that it prevents.
func whole() []Workload {
	const end = lead + 1500*time.Millisecond
	var all []Workload
	for _, over := range []struct {
		name    string
		times   float64
		goodput float64
	}{{"1x", 1, .95}, {"2x", 2, .97}, {"5x", 5, .97}, {"10x", 10, .97}} {
		all = append(all, Workload{
			ID: "S", Variant: over.name, About: "load " + over.name + " for 1.5 s, with 3 attempts of 50 ms within 200 ms",
			Nodes: []model.Config{standard()}, Clients: 1, Attempts: 3, Timeout: 50 * time.Millisecond,
			Streams: one(profile(capacity, phase{lead, .7}, phase{end - lead, over.times}, phase{time.Hour, .7}), 200*time.Millisecond),
			Length:  end + tail, From: lead, To: end, Ends: end, Picture: over.times == 2,
			Targets: []Target{
				{Metric: Goodput, Bound: over.goodput},
				{Metric: Amplification, Bound: 1.1},
				{Metric: Waste, Bound: .01},
				{Metric: Recovery, Bound: .5},
			},
		})
	}
	return append(all, Workload{
		ID: "S", Variant: "cascade", About: "0.6C, with 1.3C for 2 s, and 3 attempts of 100 ms within 1 s: a small spike that must not take the backend down for good",
		Nodes: []model.Config{standard()}, Clients: 1, Attempts: 3, Timeout: 100 * time.Millisecond,
		Streams: one(profile(capacity, phase{lead, .6}, phase{2 * time.Second, 1.3}, phase{time.Hour, .6}), time.Second),
		Length:  7 * time.Second, From: lead, To: 6 * time.Second, Ends: lead + 2*time.Second, Picture: true,
		Targets: []Target{
			{Metric: Goodput, Bound: .97},
			{Metric: Recovery, Bound: .5},
			{Metric: Waste, Bound: .01},
			{Metric: PeakPending, Bound: .5, Over: "none"},
		},
	})
}
