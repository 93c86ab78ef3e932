package spillway

import (
	"context"
	"time"
)

// Observer is told of every call of a client that it is given to. Its methods are
// called on the caller's goroutine and path: they must be quick, must not block
// and must be safe for concurrent use. A panic in them is swallowed by the client,
// so that watching can't harm what is watched.
type Observer interface {
	// Begin is told of a call before anything is decided about it. The context it
	// returns is the one the call goes on with; it must descend from ctx. A nil
	// Observation means that the end of this call is of no interest.
	Begin(ctx context.Context, call Call) (context.Context, Observation)
}

// AttemptObserver is an Observer that is told of each attempt of a call, too, by clients that
// repeat calls. It is asked for as an Observer is, and found to be one.
type AttemptObserver interface {
	Observer
	// BeginAttempt is told of an attempt before anything is decided about it; number counts
	// from 1. ctx descends from what Begin returned, and the context that BeginAttempt
	// returns, which must descend from ctx, is the attempt's. A nil Observation means that
	// its end is of no interest. Of the result, Attempts is 1, or 0 if the backend wasn't
	// asked, Waited and Backend are this attempt's, Rows and Failed the call's.
	BeginAttempt(ctx context.Context, call Call, number int) (context.Context, Observation)
}

// Observation is told how a call ended: exactly once, also if it was refused, and
// for a stream when the stream has ended.
type Observation interface {
	End(result CallResult)
}

// CallResult says how a call ended.
type CallResult struct {
	Err      error         // what the caller sees; nil on success
	Outcome  Outcome       // its class
	Node     string        // the backend node that was asked last; empty if none was
	Peer     string        // that node's host or address; empty if it isn't known
	PeerPort int           // and its port
	Attempts int           // how many times the backend was asked; 0 if it was refused
	Waited   time.Duration // time spent waiting for permits, over all attempts; 0 if nobody may wait
	Backend  time.Duration // time spent in the backend calls alone, without waits
	Rows     int           // items returned; -1 if it doesn't apply
	Failed   int           // items of a batch that failed each by itself, whether or not the call did
}
