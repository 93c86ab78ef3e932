package nethttp

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause"
)

// What is read of a body that nobody wants, so that its connection can be used again.
const (
	drainBytes = 64 << 10
	drainTime  = 100 * time.Millisecond
)

// body is the body of an answer. That of one that switched protocols (101) is the
// connection itself, which has no time of its own and no end of its own either: that one
// side has finished says nothing of the other. So it has its permit until it is closed.
type body struct {
	io.ReadCloser

	hold    *hold
	outcome spillway.Outcome // by the answer's status
	conn    bool             // whether it is a connection that switched protocols
}

// closeWriter is a connection of which one's own side can be finished alone.
type closeWriter interface{ CloseWrite() error }

// guardBody puts a body into the answer that gives back what the attempt holds when it
// has ended. Without a body that is at once, and it returns nil.
func (h *hold) guardBody(resp *http.Response, method string) *body {
	outcome := OutcomeOfStatus(resp.StatusCode)
	if resp.Body == nil || resp.Body == http.NoBody {
		h.end(outcome)
		return nil
	}
	b := &body{ReadCloser: resp.Body, hold: h, outcome: outcome, conn: resp.StatusCode == http.StatusSwitchingProtocols}
	h.timer = nil
	if !b.conn {
		h.limit("body", h.t.cfg.BodyTimeout)
	}
	h.apart = context.AfterFunc(h.ctx, b.over)
	resp.Body = b
	if bodiless(resp, method) {
		h.giveBack(outcome)
	}
	// What can be written to stays so; a proxy finishes one side of it after the other.
	w, writes := b.ReadCloser.(io.Writer)
	half, halves := b.ReadCloser.(closeWriter)
	switch {
	case writes && halves:
		resp.Body = struct {
			*body
			io.Writer
			closeWriter
		}{b, w, half}
	case writes:
		resp.Body = struct {
			*body
			io.Writer
		}{b, w}
	}
	return b
}

// bodiless reports whether an answer has no body although it has a reader for one, as all of
// HTTP/2 have. Its permit needn't wait for a Close, which is often forgotten then.
func bodiless(resp *http.Response, method string) bool {
	switch {
	case method == http.MethodHead, resp.StatusCode == http.StatusNoContent, resp.StatusCode == http.StatusNotModified:
		return true
	}
	return resp.ProtoMajor > 1 && resp.ContentLength == 0
}

// over gives back what the attempt holds when its context has ended, for those who forget to
// close the body. A connection, of which net/http lets go when it has switched protocols, is
// closed first: it would live on without a permit. This is a goroutine of ours, and the body
// somebody else's.
func (b *body) over() {
	defer func() { _ = recover() }()
	defer b.hold.giveBack(b.hold.outcomeOf(cause.Of(b.hold.ctx)))
	if b.conn {
		_ = b.ReadCloser.Close()
	}
}

// Read implements io.Reader. At the end, or at an error, what the attempt holds is given
// back.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	switch {
	case err == nil || b.conn:
	case err == io.EOF:
		b.hold.end(b.outcome)
	default:
		if late, ok := cause.Of(b.hold.ctx).(*TimeoutError); ok { //nolint:errorlint // ours as it is, and another's methods aren't called
			err = late
		}
		b.hold.end(b.hold.outcomeOf(err))
	}
	return n, err
}

// Close implements io.Closer, and gives back what the attempt holds.
func (b *body) Close() error {
	defer b.hold.end(b.outcome)
	return b.ReadCloser.Close()
}

// drain reads a little of the body, and closes it.
func (b *body) drain() {
	timer := time.AfterFunc(drainTime, func() {
		defer func() { _ = recover() }() // of a Close that is somebody else's, on a goroutine of ours
		b.hold.giveBack(b.outcome)       // which isn't changed by our being impatient
		b.hold.cancel(context.DeadlineExceeded)
		_ = b.ReadCloser.Close()
	})
	defer timer.Stop()
	_, _ = io.CopyN(io.Discard, b, drainBytes+1) // one more, so that the end is seen
	_ = b.Close()
}
