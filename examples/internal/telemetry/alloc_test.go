package telemetry_test

import (
	"context"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	notraces "go.opentelemetry.io/otel/trace/noop"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/otelx"
)

// performance.md, telemetry: a call that is measured allocates what one that isn't does. What
// the driver does beside, now and then, is kept out by taking the fewest of several runs.
func TestMeasuringACallAllocatesNothing(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	allocs := func(opts ...otelx.Option) float64 {
		s := newStation(t, append(opts, otelx.WithTracerProvider(notraces.NewTracerProvider()))...)
		client := s.connect(t, srv, "main")
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		policy, key := as.NewPolicy(), newKey(t, 1)
		require.NoError(t, client.Put(ctx, nil, key, as.BinMap{"i": 1}))
		fewest := 1e9
		for range 10 {
			fewest = min(fewest, testing.AllocsPerRun(50, func() {
				if _, err := client.Get(ctx, policy, key); err != nil {
					t.Error(err)
				}
			}))
		}
		require.NoError(t, client.Close(ctx))
		return fewest
	}
	off, on := allocs(otelx.WithMeterProvider(nometrics.NewMeterProvider())), allocs()
	if !race { // under which pools forget
		require.InDelta(t, off, on, 0)
	}
}

// What telemetry adds to a guarded call over the same connections: run it several times and
// compare minima, for the loopback's own noise is larger.
func BenchmarkGet(b *testing.B) {
	srv := aerospiketest.NewServer(b)
	for _, c := range []struct {
		name string
		opts []otelx.Option
	}{
		{"signal=none", []otelx.Option{otelx.WithMeterProvider(nometrics.NewMeterProvider()), otelx.WithTracerProvider(notraces.NewTracerProvider())}},
		{"signal=metrics", []otelx.Option{otelx.WithTracerProvider(notraces.NewTracerProvider())}},
		{"signal=both", nil},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := newStation(b, c.opts...)
			client := s.connect(b, srv, "main")
			policy, key := as.NewPolicy(), newKey(b, 1)
			require.NoError(b, client.Put(patient(b), nil, key, as.BinMap{"i": 1}))
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := client.Get(ctx, policy, key); err != nil {
					b.Fatal(err)
				}
				if i&1023 == 0 {
					s.spans.Reset()
				}
			}
		})
	}
}
