package aerospike_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"

	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// stress opens streams of every kind, and leaves them in every way.
type stress struct {
	client *aerospike.Client
	compat as.ClientIfc
	alone  bool // whether there is but one node
	scan   *as.ScanPolicy
	query  *as.QueryPolicy
}

// once opens one stream, reads a part of it, and returns when all was given back.
func (s stress) once(ctx context.Context, rnd *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(5+rnd.IntN(200))*time.Millisecond)
	defer cancel()
	most, kind, leave := rnd.IntN(60), rnd.IntN(5), rnd.IntN(4)
	switch kind {
	case 0, 1:
		s.records(ctx, cancel, rnd, most, leave)
	case 2:
		if !s.alone {
			// The driver's producers, one at each node, write to one flag of the filter at the same
			// time, all the same value: the race detector says so.
			return
		}
		s.objects(ctx, cancel, rnd, most, leave)
	default:
		s.recordset(rnd, most, leave)
	}
}

func (s stress) records(ctx context.Context, cancel func(), rnd *rand.Rand, most, leave int) {
	nodes := s.client.GetNodes()
	open := []func() (*aerospike.Stream, error){
		func() (*aerospike.Stream, error) { return s.client.ScanAll(ctx, s.scan, "test", "s") },
		func() (*aerospike.Stream, error) {
			return s.client.ScanPartitions(ctx, s.scan, as.NewPartitionFilterByRange(100, 3000), "test", "s")
		},
		func() (*aerospike.Stream, error) {
			return s.client.ScanNode(ctx, s.scan, nodes[rnd.IntN(len(nodes))], "test", "s")
		},
		func() (*aerospike.Stream, error) { return s.client.Query(ctx, s.query, statement()) },
		func() (*aerospike.Stream, error) {
			return s.client.QueryNode(ctx, s.query, nodes[rnd.IntN(len(nodes))], statement())
		},
	}[rnd.IntN(5)]
	stream, err := open()
	if err != nil {
		return
	}
	defer func() { <-stream.Done() }()
	defer func() { _ = recover() }() // its own panic
	n := 0
	for _, err := range stream.All() {
		if err != nil {
			continue
		}
		if n++; n < most {
			continue
		}
		switch leave {
		case 0:
			return
		case 1:
			cancel()
		case 2:
			go func() { _ = stream.Close() }()
		case 3:
			panic("the consumer's")
		}
	}
}

func (s stress) objects(ctx context.Context, cancel func(), rnd *rand.Rand, most, leave int) {
	ch := make(chan *item, rnd.IntN(3))
	open := []func() (*aerospike.ObjectStream, error){
		func() (*aerospike.ObjectStream, error) { return s.client.ScanAllObjects(ctx, s.scan, ch, "test", "s") },
		func() (*aerospike.ObjectStream, error) { return s.client.QueryObjects(ctx, s.query, statement(), ch) },
	}[rnd.IntN(2)]
	stream, err := open()
	if err != nil {
		return
	}
	n := 0
	for range ch {
		if n++; n < most {
			continue
		}
		if leave == 0 {
			break // nobody reads on, and nobody closes: the context does
		}
		if leave == 1 {
			cancel()
		} else {
			_ = stream.Close()
		}
	}
	_ = stream.Err()
}

func (s stress) recordset(rnd *rand.Rand, most, leave int) {
	ch := make(chan *item, 200) // has room for all
	open := []func() (*as.Recordset, as.Error){
		func() (*as.Recordset, as.Error) { return s.compat.ScanAll(s.scan, "test", "s") },
		func() (*as.Recordset, as.Error) { return s.compat.Query(s.query, statement()) },
		func() (*as.Recordset, as.Error) { return s.compat.ScanAllObjects(s.scan, ch, "test", "s") },
		func() (*as.Recordset, as.Error) { return s.compat.QueryObjects(s.query, statement(), ch) },
	}
	i := rnd.IntN(len(open))
	rs, aerr := open[i]()
	if aerr != nil {
		return
	}
	drain := func() { // the driver's own Close may hang on a producer with an error
		if i >= 2 {
			for range rs.Errors() {
			}
			return
		}
		for range rs.Results() {
		}
	}
	for n := 0; i < 2 && n < most; n++ {
		<-rs.Results()
	}
	switch leave {
	case 0: // abandoned: its time closes it
	case 1:
		drain()
	default:
		go drain()
		_ = rs.Close()
	}
}

// G-AER-4, G-AER-12: streams of every kind, left in every way, beside faults of every kind,
// leave nothing behind; no lane had more of them than it holds, and what was admitted has
// ended.
func TestStreamsLeftInEveryWay(t *testing.T) {
	for nodes := 1; nodes <= 2; nodes++ {
		t.Run(strconv.Itoa(nodes), func(t *testing.T) { leaveStreams(t, nodes) })
	}
}

func leaveStreams(t *testing.T, nodes int) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: nodes})
	const most, rounds = 4, 25
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Lanes = aerospike.DefaultLanes(8)
		c.Lanes[3].Limit = most
	})
	fill(t, client, 120)
	s := stress{client: client, compat: compatOf(t, client), alone: nodes == 1, scan: as.NewScanPolicy(), query: as.NewQueryPolicy()}
	s.scan.RecordQueueSize, s.query.RecordQueueSize = 3, 3
	s.scan.SocketTimeout, s.query.SocketTimeout = 50*time.Millisecond, 50*time.Millisecond
	s.scan.TotalTimeout, s.query.TotalTimeout = 100*time.Millisecond, 100*time.Millisecond
	streams := aerospiketest.Match{Kinds: aerospiketest.KindScan | aerospiketest.KindQuery}
	faults := []aerospiketest.Fault{
		{Action: aerospiketest.ActionReset},
		{Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden},
		{Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload, After: true},
		{Action: aerospiketest.ActionTruncate},
		{Action: aerospiketest.ActionSwallow},
		{Delay: 10 * time.Millisecond},
	}
	var wg sync.WaitGroup
	for i := range 12 {
		rnd := rand.New(rand.NewPCG(uint64(i), uint64(time.Now().UnixNano()))) //nolint:gosec // chance is enough
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range rounds {
				if f := faults[rnd.IntN(len(faults))]; rnd.IntN(4) == 0 {
					f.Match, f.Times = streams, 1
					srv.Inject(f)
				}
				s.once(patient(t), rnd)
			}
		}()
	}
	wg.Wait()
	balanced(t, client)
}
