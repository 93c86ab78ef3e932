package aerospiketest_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// deflate makes the body of a compressed frame.
func deflate(body []byte) []byte {
	b := proto(2, 3, body)
	out := bytes.NewBuffer(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
	z := zlib.NewWriter(out)
	_, _ = z.Write(b) // into memory
	_ = z.Close()
	return out.Bytes()
}

func TestIdleConnectionsKeepNoLargeMessages(t *testing.T) {
	s := aerospiketest.NewServer(t)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	const size = 8 << 20
	ns, digest := field(0, []byte("test")), field(4, make([]byte, 20))
	func() {
		large := rawOp(2, 4, "a", make([]byte, size))
		put := frame{info2: 1, fields: [][]byte{ns, digest}, ops: [][]byte{large}}.body()
		item := append(make([]byte, 4+20), 0x0a, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1)
		batch := append(append(append([]byte{0, 0, 0, 1, 4}, item...), ns...), large...)
		for _, b := range [][]byte{proto(2, 3, put), proto(2, 4, deflate(put)), proto(2, 3, frame{info1: 8, fields: [][]byte{field(41, batch)}}.body())} {
			c := dial(t, s.Addr())
			_, body := ask(t, c, b)
			require.EqualValues(t, aerospiketest.CodeRecordTooBig, body[5])
			ask(t, c, proto(2, 1, []byte("node\n"))) // so the server is done with what was before
		}
	}()
	require.Less(t, heap()-before, int64(size))
}
