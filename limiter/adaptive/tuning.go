package adaptive

import "time"

// Every constant of the controller, with its reason. They are judged by the workloads
// in this package's tests and by the overload lab; a change here is a change there.
const (
	// A window has to be long enough for a decision to see its own effect: several
	// latencies. The bounds keep a fast backend from being judged by noise, and a slow
	// one from being left alone.
	windowLatencies = 6
	minWindow       = 20 * time.Millisecond
	maxWindow       = 250 * time.Millisecond

	// The geometric mean of n exponential latencies is off by 1.28/√n: 18 % with 48.
	// A small limit has few calls under way, and would wait too long for as many.
	windowSamples      = 48
	smallWindowSamples = 8
	pacedSamples       = 1 // and every call of these is news, after a fall
	smallLimit         = 2
	// With fewer samples latencies are too high only if they are beyond doubt: if their
	// logarithm is over what is tolerated by sure/√n, three times what chance does to
	// exponential latencies. And fewer than sureErrors are no errors.
	sure       = 3 * 1.28
	sureErrors = 3
	// After so long a window is judged by what it has.
	longWindow      = 500 * time.Millisecond
	longSmallWindow = 300 * time.Millisecond

	// tolerance(L) = toleranceBase + toleranceSmall/√max(L, toleranceFloor): how many
	// times its reference the latency may be. At L = 20 it is 1.7, which keeps some 1.35
	// times the backend's slots busy. Small limits are tolerated more, so that among many
	// clients the large ones give way first.
	toleranceBase  = 1.5
	toleranceSmall = 1.0
	toleranceFloor = 0.25

	// targetOverReference turns an absolute target into a reference: the target is the
	// latency that is held, at tolerance 1.75.
	targetOverReference = 1.75

	// The share of overload signals above which the limit falls: over the noise of a
	// healthy backend. With errorFull or more it falls by errorCut.
	errorNoise = 0.02
	errorFull  = 0.3
	errorCut   = 0.5
	errorLeast = 0.02
	// Near the limit at which calls were answered with overload it grows slowly, until
	// it is well past it.
	wallNear   = 0.95
	wallGrowth = 1.01
	wallWaste  = 0.5 // where more of the permits' time is lost it isn't a wall, but an outage
	// Timeouts count as errors if latencies are over what is tolerated, too, or if they
	// are so many.
	timeoutSure = 0.5

	// By latency the limit falls by latencyCut of what the latency is too high, at most
	// to latencyKeep of it in one window, and never below floorOverHealthy times what
	// was under way when all was well: the sum of that over all clients is what the
	// backend carried then.
	latencyCut       = 0.5
	latencyKeep      = 0.7
	floorOverHealthy = 1.5

	// All is well without errors and in the lower healthyShare of the tolerance. What is
	// under way then is remembered: quickly upwards, slowly down.
	healthyShare = 0.6
	healthyUp    = 2 * time.Second
	healthyDown  = 60 * time.Second

	// The limit grows only if bindingShare of it was in use, or somebody found no room.
	bindingShare = 0.9
	// Growth by how far the latency is below what is tolerated (ease, 0 to 1).
	pacedGrowth = 1.6 // below one permit
	pacedAdd    = 0.12
	startGrowth = 1.5  // until the first decrease, with an ease of startEase
	startEase   = 0.4  //
	freeGrowth  = 0.25 // above freeEase: times 1 + freeGrowth·ease
	freeEase    = 0.6  //
	addBase     = 0.02 // else by ease·min(addMost, addBase + L·addShare)
	addShare    = 0.25 //
	addMost     = 1.0  //
	startLimit  = 4    // a restarted fleet must not begin with all it may have

	// Without use the limit doesn't stay above headroom times the most that was in use
	// lately, plus one: an idle limit says nothing of what the backend bears.
	headroom     = 2
	headroomKeep = 0.98
	peakMemory   = 10 * time.Second

	// No call has ended for so many latencies, though some are under way: the backend
	// stands still. With exponential latencies a single call takes as long once in 10^9.
	silentLatencies = 20
	minSilence      = 40 * time.Millisecond
	maxSilence      = time.Second

	// A call that timed out took at least as long as it was watched.
	timeoutFactor = 1.5

	// The gap between two paced calls is at most maxGap, so that a recovery is noticed.
	// While nothing but errors comes back it doubles: answers that fail fast would make
	// a gap in latencies short.
	maxGap        = 100 * time.Millisecond
	maxGapDoubles = 16

	// A reference is learned from batches of learnSamples. It goes down to a faster batch
	// by learnDown of the difference (the minimum itself would be too low by a fifth with
	// exponential service), and up only while the limit is half used and nothing fails.
	learnSamples = 256
	learnFirst   = 48
	learnDown    = 0.3
	learnUp      = 0.02
	learnUse     = 0.5

	// More samples than manySamples in a window tell nothing more, and cost: then half of
	// the calls are measured, down to one in mostEvery. With fewer than fewSamples twice
	// as many are. It takes over 20,000 calls a second to begin with.
	manySamples = 8 * windowSamples
	fewSamples  = 3 * windowSamples
	mostEvery   = 64

	// latencyMemory is the weight of a window in the latency that windows are measured by.
	latencyMemory = 0.3

	// Until it is trusted the limit stays within these multiples of the static one.
	untrustedLow  = 0.5
	untrustedHigh = 2
)
