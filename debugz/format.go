package debugz

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// maxText bounds, in characters, whatever is shown that somebody else has written.
const maxText = 300

// printable is a text of somebody else's as it may be shown: of bounded length, and without
// what would move a terminal's cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, strings.ToValidUTF8(short(s), "·"))
}

// short is the beginning of a text.
func short(s string) string {
	n := 0
	for i := range s {
		if n++; n > maxText {
			return s[:i] + "…"
		}
	}
	return s
}

// seconds is a duration that is shown; NaN if it isn't known.
type seconds float64

func secondsOf(d time.Duration) seconds { return seconds(d.Seconds()) }

func unknown() seconds { return seconds(math.NaN()) }

// String is for people.
func (s seconds) String() string {
	if math.IsNaN(float64(s)) {
		return "–"
	}
	return human(time.Duration(float64(s) * float64(time.Second)))
}

// MarshalJSON gives the number, or null.
func (s seconds) MarshalJSON() ([]byte, error) { return number(float64(s)), nil }

// Key is what a column is sorted by: what isn't known comes last.
func (s seconds) Key() string { return key(float64(s)) }

// perSecond is a rate; NaN if it isn't known.
type perSecond float64

// String is for people.
func (p perSecond) String() string {
	switch v := float64(p); {
	case math.IsNaN(v):
		return "–"
	case v == 0:
		return "0"
	case v < 9.95:
		return strconv.FormatFloat(v, 'f', 1, 64) + "/s"
	default:
		return thousands(uint64(math.Round(v))) + "/s"
	}
}

// MarshalJSON gives the number, or null.
func (p perSecond) MarshalJSON() ([]byte, error) { return number(float64(p)), nil }

// Key is what a column is sorted by.
func (p perSecond) Key() string { return key(float64(p)) }

func key(v float64) string {
	if math.IsNaN(v) {
		return "-1"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// number is a number in JSON, which has none for what isn't one.
func number(v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null")
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64)
}

// thousands has a comma between groups of three digits.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// human is a duration with as many digits as one wants to read: 0, 840µs, 12ms, 1.5s,
// 3m20s, 2h5m, 3d4h.
func human(d time.Duration) string {
	const day = 24 * time.Hour
	d = max(d, 0)
	switch {
	case d < 500*time.Nanosecond:
		return "0"
	case d < 9950*time.Nanosecond:
		return strconv.FormatFloat(float64(d)/float64(time.Microsecond), 'f', 1, 64) + "µs"
	case d < 999500*time.Nanosecond:
		return fmt.Sprintf("%dµs", d.Round(time.Microsecond).Microseconds())
	case d < 9950*time.Microsecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + "ms"
	case d < 999500*time.Microsecond:
		return fmt.Sprintf("%dms", d.Round(time.Millisecond).Milliseconds())
	case d < time.Minute-50*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	d = d.Round(time.Second)
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d < day:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%dd%dh", d/day, d%day/time.Hour)
	}
}

// place is where in the code somebody took a permit: "function file:line" as Holder.Site
// has it, without the directories.
type place struct {
	Function string `json:"function"`
	Source   string `json:"source"` // file:line
	full     string
}

func placeOf(site string) place {
	p := place{full: printable(site)}
	function, file, found := strings.Cut(site, " ")
	if !found {
		p.Function = p.full
		return p
	}
	p.Function = printable(function[strings.LastIndexByte(function, '/')+1:])
	p.Source = printable(file[strings.LastIndexAny(file, `/\`)+1:])
	return p
}

// Full is all that is known of the place.
func (p place) Full() string { return p.full }

// String is the place in a line.
func (p place) String() string { return strings.TrimSpace(p.Function + " " + p.Source) }
