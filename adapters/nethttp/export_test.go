package nethttp

import (
	"context"
	"os"
	"time"

	"github.com/spillway-go/spillway/lifecycle"
)

// NewWaitContext returns a context as Guard makes it, and how to end it.
func NewWaitContext(parent context.Context, d time.Duration, cause error) (context.Context, func()) {
	c := &waitContext{Context: parent, at: time.Now().Add(d), cause: cause}
	return c, c.end
}

// ServeSignals is Serve with the signals of a channel.
func ServeSignals(ctx context.Context, cfg ServeConfig, signals <-chan os.Signal) (lifecycle.ShutdownReport, error) {
	return serve(ctx, cfg, signals)
}
