package debugz

import (
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spillway-go/spillway/watch"
)

//go:embed page.gohtml
var pageTemplate string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// plainPolicy is for what isn't a page: nothing is loaded, run or framed.
const plainPolicy = "default-src 'none'; frame-ancestors 'none'"

// newTemplate returns the page's template, and the content security policy that lets
// nothing run in it but its own script: by its hash, because style and script are in the
// page, so that one answer is all of it.
func newTemplate() (*template.Template, string) {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	t := template.Must(template.New("page").Funcs(template.FuncMap{
		"style":  func() template.HTML { return template.HTML("<style>" + pageStyle + "</style>") },
		"script": func() template.HTML { return template.HTML("<script>" + pageScript + "</script>") },
		"count":  thousands,
	}).Parse(pageTemplate))
	return t, "default-src 'none'; script-src " + hash(pageScript) + "; style-src " + hash(pageStyle) +
		"; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// Recent reports whether there are rates.
func (r *report) Recent() bool { return !math.IsNaN(float64(r.Window)) }

// Icon is a dot in the colour of the worst.
func (r *report) Icon() template.URL {
	colour := "%231a7f37"
	switch r.Worst {
	case warn:
		colour = "%23e09b13"
	case bad:
		colour = "%23c4161c"
	case idle, fine:
	}
	return template.URL("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'><circle cx='4' cy='4' r='4' fill='" + colour + "'/></svg>")
}

// Urgent are the entries that need somebody.
func (r *report) Urgent() []*entry { return r.Entries[:r.Need] }

// Guards are the entries that give permits out.
func (r *report) Guards() (all []*entry) {
	for _, e := range r.Entries {
		if e.Guard != nil {
			all = append(all, e)
		}
	}
	return all
}

// table is the entries of one kind that isn't a guard.
type table struct {
	ID, Title, Use string
	Columns        []string
	Entries        []*entry
}

// Tables are the entries that aren't guards, by kind.
func (r *report) Tables() (all []*table) {
	byKind := map[string]*table{}
	for _, e := range r.Entries {
		if e.Guard != nil {
			continue
		}
		t := byKind[e.Kind]
		if t == nil {
			t = &table{ID: fmt.Sprintf("kind-%d", len(all)), Title: e.Kind}
			byKind[e.Kind] = t
			all = append(all, t)
			t.title(e.Kind)
		}
		if len(t.Columns) == 0 {
			for _, f := range e.Figures {
				t.Columns = append(t.Columns, f.Name)
			}
		}
		t.Entries = append(t.Entries, e)
	}
	slices.SortStableFunc(all, func(a, b *table) int { return cmp.Compare(a.place(), b.place()) })
	return all
}

// title says what the components of a kind are.
func (t *table) title(kind string) {
	switch kind {
	case "lifecycle":
		t.Title = "Connections"
	case "registry":
		t.Title, t.Use = "Registries of connections", "Keys"
	case "retry":
		t.Title = "Retriers"
	case "budget":
		t.Title, t.Use = "Retry budgets", "Retries left"
	}
}

// place puts connections first and strangers last.
func (t *table) place() int {
	return (slices.Index([]string{"Connections", "Registries of connections", "Retriers", "Retry budgets"}, t.Title) + 5) % 5
}

// held is a site, and of what guard.
type held struct {
	site
	Guard string
	nth   int
}

// Key tells it from the others.
func (h held) Key() string { return h.Guard + " " + strconv.Itoa(h.nth) }

// holding are all who hold something, by site, the oldest first.
type holding struct {
	Sites []held
	More  int // sites that aren't listed
}

// maxHeld is how many sites the page lists.
const maxHeld = 50

// Held says who holds what; nil if nobody does, as far as is known.
func (r *report) Held() *holding {
	var h holding
	for _, e := range r.Entries {
		from := []*entry{e}
		if e.Guard != nil && len(e.Guard.Sites) == 0 {
			from = e.Parts // only they know
		}
		for _, e := range from {
			if e.Guard == nil {
				continue
			}
			h.More += e.Guard.MoreSites
			for i, s := range e.Guard.Sites {
				h.Sites = append(h.Sites, held{s, e.Kind + " " + e.Title(), i})
			}
		}
	}
	if len(h.Sites) == 0 {
		return nil
	}
	slices.SortStableFunc(h.Sites, func(a, b held) int { return cmp.Compare(b.Oldest, a.Oldest) })
	if more := len(h.Sites) - maxHeld; more > 0 {
		h.Sites, h.More = h.Sites[:maxHeld], h.More+more
	}
	return &h
}

// IsPart reports whether the entry is a part of another.
func (e *entry) IsPart() bool { return e.id.detail }

// Spread reports whether the page shows the parts unasked: because one needs somebody.
func (e *entry) Spread() bool { return e.Worst() != e && e.Worst().Level >= warn }

// WantsTrack reports whether it would help to know who holds what.
func (e *entry) WantsTrack() bool {
	return e.Kind != "executor" && (e.Verdict == watch.Stuck.String() || e.Verdict == watch.Leaking.String())
}

// Details are what the page shows of an entry when asked.
func (e *entry) Details() facts {
	all := slices.Clone(e.Facts)
	if e.Guard == nil {
		return all
	}
	for _, p := range e.Guard.Refusals {
		all = append(all, fact{"refused: " + p.Name, p.Total})
	}
	for _, p := range e.Guard.Outcomes {
		all = append(all, fact{"ended: " + p.Name, p.Total})
	}
	return all
}

// Urgency is what a column of verdicts is sorted by.
func (e *entry) Urgency() int { return 1000*int(e.Level) + e.urgent }

// Mode is what is out of the ordinary about how a guard is set; empty if nothing.
func (e *entry) Mode() string {
	switch {
	case e.Guard == nil:
		return ""
	case e.Guard.Closed:
		return "closed"
	case e.Guard.Mode == "enforce":
		return ""
	}
	return e.Guard.Mode
}

// Lasting is for how long the verdict has been seen, if that is worth saying.
func (e *entry) Lasting() string {
	if e.Since < 2 {
		return ""
	}
	return e.Since.String()
}

// Oldest are the sites that a card shows.
func (e *entry) Oldest() []site { return e.Guard.Sites[:min(len(e.Guard.Sites), 5)] }

// Victims reports whether some of those held their permits before the guard was full, so
// that the others only suffer from it.
func (e *entry) Victims() bool {
	return slices.ContainsFunc(e.Oldest(), func(s site) bool { return s.Before > 0 })
}

// OthersInNeed are the parts, and the whole, that need somebody besides the worst.
func (e *entry) OthersInNeed() (all []*entry) {
	worst := e.Worst()
	for _, p := range append([]*entry{e}, e.Parts...) {
		if p != worst && p.Level >= warn {
			all = append(all, p)
		}
	}
	return all[:min(len(all), 10)]
}

// MainReason is why most of the calls that are refused now are; empty if none is.
func (g *guarded) MainReason() string {
	if len(g.Refusals) == 0 || !(g.Refusals[0].Now > 0) {
		return ""
	}
	return strings.ReplaceAll(g.Refusals[0].Name, "_", " ")
}

// IsFull reports whether the guard is saturated.
func (g *guarded) IsFull() bool { return g.Full > 0 }

// share is how much is taken, from 0 to 1. A component of somebody else's may call itself
// what has a bar and have none: the methods of nil are for it.
func (u *use) share() float64 {
	if u == nil || !(u.Limit > 0) {
		return 0
	}
	return min(max(u.Taken/u.Limit, 0), 1)
}

// Percent is the length of the bar.
func (u *use) Percent() string { return strconv.FormatFloat(100*u.share(), 'f', 1, 64) + "%" }

// Key is what a column of bars is sorted by.
func (u *use) Key() string { return key(u.share()) }

// Text is what the bar says: 3 / 16.
func (u *use) Text() string {
	if u == nil {
		return "–"
	}
	short := func(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10, 'f', -1, 64) }
	return short(u.Taken) + " / " + short(u.Limit)
}

// Text is for people.
func (f fact) Text() string {
	switch v := f.Value.(type) {
	case uint64:
		return thousands(v)
	case string:
		return v
	}
	return fmt.Sprint(f.Value)
}

// Key is what a column is sorted by.
func (f fact) Key() string {
	switch v := f.Value.(type) {
	case interface{ Key() string }:
		return v.Key()
	case string:
		if v == "–" {
			return "-1"
		}
	}
	return fmt.Sprint(f.Value)
}
