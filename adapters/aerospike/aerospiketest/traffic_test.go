package aerospiketest_test

import (
	"encoding/binary"
	"testing"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// allPartitions is the field of a scan of everything.
func allPartitions() []byte {
	var b []byte
	for i := range uint16(4096) {
		b = binary.LittleEndian.AppendUint16(b, i)
	}
	return field(11, b)
}

func TestTrafficSlowReaderHoldsBackItsScanOnly(t *testing.T) {
	s, c := start(t)
	for i := range 40 { // more than sockets buffer
		put(t, c, key(t, i), as.NewBin("a", make([]byte, 900_000)))
	}
	f := s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindScan}})
	slow := dial(t, s.Addr())
	_, err := slow.Write(proto(2, 3, frame{info1: 1, info3: 4, fields: [][]byte{field(0, []byte("test")), field(1, nil), allPartitions()}}.body()))
	require.NoError(t, err)
	require.NoError(t, f.Wait(soon(t), 1))
	put(t, c, key(t, 1), as.NewBin("a", 1))
	require.Equal(t, 1, s.Stats().InFlight)
	require.Less(t, s.Stats().BytesOut, uint64(36_000_000))
	s.Close() // does not wait for the reader
	require.Zero(t, s.Stats().OpenConns)
}

func TestTrafficCompressedRequests(t *testing.T) {
	_, c := start(t)
	p := writePolicy()
	p.UseCompression = true
	k := key(t, 1)
	want := make([]byte, 10_000)
	require.NoError(t, asError(c.PutBins(p, k, as.NewBin("a", want))))
	rp := readPolicy()
	rp.UseCompression = true
	r, err := c.Get(rp, k)
	require.NoError(t, asError(err))
	require.Equal(t, want, r.Bins["a"])
}

// The driver announces too long a batch when a filter stands before it.
func TestTrafficBatchBehindAFilterIsRead(t *testing.T) {
	_, c := start(t)
	warm(t, c, 2)
	put(t, c, key(t, 1), as.NewBin("a", 1))
	p := batchPolicy()
	p.FilterExpression = as.ExpBinExists("a")
	rs := []as.BatchRecordIfc{as.NewBatchRead(nil, key(t, 1), nil), as.NewBatchRead(nil, key(t, 2), nil)}
	require.NoError(t, asError(c.BatchOperate(p, rs)))
	require.Equal(t, types.OK, rs[0].BatchRec().ResultCode)
	require.Equal(t, types.KEY_NOT_FOUND_ERROR, rs[1].BatchRec().ResultCode)
}

func TestTrafficIndexesCanBeDefined(t *testing.T) {
	_, c := start(t)
	for range 2 { // the same again is fine
		task, err := c.CreateIndex(writePolicy(), "test", "s", "i", "a", as.NUMERIC)
		require.NoError(t, asError(err))
		done, err := task.IsDone()
		require.NoError(t, asError(err))
		require.True(t, done)
	}
	_, err := c.CreateIndex(writePolicy(), "test", "s", "i", "b", as.NUMERIC)
	require.Equal(t, types.INDEX_FOUND, codeOf(err))
	require.NoError(t, asError(c.DropIndex(writePolicy(), "test", "s", "i")))
}

func TestTrafficLargeAnswersAreRefused(t *testing.T) {
	s, c := start(t)
	put(t, c, key(t, 1), as.NewBin("a", make([]byte, 1_000_000)))
	var ops [][]byte
	for range 50 {
		ops = append(ops, rawOp(1, 0, "a", nil))
	}
	_, body := ask(t, dial(t, s.Addr()), proto(2, 3, frame{info1: 1, fields: [][]byte{field(0, []byte("test")), field(4, key(t, 1).Digest())}, ops: ops}.body()))
	require.Len(t, body, 22)
	require.EqualValues(t, aerospiketest.CodeRecordTooBig, body[5])
}
