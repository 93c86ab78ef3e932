package watch_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/internal/cause/causetest"
	"github.com/spillway-go/spillway/watch"
)

// slow is a source that says when it is looked at again, and waits then.
type slow struct {
	n     *int
	asked chan struct{}
	goOn  chan struct{}
}

func (s slow) Sample() watch.Sample {
	if *s.n++; *s.n == 2 { // the first is Add's
		close(s.asked)
		<-s.goOn
	}
	return watch.Sample{Component: "limiter", Name: "x", At: time.Now(), Limit: 1}
}
func (s slow) Holders() []spillway.Holder { return nil }

// F10: with Go 1.24, too, a Close that a stranger's context ends doesn't say that all is over.
func TestWatcherStrangersContextThatEndsACloseSaysSo(t *testing.T) {
	cfg := watch.DefaultConfig(slog.New(slog.DiscardHandler))
	cfg.Interval = time.Millisecond
	w, err := watch.New(cfg)
	require.NoError(t, err)
	s := slow{new(int), make(chan struct{}), make(chan struct{})}
	w.Add(s)
	w.Start(t.Context())
	<-s.asked
	require.Equal(t, context.Canceled, w.Close(causetest.Ended(t.Context())))
	close(s.goOn)
	require.NoError(t, w.Close(t.Context()))
}
