package main

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
)

func TestParse(t *testing.T) {
	_, err := parse([]string{"-duration", "1ms"})
	require.ErrorContains(t, err, "-duration is 1ms")
	for _, args := range [][]string{{"-only", "nonsense"}, {"-only", "stall", "-hosts", "a:3000"}, {"stall"}} {
		_, err := parse(args)
		require.Error(t, err, "%v", args)
	}
	o, err := parse([]string{"-only", "stall"})
	require.NoError(t, err)
	require.Contains(t, stamp(o), `Only the scenarios with "stall"`)
	require.ErrorContains(t, run(t.Context(), options{role: "cook"}), `-role is "cook"`)
}

// repeat gives n bins of v, and then the rest.
func repeat(n, v int, rest ...int) []int {
	var all []int
	for range n {
		all = append(all, v)
	}
	return append(all, rest...)
}

func TestRecovery(t *testing.T) {
	s := scenario{events: []event{{at: time.Second}}}
	for name, tc := range map[string]struct {
		ok, failed []int
		want       time.Duration
		never      bool
	}{
		"at once":      {repeat(25, 100), repeat(25, 0), 0, false},
		"after 300 ms": {repeat(30, 100), append(repeat(10, 0, 50, 2, 2), repeat(17, 1)...), 300 * time.Millisecond, false},
		"too short":    {repeat(15, 100), repeat(15, 0), 0, true},
		"relapse":      {repeat(30, 100), append(repeat(19, 0, 9), repeat(10, 0)...), 0, true},
		"silence":      {repeat(10, 100, repeat(20, 0)...), repeat(30, 0), 0, true},
	} {
		r := row{scenario: s, results: []result{{BinOK: tc.ok, BinFailed: tc.failed}}}
		got, ok := r.recovery()
		require.Equal(t, !tc.never, ok, name)
		require.Equal(t, tc.want, got, name)
	}
}

func TestFigures(t *testing.T) {
	r := row{
		scenario: scenario{capacity: 110, does: 100, load: spec{Rate: 300}},
		results:  []result{{OK: 90, Seconds: 2}, {OK: 30, Seconds: 2}},
	}
	slow := spillway.DistributionBucket(time.Second)
	r.results[0].Latencies.Buckets[0], r.results[1].Latencies.Buckets[slow] = 90, 30
	require.InDelta(t, 60, r.goodput(), 1e-9)
	require.InDelta(t, 0.6, r.share(), 1e-9, "of the capacity, which is less than what was asked for")
	require.InDelta(t, 0.8, r.jain(), 1e-9)
	require.Equal(t, spillway.DistributionBound(0), r.quantile(.5), "of the calls of both")
	require.Equal(t, spillway.DistributionBound(slow), r.quantile(.99))
	require.Zero(t, row{results: []result{{}, {}}}.jain())
}

// What a side's bad minute does to it doesn't count.
func TestMiddle(t *testing.T) {
	run := func(ok int) row { return row{results: []result{{OK: ok, Seconds: 1}}} }
	require.InDelta(t, 20, middle([]row{run(90), run(1), run(20)}).goodput(), 1e-9)
	require.InDelta(t, 5, middle([]row{run(5)}).goodput(), 1e-9)
}

// A server and a client as the command runs them, but in this process: what goes over the pipes is the same.
func TestServerAndClient(t *testing.T) {
	ask := func(f func(io.Reader, io.Writer) error) (*json.Encoder, *json.Decoder, func()) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- f(inR, outW) }()
		return json.NewEncoder(inW), json.NewDecoder(outR), func() {
			require.NoError(t, inW.Close())
			require.NoError(t, <-ended)
		}
	}
	orders, replies, end := ask(serve)
	var r reply
	order1 := func(o order) reply {
		require.NoError(t, orders.Encode(o))
		r = reply{}
		require.NoError(t, replies.Decode(&r))
		return r
	}
	hosts := order1(order{Do: "start", Nodes: 2}).Hosts
	require.Len(t, hosts, 2)
	require.Contains(t, order1(order{Do: "dance"}).Error, "dance")

	for _, side := range []string{sideRaw, sideCounter, sideSpillway} {
		s := spec{Hosts: hosts, Side: side, Limit: 4, Callers: 4, Rate: 200, Writes: true, Deadline: 5 * time.Second, Duration: 200 * time.Millisecond}
		specs, results, endClient := ask(func(in io.Reader, out io.Writer) error { return client(t.Context(), in, out) })
		require.NoError(t, specs.Encode(s))
		var word string
		require.NoError(t, results.Decode(&word))
		require.Equal(t, "ready", word)
		require.NoError(t, specs.Encode("go"))
		var res result
		require.NoError(t, results.Decode(&res))
		require.Positive(t, res.OK, side)
		require.Zero(t, res.Unread, side)
		require.EqualValues(t, res.OK, res.Latencies.Count, side)
		endClient()
	}
	end()
}

// held is a load on a side that answers after so long.
func held(s spec, took time.Duration) *load {
	answer := func(context.Context, *as.Key) error {
		time.Sleep(took)
		return nil
	}
	return newLoad(s, side{get: answer}, []*as.Key{nil})
}

// What all callers together should have sent and couldn't, because each waited for an answer, is
// late: a side that answers slowly isn't asked less.
func TestLoadCountsWhatWasNeverSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := held(spec{Callers: 2, Rate: 200, Deadline: 30 * time.Millisecond, Duration: time.Second}, 100*time.Millisecond)
		l.run(t.Context())
		require.Zero(t, l.result.OK)
		require.InDelta(t, 200, l.result.Late, 2)
		require.Less(t, l.result.Latencies.Count, uint64(25))
	})
}

// Goroutines are counted while callers call.
func TestLoadLooksAtTheProcessUnderLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := held(spec{Callers: 500, Duration: time.Second}, 100*time.Millisecond)
		l.run(t.Context())
		require.Greater(t, l.result.Goroutines, 500)
	})
}

// The picture shows Spillway as it is by default, not the best of its settings.
func TestPictureIsOfTheDefault(t *testing.T) {
	s := scenario{name: "processes", processes: 2}
	got := func(side string, limit, ok int) row {
		return row{scenario: s, side: side, limit: limit, results: []result{{OK: ok, Seconds: 1}}}
	}
	lines := over([]row{got(sideRaw, 0, 1), got(sideCounter, 24, 2), got(sideCounter, 48, 3), got(sideSpillway, 0, 4), got(sideSpillway, 6, 5), got(sideAdaptive, 0, 6)}, s.name)
	require.Equal(t, [][]float64{{1}, {3}, {4}}, [][]float64{lines[0].ys, lines[1].ys, lines[2].ys})
}

func TestReportIsWellFormed(t *testing.T) {
	dir := t.TempDir()
	var rows []row
	for _, s := range scenarios() {
		for _, r := range s.sides() {
			for range r.processes {
				r.results = append(r.results, result{OK: 10, Seconds: 4, BinOK: repeat(40, 5), BinFailed: repeat(40, 1)})
			}
			rows = append(rows, r)
		}
	}
	require.NoError(t, report(rows, options{out: dir}))
	pictures, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	require.NoError(t, err)
	require.Len(t, pictures, 6)
	for _, p := range pictures {
		raw, err := os.ReadFile(p)
		require.NoError(t, err)
		require.NoError(t, xml.Unmarshal(raw, new(struct{})), p)
	}
}
