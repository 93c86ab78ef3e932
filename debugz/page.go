package debugz

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/spillway-go/spillway/observe"
)

// Page shows components: it is an http.Handler. All its methods are safe for concurrent
// use. It has no goroutine and nothing to close: it looks at its components when somebody
// asks. Make one with [New]; the zero Page answers that it isn't ready.
type Page struct {
	cfg        Config
	components []observe.Observable
	page       *template.Template
	policy     string // the page's content security policy

	last  atomic.Pointer[look] // the newest; nil before the first
	began atomic.Int64         // when the look under way began, in nanoseconds of the wall clock; 0: none is
	at    atomic.Int64         // which component it is at

	turn    chan struct{} // holds one element while somebody looks
	history history       // for whoever has the turn
}

// Handler returns a page with the settings of [DefaultConfig], for this machine alone. A
// proxy on this machine that rewrites the host and adds no header looks like this machine, and
// so does everybody behind it: see [Loopback]. So serve the page on a port that no proxy passes
// on, or make it with [New] and an Allow of your own. Mount it under a path that ends in a slash:
//
//	mux.Handle("/debug/spillway/", debugz.Handler(observe.Limiter(db), observe.Set(lanes)))
func Handler(components ...observe.Observable) http.Handler {
	p, err := New(DefaultConfig(), components...)
	if err != nil {
		panic("debugz: bug: " + err.Error()) // the default settings are right
	}
	return p
}

// New returns a page of the components, which it calls when somebody asks and otherwise
// doesn't touch; nil ones are left out. A component that panics is shown as broken. A
// wrong configuration gives a *spillway.ConfigError that lists every fault.
func New(cfg Config, components ...observe.Observable) (*Page, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	p := &Page{cfg: cfg, turn: make(chan struct{}, 1)}
	for _, c := range components {
		if c != nil {
			p.components = append(p.components, c)
		}
	}
	p.page, p.policy = newTemplate()
	return p, nil
}

// ServeHTTP answers with the page for people, or with what the last element of the path
// names: html, text, json, metrics or openmetrics. Without one the Accept header decides,
// and plain text is for those who say nothing. Whom [Config.Allow] doesn't let in gets 403
// and learns nothing; methods other than GET and HEAD get 405. It waits for a look at the
// components that is under way, a second at most: then it answers with the last one, and
// says so; to those who want metrics, which can't say it, with 503.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header(), plainPolicy)
	if p.turn == nil {
		http.Error(w, "debugz: this page was not made with New", http.StatusServiceUnavailable)
		return
	}
	if !p.cfg.Allow(r) {
		forbid(w, r)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "debugz: there is nothing to change here", http.StatusMethodNotAllowed)
		return
	}
	f, ok := formOf(r)
	if !ok {
		http.Error(w, "debugz: there is html, text, json, metrics and openmetrics. If this should be the page itself, mount it under a path that ends in a slash", http.StatusNotFound)
		return
	}
	body, err := p.body(r, f)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	h := w.Header()
	if f == formHTML {
		h.Set("Content-Security-Policy", p.policy)
	}
	h.Set("Content-Type", f.contentType())
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Vary", "Accept")
	if _, err := w.Write(body); err != nil {
		return // whoever asked has gone
	}
}

// errBusy is for those who ask while the first look doesn't end.
var errBusy = errors.New("debugz: a component does not answer, and there is nothing older to show")

// body is what a request gets.
func (p *Page) body(r *http.Request, f form) ([]byte, error) {
	l, stale, err := p.current(r.Context())
	if err != nil {
		return nil, err
	}
	if stale && (f == formMetrics || f == formOpenMetrics) {
		return nil, errors.New("debugz: " + p.whatBlocks()) // a scraper would take counts that stand still for the truth
	}
	if stale {
		report := *l.report
		report.Stale = p.whatBlocks()
		return p.write(f, l, &report)
	}
	b := &l.bodies[f]
	b.once.Do(func() { b.text, b.err = p.write(f, l, l.report) })
	return b.text, b.err
}

// write writes a report down.
func (p *Page) write(f form, l *look, r *report) ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch f {
	case formHTML:
		err = p.page.Execute(&b, r)
	case formJSON:
		err = writeJSON(&b, r)
	case formMetrics, formOpenMetrics:
		writeMetrics(&b, l.snapshots(), f == formOpenMetrics)
	default:
		err = writeText(&b, r)
	}
	if err != nil {
		return nil, fmt.Errorf("debugz: %w", err)
	}
	return b.Bytes(), nil
}

// whatBlocks says what a look that doesn't end is waiting for.
func (p *Page) whatBlocks() string {
	began, at := p.began.Load(), int(p.at.Load())
	if began == 0 || at >= len(p.components) {
		return "the components have not been looked at for a while"
	}
	return fmt.Sprintf("component %d of %d (%T) has not answered for %s: nothing newer can be shown",
		at+1, len(p.components), p.components[at], human(time.Since(time.Unix(0, began))))
}
