package nethttp

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/spillway-go/spillway"
)

// response stands before a ResponseWriter to note the status, and who takes the
// connection over. It is made by newResponse.
type response struct {
	http.ResponseWriter

	guard    *Guard
	permit   spillway.Permit
	status   int       // 0: none yet
	hijacked bool      // whether the connection was taken over
	held     *heldConn // the connection, if it has the permit now
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(code int) {
	if code >= http.StatusOK || code == http.StatusSwitchingProtocols { // the others announce a status
		w.answered(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	w.answered(http.StatusOK)
	return w.ResponseWriter.Write(p)
}

// WriteString implements io.StringWriter.
func (w *response) WriteString(s string) (int, error) {
	w.answered(http.StatusOK)
	return io.WriteString(w.ResponseWriter, s)
}

// Unwrap is for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answered notes a status: the first counts.
func (w *response) answered(code int) {
	if w.status == 0 {
		w.status = code
	}
}

// FlushError is for http.ResponseController, which would find a Flusher further down, and pass us
// by. It says so if there is none.
func (w *response) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		w.answered(http.StatusOK)
	}
	return err
}

// code is the status of the answer, which is 200 if the handler didn't say.
func (w *response) code() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}

// ReadFrom implements io.ReaderFrom, with sendfile if the writer below has that. A source
// that gives nothing has answered nothing: the handler may still say what has failed.
func (w *response) ReadFrom(src io.Reader) (int64, error) {
	n, err := io.Copy(w.ResponseWriter, src)
	if n > 0 {
		w.answered(http.StatusOK)
	}
	return n, err
}

// Push implements http.Pusher, if the writer below does.
func (w *response) Push(target string, opts *http.PushOptions) error {
	if p, ok := w.ResponseWriter.(http.Pusher); ok {
		return p.Push(target, opts)
	}
	return http.ErrNotSupported
}

// newResponse returns a response, and the writer before it that the handler gets. That
// is a Flusher only if the one below is, because handlers that find one believe it, and a
// Hijacker only if that or one further down is: http.ResponseController would find it there,
// and pass us by. What the other interfaces can't do they say. Both are one allocation.
func newResponse(w http.ResponseWriter, g *Guard, p spillway.Permit) (*response, http.ResponseWriter) {
	r := response{ResponseWriter: w, guard: g, permit: p}
	_, flushes := w.(http.Flusher)
	switch hijacks := hijackable(w); {
	case flushes && hijacks:
		x := &struct {
			response
			flusher
			hijacker
		}{response: r}
		x.flusher.w, x.hijacker.w = &x.response, &x.response
		return &x.response, x
	case flushes:
		x := &struct {
			response
			flusher
		}{response: r}
		x.w = &x.response
		return &x.response, x
	case hijacks:
		x := &struct {
			response
			hijacker
		}{response: r}
		x.w = &x.response
		return &x.response, x
	}
	x := r // a copy, because r would be on the heap in every case
	return &x, &x
}

// The optional interfaces that a writer has only sometimes.
type (
	flusher  struct{ w *response }
	hijacker struct{ w *response }
)

func (f flusher) Flush() { _ = f.w.FlushError() }

func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(h.w.ResponseWriter).Hijack()
	if err != nil {
		return conn, buffered, err
	}
	h.w.hijacked = true
	if h.w.guard.cfg.HoldHijacked {
		h.w.held = newHeldConn(conn, h.w.guard, h.w.permit)
		conn = h.w.held.whole()
	}
	return conn, buffered, nil
}

// hijackable reports whether w, or a writer that it wraps, can be hijacked.
func hijackable(w http.ResponseWriter) bool {
	for {
		if _, ok := w.(http.Hijacker); ok {
			return true
		}
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return false
		}
		w = outer.Unwrap()
	}
}
