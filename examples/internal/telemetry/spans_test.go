package telemetry_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/retry"
)

type item struct {
	I int `as:"i"`
}

// arguments are what methods are called with, by type; strings are used up in order.
type arguments struct {
	t       *testing.T
	values  map[reflect.Type]any
	strings []string
}

func newArguments(t *testing.T, client *aerospike.Client, method string) *arguments {
	t.Helper()
	keys := []*as.Key{newKey(t, 1), newKey(t, 2)}
	a := &arguments{t: t, strings: []string{"test", "s", "x", "y"}}
	switch {
	case strings.HasSuffix(method, "FromFile"):
		file := filepath.Join(t.TempDir(), "m.lua")
		require.NoError(t, os.WriteFile(file, []byte("function f(r) return 1 end"), 0o600))
		a.strings = []string{file, "m.lua"}
	case strings.Contains(method, "UDF") || strings.HasSuffix(method, "Execute") || method == "QueryAggregate" || method == "Execute":
		a.strings = []string{"m", "f"}
	}
	all := []any{
		patient(t), keys[0], keys,
		as.BinMap{"i": 1},
		[]*as.Bin{as.NewBin("i", 1)},
		[]*as.Operation{as.GetBinOp("i")},
		[]any{new(item), new(item)},
		as.NewStatement("test", "s"), client.GetNodes()[0],
		[]*as.BatchRead{as.NewBatchRead(nil, keys[0], nil), as.NewBatchRead(nil, keys[1], nil)},
		[]as.BatchRecordIfc{as.NewBatchWrite(nil, keys[0], as.PutOp(as.NewBin("i", 1))), as.NewBatchRead(nil, keys[1], nil)},
		[]byte("function f(r) return 1 end"), as.LUA, as.NUMERIC,
	}
	a.values = map[reflect.Type]any{reflect.TypeFor[context.Context](): all[0]}
	for _, v := range all {
		a.values[reflect.TypeOf(v)] = v
	}
	return a
}

// of returns an argument of the type: objects to be filled are the only ones of no type.
func (a *arguments) of(typ reflect.Type, method string) reflect.Value {
	switch {
	case typ.Kind() == reflect.String && len(a.strings) > 0:
		s := a.strings[0]
		a.strings = a.strings[1:]
		return reflect.ValueOf(s).Convert(typ)
	case typ == reflect.TypeFor[any]() && (strings.HasPrefix(method, "Scan") || strings.HasPrefix(method, "Query")):
		return reflect.ValueOf(make(chan *item, 100))
	case typ == reflect.TypeFor[any]():
		return reflect.ValueOf(new(item))
	}
	if v, ok := a.values[typ]; ok {
		return reflect.ValueOf(v)
	}
	return reflect.Zero(typ)
}

// call calls a method of the client, and waits until what it started has ended.
func call(t *testing.T, client *aerospike.Client, name string) error {
	t.Helper()
	method := reflect.ValueOf(client).MethodByName(name)
	require.True(t, method.IsValid(), name)
	a := newArguments(t, client, name)
	var in []reflect.Value
	for in0 := range method.Type().Ins() {
		in = append(in, a.of(in0, name))
	}
	var out []reflect.Value
	if method.Type().IsVariadic() {
		out = method.CallSlice(in)
	} else {
		out = method.Call(in)
	}
	for _, v := range out {
		if stream, ok := reflect.TypeAssert[interface {
			Close() error
			Done() <-chan struct{}
		}](v); ok && !v.IsNil() {
			_ = stream.Close()
			<-stream.Done()
		}
	}
	err, _ := reflect.TypeAssert[error](out[len(out)-1])
	return err
}

// R154, R152, M-06, G-OTEL-7: every method of the adapter gives one span, that of its call,
// below the one that its caller is in, and one duration.
func TestEveryMethodHasItsSpan(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	s := newStation(t)
	client := s.connect(t, srv, "main")
	fill(t, client, 5)
	s.take()
	seen := 0.0
	for _, op := range aerospike.Operations() {
		if op.Exempt != "" {
			continue
		}
		// TaskDone is what the driver's tasks ask by.
		if op.Name == "TaskDone" {
			continue
		}
		before := sum(s.collect(t), "db.client.operation.duration")
		err := call(t, client, op.Name)
		spans := s.take()
		require.Len(t, spans, 1, "%s: %v", op.Name, err)
		span := spans[0]
		attributes := attributesOf(span)
		seen++
		require.InDelta(t, before+1, sum(s.collect(t), "db.client.operation.duration"), 0, op.Name)
		require.Equal(t, trace.SpanKindClient, span.SpanKind)
		require.Equal(t, "aerospike", attributes["db.system.name"])
		require.Equal(t, "main", attributes["spillway.component.name"])
		require.Equal(t, "127.0.0.1", attributes["server.address"])
		require.NotEmpty(t, attributes["server.port"])
		require.Regexp(t, `^[A-Z]+[A-Z_ ]*$`, attributes["db.operation.name"])
		require.True(t, strings.HasPrefix(span.Name, attributes["db.operation.name"]), span.Name)
		if op.Kind == spillway.KindRead || op.Kind == spillway.KindWrite || op.Kind == spillway.KindStream || op.Kind == spillway.KindJob {
			require.Equal(t, "test", attributes["db.namespace"], op.Name)
			require.Equal(t, "s", attributes["db.collection.name"], op.Name)
			require.Equal(t, attributes["db.operation.name"]+" s", span.Name)
		}
		require.Equal(t, op.Lane == aerospike.LaneBatch, attributes["db.operation.batch.size"] == "2", op.Name)
		require.Equal(t, span.Status.Code == codes.Error, attributes["error.type"] != "", "%s: %v", op.Name, attributes)
		if err == nil {
			require.Empty(t, attributes["error.type"], op.Name)
		}
	}
	require.Greater(t, seen, 50.0)
}

// A stream's span ends when the stream does, and not before.
func TestStreamSpanEndsWithTheStream(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	s := newStation(t)
	client := s.connect(t, srv, "main")
	fill(t, client, 5)
	s.take()
	stream, err := client.ScanAll(patient(t), nil, "test", "s")
	require.NoError(t, err)
	require.Empty(t, s.take())
	for _, err := range stream.All() {
		require.NoError(t, err)
	}
	<-stream.Done()
	spans := s.take()
	require.Len(t, spans, 1)
	require.Equal(t, "SCAN s", spans[0].Name)
	require.Equal(t, codes.Unset, spans[0].Status.Code)
}

// M-05: what is refused has a span and a duration too, and says why; it never came to the
// backend.
func TestRefusalsAreSeen(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	s := newStation(t)
	client := s.connect(t, srv, "main", func(c *aerospike.Config) { c.Mode = spillway.RefuseAll })
	_, err := client.Get(patient(t), nil, newKey(t, 1))
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	span := s.take()[0]
	attributes := attributesOf(span)
	require.Equal(t, codes.Error, span.Status.Code)
	require.Equal(t, "refuse_all", attributes["error.type"])
	require.NotContains(t, attributes, "db.response.status_code")
	require.NotContains(t, attributes, "spillway.backend.node")
	points := s.collect(t)
	require.InDelta(t, 1, sum(points, "db.client.operation.duration", "error.type=refuse_all", "db.operation.name=GET"), 0)
	require.Zero(t, sum(points, "spillway.backend.duration"))
	require.InDelta(t, 1, sum(points, "spillway.limiter.acquisitions", "error.type=refuse_all", "spillway.lane.name=read"), 0)
}

// What the server answered, over several attempts: one span, one duration, the last
// answer, and how often it was tried.
func TestRetriesAreOneCall(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	s := newStation(t)
	client := s.connect(t, srv, "main", func(c *aerospike.Config) {
		c.Reads.Hooks = append(c.Reads.Hooks, s.RetryHooks())
		c.Reads.Base = 1
	})
	fill(t, client, 1)
	s.take()
	busy := aerospiketest.Fault{Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload}
	fault := srv.Inject(busy)
	_, err := client.Get(patient(t), nil, newKey(t, 0))
	var exhausted *retry.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	fault.Remove()
	attributes := attributesOf(s.take()[0])
	require.Equal(t, "DEVICE_OVERLOAD", attributes["error.type"])
	require.Equal(t, "DEVICE_OVERLOAD", attributes["db.response.status_code"])
	require.Equal(t, "18", attributes["aerospike.result_code"])
	require.NotEqual(t, "1", attributes["spillway.retry.attempt_count"])
	require.Equal(t, "A1", attributes["spillway.backend.node"])
	require.Positive(t, sum(s.collect(t), "spillway.retry.delay.duration", "spillway.retry.name=main/reads"))

	// A record that isn't there is an answer; a write that may have been done is in doubt.
	_, err = client.Get(patient(t), nil, newKey(t, "nobody"))
	require.ErrorIs(t, err, as.ErrKeyNotFound)
	span := s.take()[0]
	require.Equal(t, codes.Unset, span.Status.Code)
	require.Equal(t, "KEY_NOT_FOUND_ERROR", attributesOf(span)["db.response.status_code"])
	srv.Inject(aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionReset})
	require.Error(t, client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"i": 1}))
	attributes = attributesOf(s.take()[0])
	require.Equal(t, "true", attributes["aerospike.in_doubt"])
	require.Equal(t, "NETWORK_ERROR", attributes["error.type"])
	require.NotContains(t, attributes, "db.response.status_code")
}

// Waits are told of in the lane's histogram, by lane, and in the call's span.
func TestWaitsAreSeen(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	s := newStation(t)
	client := s.connect(t, srv, "main", func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(8)
		i := slices.IndexFunc(c.Lanes, func(l aerospike.LaneConfig) bool { return l.Name == aerospike.LaneRead })
		c.Lanes[i].Limit, c.Lanes[i].MaxWaiting, c.Lanes[i].MaxWait = 1, 1, 5_000_000
	})
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindsRead})
	held := make(chan error, 1)
	go func() { _, err := client.Exists(patient(t), nil, newKey(t, 1)); held <- err }()
	require.NoError(t, gate.Wait(patient(t), 1))
	_, err := client.Exists(patient(t), nil, newKey(t, 1))
	require.ErrorIs(t, err, spillway.ErrBackpressure)
	gate.Release()
	require.NoError(t, <-held)
	spans := s.take()
	require.Equal(t, "max_wait_exceeded", attributesOf(spans[0])["error.type"])
	require.NotEmpty(t, attributesOf(spans[0])["spillway.limiter.wait.duration"])
	require.InDelta(t, 1, sum(s.collect(t), "spillway.limiter.wait.duration", "spillway.limiter.name=main", "spillway.lane.name=read"), 0)
}
