package otelx_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/otelx"
	"github.com/spillway-go/spillway/retry"
)

const (
	callMetric    = "db.client.operation.duration"
	backendMetric = "spillway.backend.duration"
)

// get is a call as the Aerospike adapter makes it.
func get() spillway.Call {
	return spillway.Call{
		System: "aerospike", Client: "main", Server: "db.example", Port: 3000,
		Operation: "Get", Namespace: "test", Collection: "users", Kind: spillway.KindRead,
	}
}

// observe has b see a call that ends so.
func (b *bench) observe(t testing.TB, call spillway.Call, r spillway.CallResult) {
	t.Helper()
	_, o := b.Observer().Begin(t.Context(), call)
	o.End(r)
}

// G-OTEL-7: what a call's span says, by the stable conventions.
func TestSpanOfACall(t *testing.T) {
	b := newBench(t, otelx.WithReturnedRows())
	parent, root := b.traces.Tracer("test").Start(t.Context(), "request")
	ctx, o := b.Observer().Begin(parent, get())
	require.NotEqual(t, parent, ctx)
	require.True(t, trace.SpanFromContext(ctx).IsRecording(), "the call goes on within its span")
	o.End(spillway.CallResult{Node: "A1", Peer: "10.0.0.7", PeerPort: 3000, Attempts: 3, Waited: 2 * time.Millisecond, Backend: time.Millisecond, Rows: 1})
	root.End()
	spans := b.takeSpans()
	require.Len(t, spans, 2)
	s := spans[0]
	require.Equal(t, "GET users", s.Name)
	require.Equal(t, trace.SpanKindClient, s.SpanKind)
	require.Equal(t, root.SpanContext().SpanID(), s.Parent.SpanID())
	require.Equal(t, codes.Unset, s.Status.Code)
	require.Equal(t, []string{
		"db.collection.name=users", "db.namespace=test", "db.operation.name=GET", "db.response.returned_rows=1",
		"db.system.name=aerospike", "network.peer.address=10.0.0.7", "network.peer.port=3000", "server.address=db.example", "spillway.backend.node=A1",
		"spillway.component.name=main", "spillway.limiter.wait.duration=0.002", "spillway.retry.attempt_count=3",
	}, attributesOf(s))
	require.Equal(t, otelx.ScopeName, s.InstrumentationScope.Name)
	require.Contains(t, s.InstrumentationScope.SchemaURL, "schemas/1.")
}

func TestSpanOfAFailedCall(t *testing.T) {
	b := newBench(t)
	exhausted := &retry.ExhaustedError{Report: retry.Report{Reason: retry.StopAttempts, Err: answer{"DEVICE_OVERLOAD", 18}}}
	b.observe(t, get(), spillway.CallResult{Err: exhausted, Attempts: 2, Rows: -1})
	s := b.takeSpans()[0]
	require.Equal(t, codes.Error, s.Status.Code)
	require.Equal(t, exhausted.Error(), s.Status.Description)
	require.Empty(t, s.Events, "attempts and errors are no events")
	require.Subset(t, attributesOf(s), []string{
		"aerospike.in_doubt=true", "aerospike.result_code=18", "db.response.status_code=DEVICE_OVERLOAD", "error.type=DEVICE_OVERLOAD",
	})
	require.Equal(t, map[string]float64{"users,test,GET,DEVICE_OVERLOAD,aerospike,DEVICE_OVERLOAD,db.example,main": 1}, b.values(t, callMetric))
}

// hostile is an error whose methods panic.
type hostile struct{}

func (hostile) Error() string     { panic("no text") }
func (hostile) ErrorType() string { panic("no type") }

// silent is an error whose type is empty.
type silent struct{ error }

func (silent) ErrorType() string { return "" }

// What error.type says is a closed set, whatever the error; X10's and the contexts' among
// them.
func TestErrorTypes(t *testing.T) {
	refusal := &spillway.Rejection{Reason: spillway.ReasonQueueFull}
	for want, err := range map[string]error{
		"queue_full":        refusal,
		"limit_reached":     fmt.Errorf("wrapped: %w", &spillway.Rejection{Reason: spillway.ReasonLimit}),
		"closed":            &spillway.ClosedError{},
		"canceled":          fmt.Errorf("wrapped: %w", context.Canceled),
		"deadline_exceeded": context.DeadlineExceeded,
		"panic":             &spillway.PanicError{Value: 1},
		"budget_exhausted":  &retry.ExhaustedError{Report: retry.Report{Reason: retry.StopBudget, Err: errors.New("x")}},
		"NETWORK_ERROR":     unanswered{},
		"_OTHER":            errors.New("something else"),
	} {
		b := newBench(t)
		b.observe(t, spillway.Call{System: "aerospike", Operation: "Put"}, spillway.CallResult{Err: err})
		require.Equal(t, map[string]float64{"PUT,aerospike," + want: 1}, b.values(t, callMetric), want)
		require.Contains(t, attributesOf(b.takeSpans()[0]), "error.type="+want)
	}
	for _, err := range []error{hostile{}, silent{errors.New("x")}} {
		b := newBench(t)
		b.observe(t, spillway.Call{System: "x"}, spillway.CallResult{Err: err})
		require.Equal(t, map[string]float64{"x,_OTHER": 1}, b.values(t, callMetric))
	}
}

// unanswered is an error of a backend that has answered nothing.
type unanswered struct{}

func (unanswered) Error() string      { return "gone" }
func (unanswered) ErrorType() string  { return "NETWORK_ERROR" }
func (unanswered) StatusCode() string { return "" }

// A record that isn't there is an answer, where one may ask for it.
func TestAnswersThatAreNoErrors(t *testing.T) {
	for _, c := range []struct {
		operation, code string
		isError         bool
	}{
		{"Get", "KEY_NOT_FOUND_ERROR", false},
		{"Operate", "KEY_NOT_FOUND_ERROR", true},
		{"Put", "KEY_EXISTS_ERROR", false},
		{"Put", "GENERATION_ERROR", false},
		{"Query", "FILTERED_OUT", false},
		{"Get", "TIMEOUT", true},
	} {
		b := newBench(t)
		b.observe(t, spillway.Call{System: "aerospike", Operation: c.operation}, spillway.CallResult{Err: answer{c.code, 1}})
		s := b.takeSpans()[0]
		require.Equal(t, c.isError, s.Status.Code == codes.Error, c)
		require.Contains(t, attributesOf(s), "db.response.status_code="+c.code)
		require.Equal(t, c.isError, len(attributesOf(s)) == 6, attributesOf(s))
	}
	b := newBench(t)
	b.observe(t, spillway.Call{System: "other"}, spillway.CallResult{Err: answer{"KEY_EXISTS_ERROR", 1}})
	require.Equal(t, codes.Error, b.takeSpans()[0].Status.Code, "which only Aerospike means so")
}

// G-OTEL-3: functions of the user's are asked, and may panic.
func TestFunctionsOfTheUsers(t *testing.T) {
	last := ""
	b := newBench(t,
		otelx.WithErrorClassifier(func(call spillway.Call, err error) bool { last = call.Operation + " " + err.Error(); return false }),
		otelx.WithSpanNameFormatter(func(call spillway.Call) string { return call.Namespace + "." + call.Collection }))
	b.observe(t, get(), spillway.CallResult{Err: errors.New("x")})
	require.Equal(t, "Get x", last)
	s := b.takeSpans()[0]
	require.Equal(t, "test.users", s.Name)
	require.Equal(t, codes.Unset, s.Status.Code)
	require.Equal(t, map[string]float64{"users,test,GET,aerospike,db.example,main": 1}, b.values(t, callMetric))

	sizes := newBench(t, otelx.WithSpanNameFormatter(func(call spillway.Call) string {
		if call.BatchSize > 100 {
			return "large"
		}
		return "small"
	}))
	for _, n := range []int{2, 200} { // of one series
		sizes.observe(t, spillway.Call{System: "aerospike", Operation: "BatchGet", BatchSize: n}, spillway.CallResult{})
	}
	named := sizes.takeSpans()
	require.Equal(t, []string{"small", "large"}, []string{named[0].Name, named[1].Name})

	rude := newBench(t, otelx.WithErrorClassifier(func(spillway.Call, error) bool { panic(1) }),
		otelx.WithSpanNameFormatter(func(spillway.Call) string { panic(2) }))
	rude.observe(t, get(), spillway.CallResult{Err: errors.New("x")})
	s = rude.takeSpans()[0]
	require.Equal(t, "GET users", s.Name)
	require.Equal(t, codes.Error, s.Status.Code)

	var in *otelx.Instrumentation
	nested := newBench(t, otelx.WithSpanNameFormatter(func(call spillway.Call) string {
		if call.Operation == "Get" { // a formatter that looks something up
			_, o := in.Observer().Begin(t.Context(), spillway.Call{Operation: "inner"})
			o.End(spillway.CallResult{})
		}
		return call.Operation
	}))
	in = nested.Instrumentation
	nested.observe(t, get(), spillway.CallResult{})
	require.Len(t, nested.takeSpans(), 2)
}

// Which calls get a span; the duration is recorded of all of them.
func TestSpanModes(t *testing.T) {
	for mode, want := range map[otelx.SpanMode][2]int{otelx.SpansAlways: {1, 1}, otelx.SpansUnderParent: {0, 1}, otelx.SpansNever: {0, 0}} {
		b := newBench(t, otelx.WithSpans(mode))
		b.observe(t, get(), spillway.CallResult{})
		_, err := otelx.Operation[int](b.Instrumentation, "alone")(func(context.Context) (int, error) { return 0, nil })(t.Context())
		require.NoError(t, err)
		require.Len(t, b.takeSpans(), 2*want[0])
		ctx, root := b.traces.Tracer("test").Start(t.Context(), "request")
		ctx, o := b.Observer().Begin(ctx, get())
		o.End(spillway.CallResult{})
		root.End()
		require.Len(t, b.takeSpans(), want[1]+1)
		require.NotNil(t, ctx)
		require.Equal(t, map[string]float64{"users,test,GET,aerospike,db.example,main": 2}, b.values(t, callMetric))
	}
}

// The time in the backend is by itself, and only of calls that came there.
func TestBackendDuration(t *testing.T) {
	b := newBench(t)
	b.observe(t, get(), spillway.CallResult{Backend: 3 * time.Millisecond, Attempts: 1})
	b.observe(t, get(), spillway.CallResult{Backend: time.Millisecond, Attempts: 1, Err: answer{"TIMEOUT", 9}, Outcome: spillway.OutcomeTimeout})
	b.observe(t, get(), spillway.CallResult{Err: &spillway.Rejection{}, Outcome: spillway.OutcomeLocal})
	b.observe(t, get(), spillway.CallResult{Backend: 1, Outcome: 99})
	require.Equal(t, map[string]float64{"GET,main,ok": 1, "GET,main,timeout": 1, "GET,main,unknown": 1}, b.values(t, backendMetric))
	h, ok := b.collect(t)[backendMetric].Data.(metricdata.Histogram[float64])
	require.True(t, ok)
	require.Equal(t, []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10}, h.DataPoints[0].Bounds)
	own := newBench(t, otelx.WithDurationBuckets(1, 2))
	own.observe(t, get(), spillway.CallResult{})
	each(t, own.collect(t)[callMetric], func(_ attribute.Set, _ float64, bounds []float64) { require.Equal(t, []float64{1, 2}, bounds) })
}

// A traced call's durations carry its span as an exemplar.
func TestExemplars(t *testing.T) {
	b := newBench(t)
	b.observe(t, get(), spillway.CallResult{Backend: 1})
	id := b.takeSpans()[0].SpanContext.SpanID()
	for _, name := range []string{callMetric, backendMetric} {
		h, ok := b.collect(t)[name].Data.(metricdata.Histogram[float64])
		require.True(t, ok)
		require.Len(t, h.DataPoints[0].Exemplars, 1)
		require.Equal(t, id[:], h.DataPoints[0].Exemplars[0].SpanID, name)
	}
}

func TestWithoutCollectionName(t *testing.T) {
	for _, order := range [][]string{{"a", "b", ""}, {"", "a", "b"}} {
		b := newBench(t, otelx.WithoutCollectionName(), otelx.WithMaxSeries(6))
		for _, collection := range order {
			call := get()
			call.Collection = collection
			b.observe(t, call, spillway.CallResult{})
		}
		require.Equal(t, map[string]float64{"test,GET,aerospike,db.example,main": 3}, b.values(t, callMetric))
		for i, span := range b.takeSpans() {
			if order[i] == "" {
				require.Equal(t, "GET test", span.Name)
				continue
			}
			require.Equal(t, "GET "+order[i], span.Name)
			require.Contains(t, attributesOf(span), "db.collection.name="+order[i])
		}
	}
}

// Verbs are a closed list, and a batch of one is the operation itself.
func TestOperationNames(t *testing.T) {
	for _, c := range []struct {
		method string
		size   int
		want   string
	}{
		{"Get", 0, "GET"},
		{"GetObject", 0, "GET"},
		{"GetHeader", 0, "GET_HEADER"},
		{"PutBins", 0, "PUT"},
		{"PrependBins", 0, "PREPEND"},
		{"Execute", 0, "APPLY"},
		{"BatchGet", 7, "BATCH GET"},
		{"BatchGet", 1, "GET"},
		{"BatchGetOperate", 2, "BATCH GET"},
		{"BatchGetHeader", 0, "BATCH GET_HEADER"},
		{"BatchExists", 3, "BATCH EXISTS"},
		{"BatchDelete", 3, "BATCH DELETE"},
		{"BatchExecute", 3, "BATCH APPLY"},
		{"BatchOperate", 3, "BATCH"},
		{"BatchOperate", 1, "OPERATE"},
		{"ScanPartitionObjects", 0, "SCAN"},
		{"QueryAggregate", 0, "QUERY"},
		{"QueryExecute", 0, "QUERY_OPERATE"},
		{"ExecuteUDFNode", 0, "QUERY_APPLY"},
		{"QueryUsers", 0, "QUERY_USERS"},
		{"RegisterUDFFromFile", 0, "REGISTER_UDF_FROM_FILE"},
		{"SetXDRFilter", 0, "SET_XDR_FILTER"},
		{"ListUDF", 0, "LIST_UDF"},
		{"Truncate", 0, "TRUNCATE"},
	} {
		b := newBench(t)
		b.observe(t, spillway.Call{System: "aerospike", Operation: c.method, BatchSize: c.size, Namespace: "test"}, spillway.CallResult{})
		s := b.takeSpans()[0]
		require.Equal(t, c.want+" test", s.Name)
		require.Contains(t, attributesOf(s), "db.operation.name="+c.want)
		size := fmt.Sprintf("db.operation.batch.size=%d", c.size)
		if len(c.method) > 5 && c.method[:5] == "Batch" && c.size != 1 {
			require.Contains(t, attributesOf(s), size)
		} else {
			require.NotContains(t, attributesOf(s), size)
		}
	}
	b := newBench(t)
	b.observe(t, spillway.Call{System: "postgresql", Operation: "SELECT", Server: "db", Port: 3000}, spillway.CallResult{})
	b.observe(t, spillway.Call{System: "postgresql"}, spillway.CallResult{})
	spans := b.takeSpans()
	require.Equal(t, "SELECT", spans[0].Name, "what others say is theirs")
	require.Contains(t, attributesOf(spans[0]), "server.port=3000")
	require.Equal(t, "postgresql", spans[1].Name)
}

// The middleware is the observer for those who tell none; a panic goes through it, and is
// noted.
func TestMiddlewareAndOperationLetPanicsThrough(t *testing.T) {
	b := newBench(t)
	call := spillway.Call{System: "postgresql", Operation: "SELECT"}
	for name, last := range map[string]func(){"panic": func() { panic("op") }, "goexit": runtime.Goexit} {
		for _, d := range []spillway.Decorator[int]{spillway.Lift[int](b.Middleware(), call), otelx.Operation[int](b.Instrumentation, "work")} {
			gone := make(chan any, 1)
			go func() {
				defer func() { gone <- recover() }()
				_, _ = d(func(context.Context) (int, error) { last(); return 0, nil })(context.Background())
			}()
			if v := <-gone; name == "panic" {
				require.Equal(t, "op", v)
			}
			s := b.takeSpans()[0]
			require.Equal(t, codes.Error, s.Status.Code)
			require.Contains(t, attributesOf(s), "error.type=panic")
		}
	}
	v, err := spillway.Lift[int](b.Middleware(), call)(func(context.Context) (int, error) { return 7, errors.New("x") })(t.Context())
	require.EqualError(t, err, "x")
	require.Equal(t, 7, v)
	require.Equal(t, map[string]float64{"SELECT,postgresql,_OTHER": 1, "SELECT,postgresql,panic": 2}, b.values(t, callMetric))
	require.Equal(t, map[string]float64{"panic,work": 2}, b.values(t, "spillway.operation.duration"))
}

// An observation that has ended is used again: an end too many counts nothing.
func TestEndTwice(t *testing.T) {
	b := newBench(t)
	_, o := b.Observer().Begin(t.Context(), get())
	o.End(spillway.CallResult{})
	o.End(spillway.CallResult{})
	require.Len(t, b.takeSpans(), 1)
	require.Equal(t, map[string]float64{"users,test,GET,aerospike,db.example,main": 1}, b.values(t, callMetric))
}

// nilError panics whenever it is asked anything, as a nil pointer that is returned as an error.
type nilError struct{ inner error }

func (e *nilError) Error() string { return e.inner.Error() }
func (e *nilError) Unwrap() error { return e.inner }

// G-OTEL-3, G-OTEL-7: an error that panics when it is asked harms neither the call nor what is
// told of it.
func TestErrorsThatPanicHarmNobody(t *testing.T) {
	for name, err := range map[string]error{"an error": (*nilError)(nil), "a refusal": (*spillway.Rejection)(nil)} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			call := spillway.Lift[int](b.Middleware(), spillway.Call{System: "x", Operation: "get"})
			_, got := call(func(context.Context) (int, error) { return 0, err })(t.Context())
			require.Same(t, err, got)
			_, got = otelx.Operation[int](b.Instrumentation, "work")(func(context.Context) (int, error) { return 0, err })(t.Context())
			require.Same(t, err, got)
			require.Len(t, b.takeSpans(), 2)
			require.Equal(t, map[string]float64{"get,x,_OTHER": 1}, b.values(t, callMetric))
		})
	}
}

// halfHostile answers some questions.
type halfHostile struct{ error }

func (halfHostile) ResultCode() int { return 7 }
func (halfHostile) Doubtful() bool  { panic(1) }

// G-OTEL-3: and what was known of it before is on the span.
func TestErrorsThatPanicLateKeepTheSpan(t *testing.T) {
	b := newBench(t)
	b.observe(t, get(), spillway.CallResult{Err: halfHostile{errors.New("x")}, Node: "n1"})
	seen := attributesOf(b.takeSpans()[0])
	require.Contains(t, seen, "spillway.backend.node=n1")
	require.Contains(t, seen, "error.type=_OTHER")
}
