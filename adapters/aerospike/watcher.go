package aerospike

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway"
)

// longestFarewell is how long a Recordset whose time is over stays open at most, so that
// whoever reads it finds the driver's own timeout there, and not just the end.
const longestFarewell = 5 * time.Second

// nearTheEnd is how long before its time is over a Recordset that ends has ended by that.
const nearTheEnd = 5 * time.Millisecond

// longestSettle is how long a new stream waits for what those before it have held, if they
// have ended.
const longestSettle = 100 * time.Millisecond

// watcher holds what a Recordset that was handed out needs, until its last producer has
// ended. Its lease keeps the session open for it.
type watcher struct {
	call    call
	rs      *as.Recordset
	objects bool            // whether it is one of objects
	until   time.Time       // when its time is over; zero if only the driver knows
	ctx     context.Context // ends with that of Compat, and then
	cancel  context.CancelFunc
	over    chan struct{} // closed when everything was given back
}

// watchers are those of a session. The zero value has none.
type watchers struct {
	count atomic.Int64
	mu    sync.Mutex
	open  map[*watcher]struct{}
}

func (ws *watchers) add(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.open == nil {
		ws.open = map[*watcher]struct{}{}
	}
	ws.open[w] = struct{}{}
	ws.count.Add(1)
}

func (ws *watchers) remove(w *watcher) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.open, w)
	ws.count.Add(-1)
}

// settle waits a moment for those whose Recordset has ended, but who haven't given back
// what it held: one stream after the other would be refused for the one before. One that
// was closed, and whose producers go on, isn't waited for any longer.
func (ws *watchers) settle(ctx context.Context) {
	if ws.count.Load() == 0 {
		return
	}
	ws.mu.Lock()
	open := slices.Collect(maps.Keys(ws.open))
	ws.mu.Unlock()
	timer := time.NewTimer(longestSettle)
	defer timer.Stop()
	for _, w := range open {
		if w.rs.IsActive() {
			continue
		}
		select {
		case <-w.over:
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// watch waits until the Recordset has ended, and ends it if its time is over.
func (w *watcher) watch() {
	ended := producersEnd(w.rs)
	select {
	case <-ended:
		w.end(w.verdict())
		return
	case <-w.ctx.Done():
	}
	if w.rs.IsActive() && errors.Is(causeOf(w.ctx), context.DeadlineExceeded) {
		last := time.NewTimer(min(w.call.budget.total, longestFarewell))
		defer last.Stop()
		select {
		case <-ended:
			w.end(w.verdict())
			return
		case <-last.C:
		}
	}
	if w.objects {
		drain(w.rs, w.rs.Errors())
	} else {
		drain(w.rs, w.rs.Results())
	}
	<-ended
	w.end(causeOf(w.ctx))
}

// verdict is what became of a Recordset that has ended by itself, which tells its reader
// alone. One that ends when its time is over has ended by that; and here and there one
// that had just come to its end.
func (w *watcher) verdict() error {
	if w.until.IsZero() || time.Until(w.until) > nearTheEnd {
		return nil
	}
	return context.DeadlineExceeded
}

// end gives back what the Recordset held, and tells the observer.
func (w *watcher) end(err error) {
	defer close(w.over)
	w.cancel()
	w.call.stop()
	w.call.release(spillway.OutcomeOf(err))
	w.call.session.watchers.remove(w) // whom it can't find now, settle needn't wait for
	w.call.trip.report(w.call.trip.observation, err)
}

// producersEnd returns a channel that is closed when the last producer of a Recordset has
// ended. The driver tells that to nobody but who calls Close, and who calls it first: a
// second call returns at once. IsActive is false from the beginning of a Close, while
// producers may be waiting for a server. So they are waited for where Close does it, in a
// field that the driver doesn't export; where that isn't there, IsActive has to do.
func producersEnd(rs *as.Recordset) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if group := waitGroupOf(rs); group != nil {
			group.Wait()
			return
		}
		lookUntilInactive(rs.IsActive)
	}()
	return ended
}

// waitGroupOf returns what a Recordset waits for its producers with; nil if there is no such
// thing.
func waitGroupOf(rs any) *sync.WaitGroup {
	field := reflect.ValueOf(rs).Elem().FieldByName("wgGoroutines")
	if !field.IsValid() || field.Type() != reflect.TypeFor[sync.WaitGroup]() {
		return nil
	}
	return (*sync.WaitGroup)(field.Addr().UnsafePointer())
}

// The pauses between two looks at a Recordset.
const (
	shortestLook = 5 * time.Millisecond
	longestLook  = 50 * time.Millisecond
)

// lookUntilInactive returns when a Recordset says that it isn't active any more.
func lookUntilInactive(active func() bool) {
	pause := shortestLook
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for active() {
		<-timer.C
		pause = min(2*pause, longestLook)
		timer.Reset(pause)
	}
}
