package nethttp

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// statusClientGone is what is written for a caller that has gone: it is for those
// who log the status, for nobody reads the answer.
const statusClientGone = 499

// WriteError answers a request whose call to a backend failed with err, as
// spillway.StatusOf says: see [WriteStatus]. Nothing of the error's text is shown. For
// the errors of an adapter that knows more use WriteStatus with its own StatusOf. It must
// be called before anything else is written; of a nil err nothing is. Return after it.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		WriteStatus(w, r, spillway.StatusOf(err))
	}
}

// WriteStatus answers a request that failed: with the status, Retry-After in whole
// seconds if there is one, and a small body that says no more than the status, as a problem
// document (RFC 9457) to those who accept JSON and as text to others. It isn't to be
// cached. A 499 has no body, because its caller has gone. What is no error status
// is answered as 500. It must be called before anything else is written.
func WriteStatus(w http.ResponseWriter, r *http.Request, st spillway.Status) {
	code := st.HTTP
	if code < http.StatusBadRequest || code > 599 {
		code = http.StatusInternalServerError
	}
	h := w.Header()
	for _, stale := range [...]string{"Content-Encoding", "Content-Length", "Etag", "Last-Modified"} {
		h.Del(stale) // of the answer that the handler meant to give
	}
	if code == statusClientGone {
		h.Set("Content-Length", "0")
		w.WriteHeader(code)
		return
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if st.RetryAfter > 0 {
		h.Set("Retry-After", wholeSeconds(st.RetryAfter))
	}
	text := http.StatusText(code)
	body := strings.TrimSpace(strconv.Itoa(code)+" "+text) + "\n"
	h.Set("Content-Type", "text/plain; charset=utf-8")
	if strings.Contains(r.Header.Get("Accept"), "json") {
		h.Set("Content-Type", "application/problem+json")
		body = `{"title":` + strconv.Quote(text) + `,"status":` + strconv.Itoa(code) + "}\n"
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(code)
	_, _ = io.WriteString(w, body) // to one who doesn't listen there is nothing to be done
}

// wholeSeconds is a positive duration as the Retry-After header has it: rounded up.
func wholeSeconds(d time.Duration) string {
	return strconv.FormatInt(int64((d-1)/time.Second)+1, 10)
}

// OutcomeOfStatus is the class of a call that was answered with an HTTP status, on either
// side: 429 is OutcomeQuota, 503 OutcomeOverload, 408 and 504 OutcomeTimeout, 502
// OutcomeNetwork, 499 OutcomeLocal; 501, 505 and what else is below 500 are OutcomePermanent,
// other errors of the server OutcomeUnknown. What is below 400 is OutcomeOK.
func OutcomeOfStatus(code int) spillway.Outcome {
	switch code {
	case http.StatusTooManyRequests:
		return spillway.OutcomeQuota
	case http.StatusServiceUnavailable:
		return spillway.OutcomeOverload
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return spillway.OutcomeTimeout
	case http.StatusBadGateway:
		return spillway.OutcomeNetwork
	case statusClientGone:
		return spillway.OutcomeLocal
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return spillway.OutcomePermanent
	}
	switch {
	case code < http.StatusBadRequest:
		return spillway.OutcomeOK
	case code < http.StatusInternalServerError:
		return spillway.OutcomePermanent
	}
	return spillway.OutcomeUnknown
}
