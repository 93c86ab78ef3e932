package aerospike

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"

	"github.com/spillway-go/spillway"
)

// The errors of a stream's use.
var (
	// ErrStreamClosed ends an iteration whose stream was closed meanwhile.
	ErrStreamClosed = errors.New("aerospike: stream is closed")
	// ErrStreamUsed is the error of a second iteration over a stream.
	ErrStreamUsed = errors.New("aerospike: stream was iterated over already")
)

// Stream delivers the records of a scan. It is for one iteration by one goroutine;
// Close and Done may be called from any. It must be drained or closed; if neither
// happens, the end of its time does it. The driver's producers, their connections,
// the permits and the lease are given back when the last producer has ended: at
// once if the stream was drained, else as soon as the producers notice.
type Stream struct {
	call   call
	rs     *as.Recordset
	filter *as.PartitionFilter
	ctx    context.Context // ends with the caller's, and when the stream's time is over
	cancel context.CancelFunc
	used   atomic.Bool
	rows   int   // delivered, by the one goroutine that iterates
	err    error // what the iteration ended with; set before end
	once   sync.Once
	cause  error         // why the context ended, if that ended the stream; set before closed
	closed chan struct{} // closed when nothing more is delivered
	done   chan struct{} // closed when everything was given back
}

// source says what a stream reads.
type source struct {
	op             *Operation
	namespace, set string
	filter         *as.PartitionFilter // the driver's cursor; nil if there is none
	node           *as.Node            // nil for all
	objects        any                 // the channel for objects; nil for records
}

// complete reports whether a stream that nothing ended should have read all
// partitions.
func (s source) complete() bool { return s.filter != nil }

// openStream starts a stream of records.
func (c *Client) openStream(ctx context.Context, src source, start func(*call) (*as.Recordset, as.Error), timeout func(*call) time.Duration) (*Stream, error) {
	var s *Stream
	err := c.startStream(ctx, src, start, timeout, func(cl *call, rs *as.Recordset) {
		s = &Stream{call: *cl, rs: rs, filter: src.filter, closed: make(chan struct{}), done: make(chan struct{})}
		s.ctx, s.cancel = cl.streamContext(ctx)
		context.AfterFunc(s.ctx, func() { s.end(spillway.OutcomeOf(context.Cause(s.ctx))) })
	})
	return s, err
}

// startStream admits a stream, starts it at the driver and hands it, with what it
// holds, to own. The caller's context stays the stream's own.
func (c *Client) startStream(ctx context.Context, src source, start func(*call) (*as.Recordset, as.Error), timeout func(*call) time.Duration, own func(*call, *as.Recordset)) (err error) {
	if c.core == nil {
		return errZero
	}
	t := &trip{op: src.op, choices: &c.choices, ns: src.namespace, set: src.set, attempts: 1, rows: -1, timed: c.cfg.Observer != nil}
	c.routed(ctx, t)
	ctx, t.observation = c.begin(ctx, t.call())
	owned := false
	admit := func(ctx context.Context) (err error) {
		cl := call{client: c.core, trip: t}
		if err = c.open(ctx, &cl); err != nil {
			return err
		}
		defer func() {
			if !owned {
				cl.end(&err)
			}
		}()
		if err = cl.allot(ctx, timeout(&cl), c.cfg.StreamTimeout); err != nil {
			return err
		}
		nodes := cl.session.client.Cluster().GetNodes()
		if src.node != nil {
			nodes = []*as.Node{src.node}
		}
		if err = cl.admitNodes(ctx, nodes); err != nil {
			return err
		}
		cl.start()
		rs, aerr := start(&cl)
		if aerr != nil {
			return cl.wrap(aerr)
		}
		owned = true
		own(&cl, rs)
		return nil
	}
	if c.around != nil {
		err = c.around(ctx, t.call(), admit)
	} else {
		err = admit(ctx)
	}
	if err != nil && !owned {
		t.report(t.observation, err)
	}
	return err
}

// streamContext returns the context of a stream that was admitted.
func (cl *call) streamContext(ctx context.Context) (context.Context, context.CancelFunc) {
	if !cl.client.shapes() {
		return stoppable(context.WithCancelCause(ctx))
	}
	cause := fmt.Errorf("aerospike: %s took longer than %v: %w", cl.trip.op.Name, cl.budget.total, context.DeadlineExceeded)
	timed, stop := context.WithTimeoutCause(ctx, cl.budget.total, cause)
	stopped, cancel := stoppable(context.WithCancelCause(timed))
	return stopped, func() { cancel(); stop() }
}

// stoppable gives a context that was cancelled by its stream a cause of its own.
func stoppable(ctx context.Context, cancel context.CancelCauseFunc) (context.Context, context.CancelFunc) {
	return ctx, func() { cancel(errStopped) }
}

// All returns the records one by one, with a nil error, and at last, if the stream
// didn't come to its end, one error with a nil record: the driver's as an *Error,
// or the context's cause, or ErrStreamClosed. Records that came before an error are
// good. Leaving the loop closes the stream.
func (s *Stream) All() iter.Seq2[*as.Record, error] {
	return func(yield func(*as.Record, error) bool) {
		if s.used.Swap(true) {
			yield(nil, ErrStreamUsed)
			return
		}
		defer s.end(spillway.OutcomeOK)
		err := s.each(func(rec *as.Record) bool { return yield(rec, nil) })
		if err != nil {
			yield(nil, err)
		}
	}
}

// each calls f for every record, until f returns false.
func (s *Stream) each(f func(*as.Record) bool) error {
	var failed streamError
	for {
		select {
		case <-s.closed:
			return s.whyClosed()
		default:
		}
		select {
		case <-s.closed:
			return s.whyClosed()
		case result, more := <-s.rs.Results():
			switch {
			case !more:
				return s.drained(failed)
			case result.Err != nil:
				failed.add(result.Err)
			default:
				s.rows++
				if !f(result.Record) {
					return nil
				}
			}
		}
	}
}

// drained ends a stream whose producers are done.
func (s *Stream) drained(failed streamError) error {
	err := s.call.wrap(failed.verdict(s.filter != nil && s.filter.IsDone()))
	s.err = err
	s.end(spillway.OutcomeOf(err))
	return err
}

// streamError sorts out the errors that the driver delivers with a stream. It
// delivers one twice, and also one that its resuming has made good since. It resumes
// after some errors only; any other ends the stream, although the driver then calls
// all partitions done.
type streamError struct {
	fatal     as.Error // the first that the driver doesn't resume after
	resumable as.Error // the first that it does
}

func (e *streamError) add(err as.Error) {
	switch Classify(err).Code {
	case types.TIMEOUT, types.NETWORK_ERROR, types.SERVER_NOT_AVAILABLE, types.INDEX_NOTFOUND, types.INDEX_NOTREADABLE:
		if e.resumable == nil {
			e.resumable = err
		}
	default:
		if e.fatal == nil {
			e.fatal = err
		}
	}
}

// verdict returns the error that the stream ended with; done says that all
// partitions were read to their end.
func (e *streamError) verdict(done bool) as.Error {
	if e.fatal == nil && !done {
		return e.resumable
	}
	return e.fatal
}

// whyClosed is the error of an iteration that found the stream closed.
func (s *Stream) whyClosed() error {
	if s.cause != nil && !errors.Is(s.cause, errStopped) {
		return s.cause
	}
	return ErrStreamClosed
}

// Close ends the stream. It returns at once, and may be called any number of times;
// Done tells when everything was given back. It never fails.
func (s *Stream) Close() error {
	s.end(spillway.OutcomeOK)
	return nil
}

// Done returns a channel that is closed when the stream's connections, permits and
// lease have been given back.
func (s *Stream) Done() <-chan struct{} { return s.done }

// end stops the delivery and sees to it that everything is given back.
//
// The driver's Close waits for its producers, and one that has an error to report
// waits for somebody to receive it: so the results are received here, to nowhere,
// until the last producer has closed their channel.
func (s *Stream) end(outcome spillway.Outcome) {
	s.once.Do(func() {
		s.cause = context.Cause(s.ctx)
		close(s.closed)
		s.cancel() // which calls this once more, to no effect
		go func() {
			defer close(s.done)
			defer s.finish(outcome)
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				_ = s.rs.Close() // says only whether it was the first
			}()
			for range s.rs.Results() {
			}
			<-closed
		}()
	})
}

// finish gives back what the stream held, and tells the observer.
func (s *Stream) finish(outcome spillway.Outcome) {
	s.call.stop()
	s.call.release(outcome)
	t := s.call.trip
	err := s.err
	if s.cause != nil && !errors.Is(s.cause, errStopped) {
		err = s.cause
	}
	t.report(t.observation, err)
}
