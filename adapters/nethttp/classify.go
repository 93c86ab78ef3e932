package nethttp

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"

	"github.com/spillway-go/spillway/retry"
)

// Classify is the verdict on a failed attempt where [TransportConfig.Retry] has no other:
//
//   - an answer of 429 or 503: Pushback, not before what its Retry-After asks for; of 502 or
//     504: Ambiguous; any other: Stop, so it goes to the caller as it is;
//   - a connection that couldn't be dialled: Transient, because nothing was sent; unless
//     its name doesn't exist: Stop;
//   - a certificate that isn't valid: Stop;
//   - everything else: as retry.Classify says. A refusal of the admission is Pushback, what
//     took too long or broke is Ambiguous, a cancelled context Stop.
//
// What is Ambiguous is repeated only for requests that are idempotent. Of those that aren't,
// every answer is Ambiguous: a 503 may come from a proxy that had sent the request on.
func Classify(err error) retry.Verdict {
	var status *StatusError
	if errors.As(err, &status) {
		switch status.Code {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			return retry.Pushback
		case http.StatusBadGateway, http.StatusGatewayTimeout:
			return retry.Ambiguous
		}
		return retry.Stop
	}
	if hopeless(err) {
		return retry.Stop
	}
	v := retry.Classify(err)
	var op *net.OpError
	if v == retry.Ambiguous && errors.As(err, &op) && op.Op == "dial" {
		return retry.Transient
	}
	return v
}

// hopeless reports whether a call failed for a reason that won't go away: a certificate
// that isn't valid, a host that doesn't exist.
func hopeless(err error) bool {
	var cert *tls.CertificateVerificationError
	var dns *net.DNSError
	return errors.As(err, &cert) || errors.As(err, &dns) && dns.IsNotFound
}

// classifyOnce is Classify for requests that aren't idempotent.
func classifyOnce(err error) retry.Verdict {
	v := Classify(err)
	var status *StatusError
	if v != retry.Stop && errors.As(err, &status) {
		return retry.Ambiguous
	}
	return v
}

// idempotent reports whether a request may be executed twice, by its method (RFC 9110,
// section 9.2.2) or because its server recognises a repetition by a key, in the headers that
// net/http goes by as well.
func idempotent(r *http.Request) bool {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	_, key := r.Header["Idempotency-Key"]
	_, xKey := r.Header["X-Idempotency-Key"]
	return key || xKey
}
