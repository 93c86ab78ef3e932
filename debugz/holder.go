package debugz

import (
	"strings"
	"time"
	"unicode"

	"github.com/spillway-go/spillway"
)

// holder is somebody who holds permits.
type holder struct {
	Place  place   `json:"site"`
	Age    seconds `json:"age_seconds"`
	Class  string  `json:"class,omitempty"`
	Weight int     `json:"weight"`
	Stack  string  `json:"stack,omitempty"`
	// Before is whether he held it before the guard was full, which those who only suffer
	// from it did not.
	Before bool `json:"before_saturation"`
}

// site is all holders that took their permits at one place, for calls of one class.
type site struct {
	Place    place   `json:"site"`
	Class    string  `json:"class,omitempty"`
	Oldest   seconds `json:"oldest_seconds"`
	Youngest seconds `json:"youngest_seconds"`
	Holders  int     `json:"holders"`
	Permits  int     `json:"permits"`
	Before   int     `json:"before_saturation"` // of the holders
	Stack    string  `json:"-"`                 // of the oldest
}

const (
	// sure is for how long a guard must have been full before its holders are told apart by
	// it: at first everybody is there since before.
	sure = time.Second
	// about is how exact these times are: ages are read a moment after the sample.
	about = 10 * time.Millisecond
	// maxSites is how many sites are listed of each guard.
	maxSites = 20
)

// hold fills in who holds what of a guard: the n oldest, and all by site.
func (s *subject) hold(g *guarded, all []spillway.Holder, n int) {
	if len(all) == 0 || n == 0 {
		return
	}
	g.OldestHeld = secondsOf(all[0].Age)
	g.More = max(len(all)-n, 0)
	type key struct {
		site  string
		class spillway.Class
	}
	sites := map[key]int{}
	full := s.sample.At.Sub(s.full)
	for i, h := range all {
		before := !s.full.IsZero() && full >= sure && h.Age > full+about
		if i < n {
			g.Holders = append(g.Holders, holder{
				Place: placeOf(h.Site), Age: secondsOf(h.Age), Class: printable(string(h.Class)), Weight: h.Weight,
				Stack: stackText(h.Stack), Before: before,
			})
		}
		k := key{h.Site, h.Class}
		at, known := sites[k]
		switch {
		case !known && len(g.Sites) < maxSites:
			at = len(g.Sites)
			sites[k] = at
			g.Sites = append(g.Sites, site{
				Place: placeOf(h.Site), Class: printable(string(h.Class)), Oldest: secondsOf(h.Age), Stack: stackText(h.Stack),
			})
		case !known:
			sites[k] = -1 // one of those that aren't listed
			g.MoreSites++
			continue
		case at < 0:
			continue
		}
		g.Sites[at].add(h, before)
	}
}

// add counts a holder that is no older than those before him.
func (s *site) add(h spillway.Holder, before bool) {
	s.Holders++
	s.Permits += h.Weight
	s.Youngest = secondsOf(h.Age)
	if before {
		s.Before++
	}
}

// brief are the n oldest holders as a reason names them: without directories.
func brief(all []spillway.Holder, n int) []spillway.Holder {
	some := make([]spillway.Holder, min(n, len(all)))
	copy(some, all)
	for i := range some {
		some[i].Site, some[i].Stack = placeOf(some[i].Site).String(), ""
	}
	return some
}

// stackText is a stack of bounded length, that is nothing but text.
func stackText(stack string) string {
	const most = 8 << 10
	if len(stack) > most {
		stack = stack[:most] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return '·'
	}, strings.ToValidUTF8(stack, ""))
}
