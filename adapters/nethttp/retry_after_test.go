//go:build go1.25

package nethttp_test

import (
	"math"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/nethttp"
)

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// C11, C12: both forms, in the bubble's time, and nothing negative or overflowing.
func TestRetryAfterReadsBothForms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for name, c := range map[string]struct {
			h    http.Header
			want time.Duration
			ok   bool
		}{
			"none":                   {headers(), 0, false},
			"empty":                  {headers("Retry-After", ""), 0, false},
			"zero":                   {headers("Retry-After", "0"), 0, true},
			"seconds":                {headers("Retry-After", "120"), 2 * time.Minute, true},
			"spaces":                 {headers("Retry-After", " 7 "), 7 * time.Second, true},
			"many":                   {headers("Retry-After", "9223372037"), math.MaxInt64, true},
			"most":                   {headers("Retry-After", "9223372036"), 9223372036 * time.Second, true},
			"more than an int":       {headers("Retry-After", "99999999999999999999999"), math.MaxInt64, true},
			"negative":               {headers("Retry-After", "-1"), 0, false},
			"signed":                 {headers("Retry-After", "+1"), 0, false},
			"fraction":               {headers("Retry-After", "1.5"), 0, false},
			"words":                  {headers("Retry-After", "soon"), 0, false},
			"date":                   {headers("Retry-After", at(90*time.Second)), 90 * time.Second, true},
			"date that has passed":   {headers("Retry-After", at(-time.Hour)), 0, true},
			"old form of date":       {headers("Retry-After", time.Now().Add(time.Minute).UTC().Format(time.RFC850)), time.Minute, true},
			"C's form of date":       {headers("Retry-After", time.Now().Add(time.Minute).UTC().Format(time.ANSIC)), time.Minute, true},
			"the server's clock":     {headers("Retry-After", at(time.Hour+5*time.Second), "Date", at(time.Hour)), 5 * time.Second, true},
			"a Date that is no date": {headers("Retry-After", at(5*time.Second), "Date", "today"), 5 * time.Second, true},
			"the end of all days":    {headers("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT", "Date", "Mon, 01 Jan 0001 00:00:00 GMT"), math.MaxInt64, true},
			"Date after Retry-After": {headers("Retry-After", "Mon, 01 Jan 0001 00:00:00 GMT", "Date", "Fri, 31 Dec 9999 23:59:59 GMT"), 0, true},
		} {
			d, ok := nethttp.RetryAfter(c.h)
			require.Equal(t, c.want, d, name)
			require.Equal(t, c.ok, ok, name)
		}
	})
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "0", "120", "-1", "1e9", "99999999999999999999", "Fri, 31 Dec 1999 23:59:59 GMT", "Friday, 31-Dec-99 23:59:59 GMT", "\x00", "١٢"} {
		f.Add(s, "")
		f.Add(s, "Fri, 31 Dec 1999 23:59:00 GMT")
	}
	f.Fuzz(func(t *testing.T, after, date string) {
		h := http.Header{"Retry-After": {after}, "Date": {date}}
		d, ok := nethttp.RetryAfter(h)
		if d < 0 || !ok && d != 0 {
			t.Fatalf("%q, %q: %v, %v", after, date, d, ok)
		}
		if n, err := strconv.ParseUint(after, 10, 31); err == nil && (!ok || d != time.Duration(n)*time.Second) {
			t.Fatalf("%q: %v, %v", after, d, ok)
		}
		if at, err := http.ParseTime(after); err == nil && !ok {
			t.Fatalf("%q is %v", after, at)
		}
	})
}
