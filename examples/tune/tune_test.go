package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/examples/internal/seeds"
)

func TestParse(t *testing.T) {
	_, err := parse([]string{"-step", "0s", "-classes", "read,scan", "-max-callers", "1", "-max-rate", "NaN", "-set", ""})
	for _, want := range []string{"-step is 0s: must be from 10ms to 1m0s", `-classes has "scan"`, "-max-callers is 1", "-max-rate is NaN", "-set is empty"} {
		require.ErrorContains(t, err, want)
	}
	_, err = parse([]string{"-namespace", "", "-records", "100000", "-size", "100000"})
	require.ErrorContains(t, err, "-namespace is empty")
	require.ErrorContains(t, err, "-records times -size is 10000000000")
	_, err = parse([]string{"-hosts", "a:3000", "b:3000", "-dry-run"}) // which must not be a run
	require.ErrorContains(t, err, `unexpected argument "b:3000"`)
	o, err := parse([]string{"-hosts", "a:3000,b:3000", "-max-callers", "9"})
	require.NoError(t, err)
	require.Equal(t, []string{"a:3000", "b:3000"}, o.hosts)
	require.Equal(t, []int{1, 2, 4, 6, 8}, o.steps())
}

func points(mean time.Duration, rates ...float64) []point {
	var all []point
	for i, r := range rates {
		all = append(all, point{callers: 1 << i, rate: r, mean: mean})
	}
	return all
}

func TestJudge(t *testing.T) {
	for name, tc := range map[string]struct {
		points           []point
		nodes, processes int
		knee, limit      int
		reached          bool
	}{
		// 16 slots of 2 ms are 8000/s: 1.5 times 16 is 24, and the knee was seen at 16.
		"a knee":              {points(2*time.Millisecond, 500, 1000, 2000, 4000, 7900, 8000, 8000), 1, 1, 16, 16, true},
		"three nodes":         {points(2*time.Millisecond, 500, 1000, 2000, 4000, 7900, 8000, 8000), 3, 1, 16, 6, true},
		"eight processes":     {points(2*time.Millisecond, 500, 1000, 2000, 4000, 7900, 8000, 8000), 1, 8, 16, 2, true},
		"more than permits":   {points(2*time.Millisecond, 500, 900, 1000), 1, 1000, 4, 1, false},
		"still growing":       {points(time.Millisecond, 1000, 2000, 4000), 1, 1, 4, 4, false},
		"collapse":            {points(time.Millisecond, 1000, 2000, 1500, 300), 1, 1, 2, 2, true},
		"the queue is beyond": {points(time.Millisecond, 900, 1700, 3000, 3100, 3200), 1, 1, 8, 5, true},
		"nothing":             {points(0, 0, 0), 1, 1, 0, 0, false},
		"no curve":            {points(time.Millisecond, 1000), 1, 1, 0, 0, false},
	} {
		c := curve{class: "read", points: tc.points}
		c.judge(tc.nodes, tc.processes)
		require.Equal(t, []any{tc.knee, tc.limit, tc.reached}, []any{c.knee, c.limit, c.reached}, name)
	}
	c := curve{class: "read", points: points(time.Millisecond, 1000, 2000, 4000), ended: "errors at 8 callers: …", failed: true}
	c.judge(1, 1)
	require.Zero(t, c.limit, "a node that is gone is no reason for a limit of 4")
	require.Contains(t, c.String(), "no limit found; ended by errors")
}

func TestFlat(t *testing.T) {
	for name, tc := range map[string]struct {
		points []point
		want   bool
	}{
		"one":                     {points(0, 1000), false},
		"one more that got less":  {points(0, 1000, 990), false},
		"two":                     {points(0, 1000, 990, 1020), true},
		"growing":                 {points(0, 1000, 1900, 3500), false},
		"little by little":        {points(0, 1000, 1040, 1090), false},
		"behind the knee":         {points(0, 1000, 2000, 2010, 1990), true},
		"not yet twice the knee":  {[]point{{callers: 8, rate: 100}, {callers: 9, rate: 100}, {callers: 10, rate: 100}}, false},
		"a point that went wrong": {points(0, 1000, 2000, 300, 4000), false},
		"collapse":                {points(0, 1000, 2000, 300, 100), true},
		"nothing was asked":       {points(0, 0), false},
	} {
		require.Equal(t, tc.want, flat(tc.points), name)
	}
}

func TestSettingsFitThePoolThatTheyAskFor(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printSettings(&out, []curve{{class: "read", limit: 64}, {class: "write", limit: 40}}))
	require.Contains(t, out.String(), "ConnectionQueueSize of 117 at least")
	_, text, _ := strings.Cut(out.String(), ":\n")
	settings, err := aerospike.ParseSettings([]byte(text))
	require.NoError(t, err)
	for size, ok := range map[int]bool{116: false, 117: true} {
		cfg := aerospike.DefaultConfig("127.0.0.1:3000")
		cfg.ClientPolicy = as.NewClientPolicy()
		cfg.ClientPolicy.ConnectionQueueSize = size
		client, err := aerospike.New(cfg)
		require.NoError(t, err)
		require.Equal(t, ok, client.Apply(settings) == nil, size)
	}
	out.Reset()
	require.NoError(t, printSettings(&out, []curve{{class: "read", limit: 20}}))
	require.NotContains(t, out.String(), "ConnectionQueueSize")
	require.ErrorContains(t, printSettings(&out, []curve{{class: "read"}}), "nothing to apply")
}

func server(t *testing.T) (*aerospiketest.Server, options) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{
		Capacity: aerospiketest.Capacity{Parallel: 2, ServiceTime: time.Millisecond, Queue: 1000},
	})
	o, err := parse([]string{"-step", "50ms", "-max-callers", "4", "-records", "20", "-stop-p99", "30s"})
	require.NoError(t, err)
	o.hosts = srv.Hosts()
	return srv, o
}

// A picture that can't be written is found out before the load, and not after it.
func TestRunLooksForThePictureFirst(t *testing.T) {
	srv, o := server(t)
	o.picture = filepath.Join(t.TempDir(), "nowhere", "curve.svg")
	log := srv.Record()
	require.ErrorContains(t, run(t.Context(), o, io.Discard), "-picture: open ")
	require.Zero(t, log.Len())
}

func TestRunLogsIn(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Security: &aerospiketest.Security{
		Users: []aerospiketest.User{{Name: "tune", Password: "secret", Roles: []string{"read-write"}}},
	}})
	args := []string{"-hosts", strings.Join(srv.Hosts(), ","), "-step", "50ms", "-max-callers", "2", "-records", "5", "-stop-p99", "30s"}
	o, err := parse(args)
	require.NoError(t, err)
	require.Error(t, run(t.Context(), o, io.Discard))
	t.Setenv(seeds.Password, "secret")
	o, err = parse(append(args, "-user", "tune"))
	require.NoError(t, err)
	require.NoError(t, run(t.Context(), o, io.Discard))
	require.Zero(t, srv.Records(o.namespace, o.set))
}

func TestRunLeavesNothingBehind(t *testing.T) {
	srv, o := server(t)
	o.picture = filepath.Join(t.TempDir(), "curve.svg")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), o, &out))
	require.Zero(t, srv.Records("test", o.set))

	_, text, found := strings.Cut(out.String(), "settings for Client.Apply")
	require.True(t, found, out.String())
	_, text, _ = strings.Cut(text, "\n")
	settings, err := aerospike.ParseSettings([]byte(text))
	require.NoError(t, err)
	require.Positive(t, settings.Lanes[aerospike.LaneRead].Limit)
	require.Positive(t, settings.Lanes[aerospike.LaneWrite].Limit)

	raw, err := os.ReadFile(o.picture)
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(raw, new(struct{})), "not well-formed")
}

func TestDryRunSendsNothing(t *testing.T) {
	srv, o := server(t)
	o.dryRun = true
	rec := srv.Record()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), o, &out))
	require.Empty(t, rec.Served())
	require.Contains(t, out.String(), "nothing was sent")
}

func TestRefusesASetWithRecords(t *testing.T) {
	srv, o := server(t)
	client, bad := as.NewClientWithPolicyAndHost(nil, hosts(t, srv)...)
	require.NoError(t, bad)
	defer client.Close()
	key, bad := as.NewKey("test", o.set, "tune-7")
	require.NoError(t, bad)
	require.NoError(t, client.Put(nil, key, as.BinMap{"theirs": 1}))
	require.ErrorContains(t, run(t.Context(), o, new(bytes.Buffer)), "choose another -set")
	require.Equal(t, 1, srv.Records("test", o.set), "somebody else's record is gone")
}

func TestInterruptedRunCleansUp(t *testing.T) {
	srv, o := server(t)
	o.step = 20 * time.Second
	ctx, cancel := context.WithCancel(t.Context())
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindGet})
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, o, new(bytes.Buffer)) }()
	require.NoError(t, gate.Wait(t.Context(), 1))
	cancel()
	gate.Release()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Zero(t, srv.Records("test", o.set))
}

func hosts(t *testing.T, srv *aerospiketest.Server) []*as.Host {
	all, err := as.NewHosts(srv.Hosts()...)
	require.NoError(t, err)
	return all
}
