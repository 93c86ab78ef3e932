package debugz

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
	"github.com/spillway-go/spillway/observe"
)

const (
	patience     = time.Second // how long a request waits for a look under way
	maxSnapshots = 2000        // how many a look takes
)

// look is what was seen of all components at one moment. It is not changed once it was
// made, but for the bodies.
type look struct {
	at     time.Time
	items  []item
	broken []fault
	cut    bool // whether there was more than maxSnapshots
	report *report
	bodies [forms]struct {
		once sync.Once
		text []byte
		err  error
	}
}

// item is one snapshot, and who holds what of it.
type item struct {
	id       id
	snapshot observe.Snapshot // Holders gives those below, at no cost
	holders  []spillway.Holder
	tracked  bool // whether there is something to hold
}

// id tells a snapshot from the others of a look.
type id struct {
	component, name, lane, node string
	detail                      bool
	nth                         int // 0, unless several have the same name
}

// fault is a component that panicked.
type fault struct {
	component int // which of the page's
	id        id  // what of it; zero if that isn't known
	what      string
}

// snapshots gives what the metrics are made of.
func (l *look) snapshots() []observe.Snapshot {
	all := make([]observe.Snapshot, 0, len(l.items))
	for _, i := range l.items {
		if i.id.nth == 0 { // another of the same name would mix with the first
			all = append(all, i.snapshot)
		}
	}
	return all
}

// current returns a look that is at most Config.Interval old, or, if somebody else's takes
// too long, the last one, which is stale then.
func (p *Page) current(ctx context.Context) (l *look, stale bool, err error) {
	if l := p.fresh(); l != nil {
		return l, false, nil
	}
	select {
	case p.turn <- struct{}{}:
		return p.look(), false, nil
	default:
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case p.turn <- struct{}{}:
		return p.look(), false, nil
	case <-ctx.Done():
		return nil, false, cause.Of(ctx)
	case <-timer.C:
		if l := p.last.Load(); l != nil {
			return l, true, nil
		}
		return nil, false, errBusy
	}
}

func (p *Page) fresh() *look {
	if l := p.last.Load(); l != nil && time.Since(l.at) < p.cfg.Interval {
		return l
	}
	return nil
}

// look looks at every component, unless somebody did a moment ago. Whoever calls it has the
// turn, and gives it back here, also if a component calls runtime.Goexit.
func (p *Page) look() *look {
	defer func() { <-p.turn }()
	if l := p.fresh(); l != nil {
		return l
	}
	defer p.began.Store(0)
	p.began.Store(time.Now().UnixNano())
	l := &look{at: time.Now()}
	seen := map[id]int{}
	for i, c := range p.components {
		p.at.Store(int64(i))
		p.observe(l, seen, i, c)
	}
	l.report = p.history.judge(l, &p.cfg)
	p.last.Store(l)
	return l
}

// observe adds the snapshots of one component. What it yielded before it panicked is kept.
func (p *Page) observe(l *look, seen map[id]int, i int, c observe.Observable) {
	defer func() {
		if v := recover(); v != nil {
			l.broken = append(l.broken, fault{component: i, what: p.panicText(fmt.Sprintf("Observe of component %d (%T)", i+1, c), v)})
		}
	}()
	for s := range c.Observe {
		if len(l.items) >= maxSnapshots {
			l.cut = true
			break
		}
		is := id{component: s.Component, name: s.Name, lane: s.Lane, node: s.Node, detail: s.Detail}
		it := item{id: is, snapshot: s}
		it.id.nth = seen[is]
		seen[is]++
		if s.Holders != nil {
			it.tracked = true
			it.holders = p.holders(l, i, it.id, s.Holders)
			it.snapshot.Holders = func() []spillway.Holder { return it.holders }
		}
		l.items = append(l.items, it)
	}
}

// holders asks who holds what. A panic of that is a fault, and nobody holds anything.
func (p *Page) holders(l *look, i int, of id, list func() []spillway.Holder) (all []spillway.Holder) {
	defer func() {
		if v := recover(); v != nil {
			all = nil
			l.broken = append(l.broken, fault{component: i, id: of, what: p.panicText("Holders", v)})
		}
	}()
	all = list()
	if !slices.IsSortedFunc(all, oldestFirst) {
		all = slices.Clone(all)
		slices.SortStableFunc(all, oldestFirst)
	}
	return all
}

func oldestFirst(a, b spillway.Holder) int { return cmp.Compare(b.Age, a.Age) }

// panicText says what panicked, and with what; the text of a panic may hold anything, so
// only those of the runtime are shown unless more is allowed.
func (p *Page) panicText(what string, v any) string {
	if _, ours := v.(runtime.Error); ours || p.cfg.ErrorTexts {
		return fmt.Sprintf("%s panicked: %s", what, printable(fmt.Sprint(v)))
	}
	return fmt.Sprintf("%s panicked with a %T", what, v)
}
