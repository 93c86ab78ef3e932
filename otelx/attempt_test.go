package otelx_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/otelx"
)

// G-OTEL-7: attempts have spans of their own if they are asked for: children of the call's, and
// no database calls.
func TestSpansOfAttempts(t *testing.T) {
	b := newBench(t, otelx.WithAttemptSpans())
	o, ok := b.Observer().(spillway.AttemptObserver)
	require.True(t, ok)
	ctx, call := o.Begin(t.Context(), get())
	parent := trace.SpanContextFromContext(ctx)
	for number, err := range []error{answer{"DEVICE_OVERLOAD", 18}, answer{"KEY_NOT_FOUND_ERROR", 2}} {
		within, attempt := o.BeginAttempt(ctx, get(), number+1)
		require.NotEqual(t, parent.SpanID(), trace.SpanContextFromContext(within).SpanID(), "the attempt goes on within its span")
		attempt.End(spillway.CallResult{Err: err, Node: "A1", Peer: "10.0.0.7", PeerPort: 3000, Attempts: 1, Rows: -1})
	}
	call.End(spillway.CallResult{Err: answer{"KEY_NOT_FOUND_ERROR", 2}, Attempts: 2, Rows: -1})
	spans := b.takeSpans()
	require.Len(t, spans, 3)
	for _, s := range spans[:2] {
		require.Equal(t, "attempt", s.Name)
		require.Equal(t, trace.SpanKindInternal, s.SpanKind)
		require.Equal(t, parent.SpanID(), s.Parent.SpanID())
	}
	require.Equal(t, codes.Error, spans[0].Status.Code)
	require.Equal(t, []string{
		"error.type=DEVICE_OVERLOAD", "network.peer.address=10.0.0.7", "network.peer.port=3000", "spillway.backend.node=A1", "spillway.retry.attempt.number=1",
	}, attributesOf(spans[0]))
	require.Equal(t, codes.Unset, spans[1].Status.Code, "that a record isn't there is an answer")
	require.Equal(t, []string{
		"network.peer.address=10.0.0.7", "network.peer.port=3000", "spillway.backend.node=A1", "spillway.retry.attempt.number=2",
	}, attributesOf(spans[1]))
}

// Whoever doesn't ask for spans of attempts has no cost of them, nor who isn't traced.
func TestNoSpansOfAttempts(t *testing.T) {
	_, asked := newBench(t).Observer().(spillway.AttemptObserver)
	require.False(t, asked)
	b := newBench(t, otelx.WithAttemptSpans(), otelx.WithSpans(otelx.SpansUnderParent))
	o := b.Observer().(spillway.AttemptObserver)
	for range 2 {
		ctx, call := o.Begin(t.Context(), get())
		_, attempt := o.BeginAttempt(ctx, get(), 1)
		require.Nil(t, attempt)
		if call != nil {
			call.End(spillway.CallResult{Attempts: 1})
		}
		b.SetEnabled(false)
	}
	require.Empty(t, b.takeSpans())
}

// A batch that went well as a whole says how many of its records failed.
func TestSpanOfABatchSaysHowManyFailed(t *testing.T) {
	b := newBench(t)
	call := get()
	call.Operation, call.Kind, call.BatchSize = "BatchOperate", spillway.KindWrite, 10
	b.observe(t, call, spillway.CallResult{Attempts: 1, Rows: 10, Failed: 3})
	b.observe(t, call, spillway.CallResult{Attempts: 1, Rows: 10})
	spans := b.takeSpans()
	require.Contains(t, attributesOf(spans[0]), "aerospike.batch.failed_records=3")
	require.NotContains(t, attributesOf(spans[1]), "aerospike.batch.failed_records=0")
	require.Equal(t, codes.Unset, spans[0].Status.Code)
}
