package debugz

import (
	"cmp"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spillway-go/spillway/observe"
	"github.com/spillway-go/spillway/watch"
)

const (
	// apart is the least time between two looks that are remembered: a little less than the
	// second in which a page asks, so that each of its looks is.
	apart = 900 * time.Millisecond
	// steady is the least time that verdicts are over, so that they don't flicker.
	steady = 3 * time.Second
	// sparse is the most that verdicts are over, where calls are few.
	sparse = 15 * time.Second
	// dense is how long each look is remembered; of the older ones only some are.
	dense = 5 * time.Second
	// oldest is how long anything is compared with: an hour ago says nothing about now.
	oldest = time.Minute
	// forget is after how long without a sign of it a component is forgotten; if too many come
	// and go, it is at once.
	forget = 10 * time.Minute
)

// history is what is remembered from look to look. It is bounded: a dozen looks, and a
// subject for each component that was there in the last minutes.
type history struct {
	past     []past // the oldest first
	subjects map[id]*subject
}

// past is a look of before, without what it showed.
type past struct {
	at  time.Time
	all map[id]observe.Snapshot
}

func (p past) of(i id) (observe.Snapshot, bool) {
	s, ok := p.all[i]
	return s, ok
}

// windows are the looks to compare one component with.
type windows struct {
	rate   past          // for rates: the last one
	judge  past          // for the verdict, and how long things took
	length time.Duration // how long ago that of the rates is; 0: there is none
}

// subject is what is remembered of one component.
type subject struct {
	sample  watch.Sample  // the newest
	watched watch.History // of a guard
	full    time.Time     // since when a guard has been full, as far as is known; zero: it isn't
	refusal time.Time     // when a refusal was seen last
	word    string        // the verdict
	since   time.Time     // when it became that
	seen    time.Time     // when the component was there last
}

// judge makes the report of a look, and remembers the look.
func (h *history) judge(l *look, cfg *Config) *report {
	r := &report{
		Title: printable(cfg.Title), PID: os.Getpid(), Goroutines: runtime.NumGoroutine(), At: l.at,
		Refresh: secondsOf(cfg.Refresh), Window: unknown(),
	}
	if host, err := os.Hostname(); err == nil {
		r.Host = host
	}
	if h.subjects == nil {
		h.subjects = map[id]*subject{}
	}
	rate, recent := h.before(l.at)
	if recent {
		r.Window = secondsOf(l.at.Sub(rate.at))
	}
	var all []*entry
	for i := range l.items {
		all = append(all, h.entry(l, &l.items[i], rate, cfg))
	}
	for _, f := range l.broken {
		all = broken(all, f)
	}
	r.Entries = arrange(all)
	r.Faults = faults(l)
	for _, e := range r.Entries {
		if worst := e.Worst(); worst.Level >= warn {
			r.Need++
			r.Worst = max(r.Worst, worst.Level)
		} else {
			r.Worst = max(r.Worst, e.Level)
		}
	}
	if cfg.Log != nil {
		r.Logged = true
		r.Counted, r.Events = cfg.Log.read(l.at, cfg.ErrorTexts)
	}
	h.remember(l)
	return r
}

// entry says how one component is.
func (h *history) entry(l *look, it *item, rate past, cfg *Config) *entry {
	s := h.subjects[it.id]
	if s == nil {
		s = &subject{}
		h.subjects[it.id] = s
	}
	s.seen = l.at
	e := &entry{
		Kind: printable(it.snapshot.Component), Name: printable(it.snapshot.Name), Lane: printable(it.snapshot.Lane),
		Node: printable(it.snapshot.Node), id: it.id,
	}
	w := windows{rate: rate, judge: rate}
	if !rate.at.IsZero() {
		w.length = l.at.Sub(rate.at)
	}
	var f finding
	if _, ok := countsOf(it.snapshot); ok {
		w.judge = h.judging(l, it, cfg.Thresholds)
		f = s.judge(it, w, cfg)
		s.guard(e, it, w, cfg)
		f = e.Guard.shedding(f)
	} else {
		f = describe(e, it, w, cfg)
	}
	e.Facts = append(e.Facts, ownPoints(it.snapshot.Own)...)
	e.Level, e.Verdict, e.Reason, e.urgent = f.level, f.word, f.reason, f.urgent
	if s.word != f.word {
		s.word, s.since = f.word, l.at
	}
	e.Since = secondsOf(l.at.Sub(s.since))
	return e
}

// judge says what is the matter with a guard, and since when it is full.
func (s *subject) judge(it *item, w windows, cfg *Config) finding {
	now := watch.SampleOf(it.snapshot).WithHolders(it.holders, cfg.Holders)
	now.Holders = brief(now.Holders, cfg.Holders)
	var before watch.Sample
	if snapshot, ok := w.judge.of(it.id); ok {
		before = watch.SampleOf(snapshot)
		before.At = w.judge.at
	}
	turned := now.Refused.Total() > s.sample.Refused.Total() && !s.sample.At.IsZero()
	if turned {
		s.refusal = now.At
	}
	s.saturation(now, turned)
	s.sample = now
	return ofGuard(s.watched.Judge(before, now, cfg.Thresholds))
}

// saturation keeps since when the guard has been full. Nobody was there when that began,
// so it is the earliest moment of which one can tell now: the first of the looks that found
// it full, when the first of those who wait came, when the youngest of those who hold
// everything did.
func (s *subject) saturation(now watch.Sample, turned bool) {
	full := now.InUse >= now.Limit || now.Waiting > 0 || turned && !s.full.IsZero()
	if !full || now.Limit <= 0 {
		s.full = time.Time{}
		return
	}
	since := now.At.Add(-max(now.OldestWait, now.Quiet))
	if s.full.IsZero() || since.Before(s.full) {
		s.full = since
	}
}

// before is the look that rates are over: the newest that was remembered a while ago, or,
// at the beginning, the first.
func (h *history) before(now time.Time) (best past, ok bool) {
	for _, p := range slices.Backward(h.past) {
		age := now.Sub(p.at)
		if age > oldest {
			break
		}
		best, ok = p, age >= apart/4
		if age >= apart {
			break
		}
	}
	if !ok {
		best = past{}
	}
	return best, ok
}

// judging is the look that a guard is judged against: the newest that is old enough; or, if
// too few holds were measured since, an older one since which enough were; or the oldest.
func (h *history) judging(l *look, it *item, t watch.Thresholds) (best past) {
	now, _ := countsOf(it.snapshot)
	for _, p := range slices.Backward(h.past) {
		age := l.at.Sub(p.at)
		then, ok := p.of(it.id)
		if !ok || age > oldest {
			break
		}
		if l.at.Sub(best.at) < steady || best.at.IsZero() {
			best = p
		}
		if c, _ := countsOf(then); age >= steady && (now.hold.Count-c.hold.Count >= max(t.MinHolds, 1) || still(then, it.snapshot)) {
			return p
		}
		if age > sparse {
			break
		}
	}
	return best
}

// still reports whether nothing has happened between two looks at a guard, and nothing is
// going on: what was before is over then.
func still(then, now observe.Snapshot) bool {
	a, b := watch.SampleOf(then), watch.SampleOf(now)
	return b.InUse == 0 && b.Waiting == 0 && a.Admitted == b.Admitted && a.Refused == b.Refused
}

// remember keeps a look, and forgets what is too old.
func (h *history) remember(l *look) {
	tooMany := len(h.subjects) > 2*maxSnapshots
	for i, s := range h.subjects {
		if gone := l.at.Sub(s.seen); gone > forget || tooMany && gone > 0 {
			delete(h.subjects, i)
		}
	}
	if n := len(h.past); n > 0 && l.at.Sub(h.past[n-1].at) < apart {
		return
	}
	all := make(map[id]observe.Snapshot, len(l.items))
	for _, it := range l.items {
		s := it.snapshot
		s.Holders, s.Own = nil, nil
		all[it.id] = s
	}
	h.past = append(h.past, past{l.at, all})
	h.past = thin(h.past, l.at)
}

// thin leaves out what is too old, and of the older looks those that are close to another.
func thin(looks []past, now time.Time) []past {
	kept := looks[:0]
	for _, p := range looks {
		age := now.Sub(p.at)
		if age > oldest || age > dense && len(kept) > 0 && p.at.Sub(kept[len(kept)-1].at) < dense {
			continue
		}
		kept = append(kept, p)
	}
	clear(looks[len(kept):])
	return kept
}

// broken adds what is known of a component that panicked: to the entry that it is about, or
// as one of its own.
func broken(all []*entry, f fault) []*entry {
	for _, e := range all {
		if f.id != (id{}) && e.id == f.id {
			e.Level, e.Verdict, e.Reason, e.urgent = bad, "broken", f.what, urgentBroken
			return all
		}
	}
	return append(all, &entry{
		Kind: "component", Name: "#" + thousands(uint64(f.component)+1), Level: bad, Verdict: "broken", Reason: f.what, urgent: urgentBroken,
	})
}

// arrange puts details beneath their sum, and what needs somebody first.
func arrange(all []*entry) []*entry {
	type sum struct{ component, name, lane string }
	heads := map[sum]*entry{}
	var top []*entry
	for _, e := range all {
		if !e.id.detail && e.id.nth == 0 && e.id != (id{}) {
			heads[sum{e.id.component, e.id.name, e.id.lane}] = e
		}
	}
	for _, e := range all {
		if head := heads[sum{e.id.component, e.id.name, e.id.lane}]; e.id.detail && head != nil {
			head.Parts = append(head.Parts, e)
			continue
		}
		top = append(top, e)
	}
	for _, e := range top {
		slices.SortStableFunc(e.Parts, func(a, b *entry) int {
			return cmp.Or(cmp.Compare(b.urgent, a.urgent), strings.Compare(a.Node, b.Node))
		})
	}
	slices.SortStableFunc(top, func(a, b *entry) int { return need(b.Worst()) - need(a.Worst()) })
	return top
}

// need is how urgent an entry is; those that need nobody stay in their order.
func need(e *entry) int {
	if e.Level < warn {
		return -1
	}
	return e.urgent
}

// faults are what is wrong with what the page was given to show.
func faults(l *look) []string {
	var all []string
	for _, it := range l.items {
		if it.id.nth == 1 && !it.id.detail {
			e := entry{Kind: it.id.component, Name: it.id.name, Lane: it.id.lane, Node: it.id.node}
			all = append(all, "more than one component is called "+printable(e.Key())+": only the first is in the metrics")
		}
	}
	if l.cut {
		all = append(all, "there are more than "+thousands(maxSnapshots)+" components: the rest is left out")
	}
	return all
}
