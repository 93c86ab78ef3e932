package command_test

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/command"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// nowhere is a sink that takes everything.
type nowhere struct{ results int }

func (nowhere) Flush(b []byte, _ int) ([]byte, error) { return b[:0], nil }
func (n *nowhere) Result(wire.Code)                   { n.results++ }

func newExecutor() (*command.Executor, *store.Namespace) {
	clock := new(store.Clock)
	ns := store.NewNamespace("test", clock, 0, 1<<20)
	return command.NewExecutor(&command.Catalog{Clock: clock, Namespaces: []*store.Namespace{ns}, Table: command.NewTable(), Filter: command.NewFilter(clock)}), ns
}

var digest = bytes.Repeat([]byte{7}, wire.DigestSize)

func message(info1, info2 byte, ops ...wire.Op) *wire.Message {
	return &wire.Message{Info1: info1, Info2: info2, Namespace: []byte("test"), Set: []byte("s"), Digest: digest, Ops: ops}
}

func integer(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func TestExecutorReadOfAnIntegerDoesNotAllocate(t *testing.T) {
	e, _ := newExecutor()
	_, c := e.Single(message(0, wire.Info2Write, wire.Op{Code: wire.OpWrite, Particle: wire.ParticleInteger, Name: []byte("a"), Data: integer(5)}), nil, 0)
	require.Equal(t, wire.OK, c)
	out := make([]byte, 0, 4096)
	for _, m := range []*wire.Message{message(wire.Info1Read|wire.Info1GetAll, 0), message(wire.Info1Read, 0, wire.Op{Code: wire.OpRead, Name: []byte("a")})} {
		b, c := e.Single(m, out, 0)
		require.Equal(t, wire.OK, c)
		require.Len(t, b, wire.HeaderSize+8+1+8)
		require.Zero(t, testing.AllocsPerRun(100, func() { e.Single(m, out, 0) }))
	}
}

func TestExecutorGenerationsStartAgainAtOne(t *testing.T) {
	e, ns := newExecutor()
	touch := message(0, wire.Info2Write, wire.Op{Code: wire.OpWrite, Particle: wire.ParticleInteger, Name: []byte("a"), Data: integer(1)})
	last := uint32(0)
	for range 1<<16 + 1 {
		_, c := e.Single(touch, nil, 0)
		require.Equal(t, wire.OK, c)
	}
	ns.Each(func(r *store.Record) bool { last = r.Generation; return true })
	require.EqualValues(t, 2, last)
}

func TestExecutorFailedCommandLeavesTheRecord(t *testing.T) {
	e, ns := newExecutor()
	one := wire.Op{Code: wire.OpWrite, Particle: wire.ParticleInteger, Name: []byte("a"), Data: integer(1)}
	two := wire.Op{Code: wire.OpIncr, Particle: wire.ParticleInteger, Name: []byte("a"), Data: integer(1)}
	bad := wire.Op{Code: wire.OpAppend, Particle: wire.ParticleString, Name: []byte("a"), Data: []byte("x")}
	_, c := e.Single(message(0, wire.Info2Write, one), nil, 0)
	require.Equal(t, wire.OK, c)
	b, c := e.Single(message(0, wire.Info2Write|wire.Info2RespondAllOps, two, bad), nil, 0)
	require.Equal(t, wire.BinTypeError, c)
	require.Len(t, b, wire.HeaderSize)
	ns.Each(func(r *store.Record) bool {
		require.Equal(t, integer(1), r.Bins[0].Data)
		require.EqualValues(t, 1, r.Generation)
		return true
	})
}

// FuzzExecutor carries out messages of any content: none may panic, what comes back
// must be frames or a message, and what is stored must not be bytes of the message,
// whose memory is used again.
func FuzzExecutor(f *testing.F) {
	rec := wire.AppendField(wire.AppendField(nil, wire.FieldNamespace, []byte("test")), wire.FieldDigest, digest)
	body := func(info1, info2 byte, fields int, rest ...[]byte) []byte {
		b := wire.AppendHeader(nil, wire.Header{Fields: fields, Ops: len(rest) - 1})
		b[1], b[2] = info1, info2
		return append(b, bytes.Join(rest, nil)...)
	}
	item := append(append([]byte{0, 0, 0, 2, 4, 0, 0, 0, 0}, digest...), 0x0e, 1, 0x81, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0)
	item = append(wire.AppendField(item, wire.FieldNamespace, []byte("test")), 0, 0, 0, 1)
	item = append(append(item, digest...), 1)
	f.Add(body(3, 0, 2, rec))
	f.Add(body(1, 0x81, 2, rec, wire.AppendOp(nil, wire.OpIncr, wire.ParticleInteger, "a", integer(1)), wire.AppendOp(nil, wire.OpRead, 0, "a", nil)))
	f.Add(body(8, 0, 1, wire.AppendField(nil, wire.FieldBatchAny, item)))
	f.Add(body(1, 0, 2, wire.AppendField(wire.AppendField(nil, wire.FieldNamespace, []byte("test")), wire.FieldPIDArray, []byte{7, 7})))
	isOne := []byte{0x93, 1, 0x93, 81, 2, 0xa1, 'a', 1} // bin a, an integer, equals 1
	f.Add(body(1, 0x80, 3, wire.AppendField(rec, wire.FieldFilter, isOne), wire.AppendOp(nil, wire.OpExpRead, wire.ParticleBlob, "r", append([]byte{0x92}, append(isOne, 0)...))))
	f.Add(body(1, 0x81, 2, rec, wire.AppendOp(nil, wire.OpExpModify, wire.ParticleBlob, "a", []byte{0x92, 0x93, 20, 1, 2, 16}), wire.AppendOp(nil, wire.OpBitsModify, wire.ParticleBlob, "b", []byte{0x94, 0, 3, 0, 0}),
		wire.AppendOp(nil, wire.OpHLLModify, wire.ParticleBlob, "h", []byte{0x94, 0, 4, 4, 0}), wire.AppendOp(nil, wire.OpHLLRead, wire.ParticleBlob, "h", []byte{0x91, 50})))
	for _, b := range querySeeds(rec[:9]) {
		f.Add(b)
	}
	e, ns := fuzzed(f)
	host := &command.Host{Owns: func(pid int) bool { return pid%2 == 1 }, Jobs: new(jobs.Table)}
	var m wire.Message
	f.Fuzz(func(t *testing.T, input []byte) {
		body := bytes.Clone(input)
		if m.Parse(body) != wire.OK {
			return
		}
		var out []byte
		switch {
		case m.Batch():
			e.BatchTarget(&m)
			out, _, _ = e.Batch(&m, nil, new(nowhere))
		case m.Background():
			if b, c := e.Background(&m, host); c == wire.OK {
				b.Run(nil)
			}
		case m.Aggregation():
			out, _, _ = e.Aggregate(&m, host, nil, new(nowhere))
		case m.Scan():
			out, _, _ = e.Scan(&m, host, nil, new(nowhere))
		default:
			out, _ = e.Single(&m, wire.AppendFrame(nil, wire.TypeMessage), 0)
			wire.EndFrame(out, 0)
		}
		was := content(ns)
		for i := range body {
			body[i] = 0xaa // as the next message does
		}
		if content(ns) != was {
			t.Fatal("a record has bytes of the message")
		}
		r := bytes.NewReader(out)
		for r.Len() > 0 {
			typ, b, _, err := wire.ReadFrame(r, nil)
			if err != nil || typ != wire.TypeMessage || len(b) < wire.HeaderSize {
				t.Fatalf("%x is no answer: %v", out, err)
			}
		}
	})
}

func TestExecutorEndsWhenItIsDone(t *testing.T) {
	e, _ := newExecutor()
	done := make(chan struct{})
	e.Done = done
	write := wire.Op{Code: wire.OpWrite, Particle: wire.ParticleInteger, Name: []byte("a"), Data: integer(1)}
	_, c := e.Single(message(0, wire.Info2Write, write), nil, 0)
	require.Equal(t, wire.OK, c)
	visited := 0
	host := &command.Host{Jobs: new(jobs.Table), Owns: func(int) bool {
		if visited++; visited == 2 {
			close(done)
		}
		return true
	}}
	scan := &wire.Message{Info1: wire.Info1Read, Info3: wire.Info3PartitionDone, Namespace: []byte("test"), PIDs: []byte{1, 0, 2, 0, 3, 0, 4, 0}}
	_, _, err := e.Scan(scan, host, nil, new(nowhere))
	require.Error(t, err)
	require.Equal(t, 2, visited)
	require.Contains(t, host.Jobs.ShowAll(), "status=done(abandoned-response-error)")
	_, c = e.Single(message(0, wire.Info2Write, write), nil, 0)
	require.NotEqual(t, wire.OK, c)
}

func TestExecutorRefusesMoreBinsThanAnAnswerCanCount(t *testing.T) {
	e, ns := newExecutor()
	rec := &store.Record{Digest: store.Digest(digest), Set: "s"}
	for i := range wire.MaxBins {
		rec.Bins = append(rec.Bins, store.Bin{Name: strconv.Itoa(i), Value: store.Value{Type: wire.ParticleString}})
	}
	p := ns.Part(rec.Digest.Partition())
	p.Lock()
	p.PutLocked(rec)
	p.Unlock()
	write := func(name string) wire.Code {
		_, c := e.Single(message(0, wire.Info2Write, wire.Op{Code: wire.OpWrite, Particle: wire.ParticleInteger, Name: []byte(name), Data: integer(1)}), nil, 0)
		return c
	}
	require.Equal(t, wire.OK, write("7"))
	require.Equal(t, wire.ParameterError, write("x"))
}

func TestExecutorRefusesMoreSetsThanThereCanBe(t *testing.T) {
	e, ns := newExecutor()
	write := func(set string, record int) wire.Code {
		m := message(0, wire.Info2Write, wire.Op{Code: wire.OpWrite, Particle: wire.ParticleInteger, Name: []byte("a"), Data: integer(1)})
		m.Set, m.Digest = []byte(set), binary.BigEndian.AppendUint32(make([]byte, wire.DigestSize-4), uint32(record))
		_, c := e.Single(m, nil, 0)
		return c
	}
	for i := range 4095 {
		require.Equal(t, wire.OK, write(strconv.Itoa(i), i))
	}
	require.Equal(t, wire.ParameterError, write("one more", 5000))
	ns.Truncate("", 0) // sets stay, as on a real server until it is started anew
	require.Equal(t, wire.ParameterError, write("one more", 5000))
	require.Equal(t, wire.OK, write("7", 5001))
	require.Equal(t, wire.OK, write("", 5002))
	require.Equal(t, 2, ns.Count(""))
}
