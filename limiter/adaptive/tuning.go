package adaptive

import "time"

// Every constant of the controller, with its reason. They are judged by the workloads in
// this package's tests and by the overload lab. ADR 31 has what was tried beside them.
const (
	// A window has to be long enough for a decision to see its own effect: several
	// latencies. The bounds keep a fast backend from being judged by noise, and a slow
	// one from being left alone.
	windowLatencies = 6
	minWindow       = 20 * time.Millisecond
	maxWindow       = 250 * time.Millisecond
	latencyMemory   = 0.3 // the weight of a window in that latency, when it rises

	// The geometric mean of n exponential latencies is off by 1.28/√n: 18 % with 48.
	// A small limit has few calls under way, and would wait too long for as many. After a
	// fall each paced call is news.
	windowSamples      = 48
	smallWindowSamples = 8
	fallenSamples      = 1
	smallLimit         = 2
	// After so long a window is judged by what it has.
	longWindow      = 500 * time.Millisecond
	longSmallWindow = 300 * time.Millisecond
	// With fewer samples than that, latencies are too high only beyond doubt: if their
	// logarithm is over what is tolerated by sure/√n, three times what chance does to
	// exponential latencies. And fewer errors than sureErrors are none.
	chance     = 1.28
	sure       = 3 * chance
	sureErrors = 3

	// tolerance(L) = toleranceBase + toleranceSmall/√max(L, toleranceFloor): how many
	// times its reference the latency may be. At L = 20 it is 1.7, which keeps some 1.35
	// times the backend's slots busy. Small limits are tolerated more, so that among many
	// clients the large ones give way first.
	toleranceBase  = 1.5
	toleranceSmall = 1.0
	toleranceFloor = 0.25

	// targetOverReference turns an absolute target into a reference: the target is the
	// latency that is held, at a tolerance of 1.75.
	targetOverReference = 1.75

	// The share of overload signals above which the limit falls: over the noise of a
	// healthy backend. If errorFull of the calls time out it falls by errorCut, which is
	// the most. Answers of overload cost errorLeast and what they waste.
	errorNoise = 0.02
	errorFull  = 0.3
	errorCut   = 0.5
	errorLeast = 0.02
	// Timeouts count if latencies are over what is tolerated, too, or if they are so many.
	timeoutSure = 0.5
	// Near the limit at which calls were answered with overload it grows by wallGrowth a
	// window, until it is well past it. Where more of the permits' time than wallWaste was
	// lost there is no wall, but an outage.
	wallNear   = 0.95
	wallGrowth = 1.01
	wallWaste  = 0.5

	// By latency the limit falls by latencyCut of what the latency is too high, at most
	// to latencyKeep of it in one window, and never below floorOverHealthy times what was
	// under way when all was well: the sum of that over all clients is what the backend
	// carried then.
	latencyCut       = 0.5
	latencyKeep      = 0.7
	floorOverHealthy = 1.5

	// All is well without errors, without a limit in use, and in the lower healthyShare of
	// the tolerance. What is under way then is remembered: quickly upwards, slowly down.
	healthyShare = 0.6
	healthyUp    = 2 * time.Second
	healthyDown  = 60 * time.Second

	// The limit grows only if bindingShare of it was in use, or somebody found no room;
	// by how far the latency is below what is tolerated (the ease, 0 to 1).
	bindingShare = 0.9
	startLimit   = 4    // a restarted fleet must not begin with all it may have
	startGrowth  = 1.5  // factor until the first decrease, with an ease over startEase
	startEase    = 0.4  // also what a recovery takes
	freeGrowth   = 0.25 // times the ease, plus 1: the factor with an ease over freeEase
	freeEase     = 0.6
	addBase      = 0.02 // else it grows by ease·min(addMost, addBase + L·addShare)
	addShare     = 0.25
	addMost      = 1.0
	pacedGrowth  = 1.6  // the factor below one permit, with an ease over freeEase
	pacedAdd     = 0.12 // else by that much times the ease: additive, for fairness

	// Without use the limit doesn't stay above headroom times the most that was in use
	// lately, plus one: an idle limit says nothing of what the backend bears.
	headroom     = 2
	headroomKeep = 0.98
	peakMemory   = 10 * time.Second

	// No call has ended for so many latencies, though some are under way: the backend
	// stands still. With exponential latencies a single call takes as long once in 10^9.
	silentLatencies = 20
	minSilence      = 40 * time.Millisecond
	// Beyond maxSilence a fifth of that has to do: several calls are under way as a rule, and
	// for the one that a limit of one has, silence changes nothing.
	maxSilence     = time.Second
	soonLatencies  = 5
	longestSilence = time.Hour
	// Until something has come back nobody knows how long that takes. Most backends answer
	// by then.
	blindSilence = 250 * time.Millisecond
	// A large limit waits longer: it is full, and sends nothing more anyhow, and a stall that
	// is over before anybody gives up harms nobody. Small limits are those of many processes,
	// whose first callers to give up make room for an overload without an end.
	calmLimit   = 4
	calmSilence = 100 * time.Millisecond

	// A call that timed out took longer than it was watched. What took longer than
	// longestCall counts as that: sums of millions of them are numbers still.
	timeoutFactor = 1.5
	longestCall   = time.Hour

	// The gap between two paced calls is at most maxGap, so that a recovery is noticed: it
	// makes ten probes a second. While nothing but errors comes back it doubles: answers
	// that fail fast would make a gap in latencies short.
	maxGap        = 100 * time.Millisecond
	maxGapDoubles = 16

	// A reference is learned from batches of learnSamples, the first of learnFirst. It goes
	// down to a faster batch by learnDown of the difference (the minimum itself would be
	// too low by a fifth with exponential service), and up by learnUp while the limit is
	// used to learnUse and nothing fails.
	learnSamples = 256
	learnFirst   = 48
	learnDown    = 0.3
	learnUp      = 0.02
	learnUse     = 0.5

	// Latency has kept the limit at its floor for remeasureAfter, and twice that after each
	// trial: then the limit goes to remeasureShare of it for so many samples, or as long as
	// that and until it has remeasureFew, if they are wanted; and the references are what was
	// seen, if that is still too much. The geometric mean of 48 exponential latencies is off
	// by a sixth to a fifth; what is tolerated is three times that. With fewer than
	// remeasureFew it says nothing, nor does a trial that can't lower the limit below
	// remeasureLeast of it.
	remeasureAfter   = 2 * time.Second
	remeasureDoubles = 5
	remeasureShare   = 1.0 / 3
	remeasureLeast   = 0.6
	remeasureSamples = windowSamples
	remeasureFew     = 16
	remeasureLongest = 2 * time.Second

	// More samples than manySamples in a window tell nothing more, and cost: then half as
	// many calls are measured, down to one in mostEvery. With fewer than fewSamples twice
	// as many are. It begins at some 20,000 calls a second.
	manySamples = 8 * windowSamples
	fewSamples  = 3 * windowSamples
	mostEvery   = 64

	// Until it is trusted the limit stays within these multiples of the static one.
	untrustedLow  = 0.5
	untrustedHigh = 2
)
