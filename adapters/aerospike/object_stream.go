package aerospike

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
)

// ErrIncomplete ends a stream of objects of which the driver has not read all
// partitions, without saying why.
var ErrIncomplete = errors.New("aerospike: the stream ended before all partitions were read")

// ObjectStream is a scan or query whose records the driver delivers into a channel of
// the caller's. It ends when the driver has closed that channel, with ctx, or by Close.
type ObjectStream struct {
	call   call
	rs     *as.Recordset
	cursor *cursor
	ctx    context.Context // ends with the caller's, and when the stream's time is over
	cancel context.CancelFunc
	once   sync.Once
	broken atomic.Bool   // whether it was ended before it had come to its end
	done   chan struct{} // closed when everything was given back
	err    error         // set before done is closed
}

// openObjects starts a stream of objects.
func (c *Client) openObjects(ctx context.Context, p plan) (*ObjectStream, error) {
	if err := p.checkObjects(); err != nil {
		return nil, err
	}
	var opened *ObjectStream
	place := &cursor{filter: p.filter} // who reads the objects is not to be seen
	err := c.startStream(ctx, p, place, func(cl *call, rs *as.Recordset) func() {
		s := &ObjectStream{call: *cl, rs: rs, cursor: place, done: make(chan struct{})}
		s.ctx, s.cancel = cl.streamContext(ctx)
		context.AfterFunc(s.ctx, s.stop)
		go s.collect()
		opened = s
		return func() { _ = s.Close() } // never fails
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// checkObjects finds what the driver would panic of.
func (p plan) checkObjects() error {
	if v := reflect.ValueOf(p.objects); !v.IsValid() || v.Kind() != reflect.Chan || v.IsNil() ||
		v.Type().Elem().Kind() != reflect.Pointer || v.Type().Elem().Elem().Kind() != reflect.Struct {
		return badArgument(p.op, "objects", p.objects, "must be a chan *T of a struct T")
	}
	return nil
}

// collect reads the driver's errors until the stream has ended, which is when their
// channel is closed, and then gives everything back.
func (s *ObjectStream) collect() {
	var failed streamError
	for err := range s.rs.Errors() {
		failed.add(err)
	}
	s.err = s.verdict(failed)
	s.cursor.settle(s.err == nil)
	seen := s.err
	if errors.Is(seen, ErrStreamClosed) {
		seen = nil // its caller has had enough, which is no failure
	}
	s.call.stop()
	s.call.release(spillway.OutcomeOf(seen))
	s.call.trip.report(s.call.trip.observation, seen)
	s.cancel()
	close(s.done)
}

// verdict is what the stream has ended with. One that has ended by itself did so whatever its
// context and its caller have done since; but of its own time being over the driver tells
// nobody.
func (s *ObjectStream) verdict(failed streamError) error {
	through := s.cursor.through()
	err := s.call.wrap(failed.verdict(through))
	cause := causeOf(s.ctx)
	over := cause != nil && !errors.Is(cause, errStopped)
	switch broken := s.broken.Load(); {
	case broken && over:
		return cause
	case broken:
		return cmp.Or(err, ErrStreamClosed)
	case err != nil || through:
		return err
	case over:
		return cause
	case s.cursor.filter != nil:
		return ErrIncomplete
	}
	return nil
}

// errStopped is the cause of a stream that was closed by its caller.
var errStopped = errors.New("aerospike: closed by its caller")

// stop has the driver end its producers.
func (s *ObjectStream) stop() {
	s.once.Do(func() {
		s.broken.Store(s.rs.IsActive())
		go func() { _ = s.rs.Close() }()
	})
}

// Close ends the stream. It returns at once, and may be called any number of times;
// Done tells when everything was given back. The driver closes the channel of
// objects; objects that are in it may be read or not.
func (s *ObjectStream) Close() error {
	s.cancel()
	s.stop()
	return nil
}

// Done returns a channel that is closed when the stream has ended and its
// connections, permits and lease have been given back.
func (s *ObjectStream) Done() <-chan struct{} { return s.done }

// Err waits until the stream has ended and returns what ended it: nil if it was read
// to its end, the driver's error as an *Error, the context's cause, ErrStreamClosed,
// or ErrIncomplete. Whoever waits must read the objects too, or the stream won't end.
func (s *ObjectStream) Err() error {
	<-s.done
	return s.err
}
