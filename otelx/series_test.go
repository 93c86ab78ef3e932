package otelx_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/otelx"
)

// M-02, G-OTEL-4: any number of names make no more series than are allowed, in metrics; spans
// have them.
func TestSeriesAreBounded(t *testing.T) {
	b := newBench(t, otelx.WithMaxSeries(10), otelx.WithSpans(otelx.SpansUnderParent))
	const n = 100_000
	for i := range n {
		call := get()
		call.Collection = fmt.Sprint(i)
		b.observe(t, call, spillway.CallResult{})
	}
	seen := b.values(t, callMetric)
	require.Len(t, seen, 4, "three kinds and the rest; each has room for its failures")
	require.Equal(t, float64(n-3), seen["_OTHER,aerospike"])
	b.observe(t, spillway.Call{System: "a system of its own"}, spillway.CallResult{})
	require.Equal(t, 1.0, b.values(t, callMetric)["_OTHER,_OTHER"])
	ctx, root := b.traces.Tracer("test").Start(t.Context(), "request")
	call := get()
	call.Collection = "late"
	_, o := b.Observer().Begin(ctx, call)
	o.End(spillway.CallResult{})
	root.End()
	s := b.takeSpans()[0]
	require.Equal(t, "GET late", s.Name)
	require.Contains(t, attributesOf(s), "db.collection.name=late")
}

// G-OTEL-4: the same for what errors say of themselves.
func TestFailuresAreBounded(t *testing.T) {
	b := newBench(t, otelx.WithMaxSeries(8))
	for i := range 1000 {
		b.observe(t, spillway.Call{System: "x"}, spillway.CallResult{Err: answer{fmt.Sprint(i), i}})
	}
	require.Equal(t, map[string]float64{"0,x,0": 1, "1,x,1": 1, "x,_OTHER": 998}, b.values(t, callMetric))
	work := otelx.Operation[int](b.Instrumentation, "work")
	for i := range 1000 {
		_, _ = work(func(context.Context) (int, error) { return 0, answer{fmt.Sprint(i), i} })(t.Context())
	}
	seen := b.values(t, "spillway.operation.duration")
	require.Len(t, seen, 65)
	require.Equal(t, float64(1000-64), seen["_OTHER,work"])
}

// G-OTEL-4: in no metric there are ever more sets of attributes than the option says, those that
// stand for the rest included, and nothing is lost.
func TestSeriesNeverExceedTheOption(t *testing.T) {
	for _, most := range []int{6, 7, 10, 33, 200} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(most)))
			b := newBench(t, otelx.WithMaxSeries(most), otelx.WithReturnedRows(), otelx.WithSpans(otelx.SpansNever))
			const n = 3000
			wells := 0
			for range n {
				call := get()
				call.System = []string{"", "aerospike", "postgresql", "redis"}[r.IntN(4)]
				call.Client = fmt.Sprint("client", r.IntN(3))
				call.Operation = fmt.Sprint("op", r.IntN(40))
				call.Collection = fmt.Sprint("set", r.IntN(40))
				result := spillway.CallResult{Backend: 1, Rows: 1, Outcome: spillway.Outcome(r.IntN(12))}
				switch r.IntN(3) {
				case 0:
					result.Err = answer{fmt.Sprint("code", r.IntN(20)), 1}
				case 1:
					result.Err = errors.New("without a type")
				default:
					wells++
				}
				b.observe(t, call, result)
			}
			for name, want := range map[string]int{callMetric: n, backendMetric: n, "db.client.response.returned_rows": wells} {
				seen, sum := b.values(t, name), 0.0
				for _, count := range seen {
					sum += count
				}
				require.LessOrEqual(t, len(seen), most, name)
				require.Equal(t, float64(want), sum, name)
			}
		})
	}
}

// G-OTEL-4: a kind of calls that has its series can always say that they fail, and an answer
// that is no error doesn't become one because there is no room for it.
func TestFailuresStayFailuresWithoutRoom(t *testing.T) {
	b := newBench(t, otelx.WithMaxSeries(6))
	first := get()
	b.observe(t, first, spillway.CallResult{})
	b.observe(t, first, spillway.CallResult{Err: answer{"TIMEOUT", 9}})
	b.observe(t, first, spillway.CallResult{Err: answer{"KEY_NOT_FOUND_ERROR", 2}})
	second := get()
	second.Collection = "orders"
	b.observe(t, second, spillway.CallResult{Err: answer{"TIMEOUT", 9}})
	b.observe(t, second, spillway.CallResult{Err: answer{"KEY_NOT_FOUND_ERROR", 2}})
	require.Equal(t, map[string]float64{
		"users,test,GET,aerospike,db.example,main":        2,
		"users,test,GET,aerospike,_OTHER,db.example,main": 1,
		"_OTHER,aerospike,_OTHER":                         1,
		"_OTHER,aerospike":                                1,
	}, b.values(t, callMetric))
}

// Calls from everywhere at once, of kinds that nobody has seen before.
func TestObserverConcurrentSafe(t *testing.T) {
	b := newBench(t, otelx.WithMaxSeries(50))
	done := make(chan struct{})
	for g := range 4 {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := range 200 {
				call := get()
				call.Collection = fmt.Sprint(i % 40)
				var err error
				if (g+i)%3 == 0 {
					err = answer{fmt.Sprint(i % 20), i}
				}
				_, o := b.Observer().Begin(context.Background(), call)
				o.End(spillway.CallResult{Err: err, Backend: 1, Outcome: spillway.OutcomeOf(err)})
			}
		}()
	}
	for range 4 {
		<-done
	}
	require.LessOrEqual(t, len(b.values(t, callMetric)), 50)
	require.LessOrEqual(t, len(b.values(t, backendMetric)), 50)
	sum := 0.0
	for _, n := range b.values(t, callMetric) {
		sum += n
	}
	require.Equal(t, 800.0, sum)
	require.Len(t, b.takeSpans(), 800)
}
