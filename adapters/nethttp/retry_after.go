package nethttp

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryAfter returns what the Retry-After header of an answer asks for, in either of its
// forms: seconds, or a date, which is taken against the answer's own Date if it has one, so
// that the clocks needn't agree. It is never negative: a date that has passed is 0. ok is
// false if there is no such header, or it can't be understood.
func RetryAfter(h http.Header) (d time.Duration, ok bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if isDigits(text) {
		return secondsOf(text), true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(at.Sub(now), 0), true
}

// secondsOf returns so many seconds, or the longest duration if there are more.
func secondsOf(digits string) time.Duration {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/int64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(n) * time.Second
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
