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
	ErrStreamClosed error = &sentinel{"stream is closed", spillway.OutcomeLocal}
	// ErrStreamUsed is the error of a second iteration over a stream.
	ErrStreamUsed error = &sentinel{"stream was iterated over already", spillway.OutcomePermanent}
)

// Stream delivers the records of a scan. It is for one iteration by one goroutine;
// Close and Done may be called from any. It must be drained or closed; if neither
// happens, the end of its time does it. The driver's producers, their connections,
// the permits and the lease are given back when the last producer has ended: at
// once if the stream was drained, else as soon as the producers notice.
type Stream struct {
	call   call
	rs     *as.Recordset
	cursor *cursor
	ctx    context.Context // ends with the caller's, and when the stream's time is over
	cancel context.CancelFunc
	used   atomic.Bool
	rows   atomic.Int64
	once   sync.Once
	err    error         // what ended the stream; set before closed
	cause  error         // why the context ended, if it has by then; set before closed
	closed chan struct{} // closed when nothing more is delivered
	done   chan struct{} // closed when everything was given back
}

// plan says what a stream reads, and how it is started.
type plan struct {
	op             *Operation
	namespace, set string
	filter         *as.PartitionFilter // the driver's cursor; nil if there is none
	node           *as.Node            // nil for all
	wantsObjects   bool
	objects        any   // the channel for them
	fault          error // why it can't be started at all
	start          func(*call, *cursor) (*as.Recordset, as.Error)
	timeout        func(*call) time.Duration // the policy's
}

// openStream starts a stream of records.
func (c *Client) openStream(ctx context.Context, p plan) (*Stream, error) {
	var opened *Stream
	place := &cursor{filter: p.filter, follow: p.op == opScanPartitions || p.op == opQueryPartitions}
	err := c.startStream(ctx, p, place, func(cl *call, rs *as.Recordset) func() {
		s := &Stream{call: *cl, rs: rs, cursor: place, closed: make(chan struct{}), done: make(chan struct{})}
		s.ctx, s.cancel = cl.streamContext(ctx)
		context.AfterFunc(s.ctx, func() { s.end(causeOf(s.ctx)) })
		opened = s
		return func() { s.end(ErrStreamClosed) }
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// startStream admits a stream, starts it at the driver and hands it, with what it
// holds, to own, which returns how to end it. The caller's context stays the stream's
// own. A nil cursor leaves the filter as the driver has it.
func (c *Client) startStream(ctx context.Context, p plan, place *cursor, own func(*call, *as.Recordset) func()) error {
	if c.core == nil {
		return errZero
	}
	if p.fault != nil {
		return p.fault
	}
	cl := &call{client: c.core, trip: trip{op: p.op, choices: &c.choices, ns: p.namespace, set: p.set, attempts: 1, rows: -1, timed: c.cfg.Observer != nil}}
	t := &cl.trip
	c.routed(ctx, t)
	ctx, t.observation = c.begin(ctx, c.callOf(t))
	var abandon func() // nil as long as there is no stream
	err := errCutShort
	defer func() {
		switch {
		case err == nil:
		case abandon != nil: // nobody will know of the stream
			abandon()
		default:
			t.report(t.observation, err)
		}
	}()
	admit := func(ctx context.Context) error {
		if abandon != nil {
			return nil // a middleware repeats what went well: it is there
		}
		rs, err := c.admitStream(ctx, cl, p, place)
		if err == nil {
			abandon = own(cl, rs)
		}
		return err
	}
	if c.around != nil {
		err = c.surround(ctx, c.callOf(t), admit)
	} else {
		err = admit(ctx)
	}
	return err
}

// admitStream takes what a stream needs and starts it. If it fails it holds nothing.
func (c *Client) admitStream(ctx context.Context, cl *call, p plan, place *cursor) (_ *as.Recordset, err error) {
	if err = c.open(ctx, cl); err != nil {
		return nil, err
	}
	started := false
	defer func() {
		if !started {
			cl.recovered(ctx, recover(), &err)
		}
	}()
	if err = cl.allot(ctx, p.timeout(cl), c.cfg.StreamTimeout); err != nil {
		return nil, err
	}
	nodes := cl.session.client.Cluster().GetNodes()
	if p.node != nil {
		nodes = []*as.Node{p.node}
	}
	if err = cl.admitNodes(ctx, nodes); err != nil {
		return nil, err
	}
	cl.start()
	rs, aerr := p.start(cl, place)
	if aerr != nil {
		return nil, cl.wrap(aerr)
	}
	started = true
	return rs, nil
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
		defer s.end(nil)
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
		if s.ctx.Err() != nil { // who is told of it may be long in coming
			s.end(nil)
			return s.whyClosed()
		}
		select {
		case <-s.closed:
			return s.whyClosed()
		case result, more := <-s.rs.Results():
			switch {
			case !more:
				return s.ended(failed)
			case result.Err != nil:
				failed.add(result.Err)
			default:
				s.rows.Add(1)
				s.cursor.pass(result)
				if !f(result.Record) {
					return nil
				}
			}
		}
	}
}

// ended is for a stream with no more results: drained, or cut off, for then somebody else
// has received what was left.
func (s *Stream) ended(failed streamError) error {
	select {
	case <-s.closed:
		return s.whyClosed()
	default:
		return s.drained(failed)
	}
}

// drained ends a stream whose producers are done.
func (s *Stream) drained(failed streamError) error {
	err := s.call.wrap(failed.verdict(s.cursor.through()))
	s.cursor.settle(err == nil)
	s.end(err)
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

// verdict returns the error that the stream ended with; through is the cursor's.
func (e *streamError) verdict(through bool) as.Error {
	if e.fatal == nil && !through {
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
	s.end(nil)
	return nil
}

// Done returns a channel that is closed when the stream's connections, permits and
// lease have been given back.
func (s *Stream) Done() <-chan struct{} { return s.done }

// end stops the delivery, for the reason err, and sees to it that everything is given
// back.
func (s *Stream) end(err error) {
	s.once.Do(func() {
		s.err, s.cause = err, causeOf(s.ctx)
		close(s.closed)
		s.cancel() // which calls this once more, to no effect
		go func() {
			defer close(s.done)
			defer s.finish()
			drain(s.rs, s.rs.Results())
			s.cursor.settle(false) // unless it came to its end
		}()
	})
}

// drain closes a Recordset, and returns when its last producer has closed the channel by
// which it delivers. The driver's Close waits for its producers, and one that has an error
// to report waits for somebody to receive it: so all is received here, to nowhere.
func drain[T any](rs *as.Recordset, delivered <-chan T) {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = rs.Close() // says only whether it was the first
	}()
	for range delivered {
	}
	<-closed
}

// finish gives back what the stream held, and tells the observer.
func (s *Stream) finish() {
	err := s.err
	if err == nil && s.cause != nil && !errors.Is(s.cause, errStopped) {
		err = s.cause
	}
	t := &s.call.trip
	t.rows = int(s.rows.Load())
	s.call.stop()
	s.call.release(spillway.OutcomeOf(err))
	t.report(t.observation, err)
}
