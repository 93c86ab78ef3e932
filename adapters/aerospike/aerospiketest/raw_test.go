package aerospiketest_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// A frame is a request made by hand, for what no driver would send.
type frame struct {
	info1, info2, info3 byte
	fields, ops         [][]byte
}

func field(typ byte, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)+1))
	return append(append(b, typ), data...)
}

func rawOp(code, particle byte, name string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(name)+len(data)))
	b = append(b, code, particle, 0, byte(len(name)))
	return append(append(b, name...), data...)
}

// body is the message without its frame.
func (f frame) body() []byte {
	b := make([]byte, 22)
	b[0], b[1], b[2], b[3] = 22, f.info1, f.info2, f.info3
	binary.BigEndian.PutUint16(b[18:], uint16(len(f.fields)))
	binary.BigEndian.PutUint16(b[20:], uint16(len(f.ops)))
	return append(append(b, bytes.Join(f.fields, nil)...), bytes.Join(f.ops, nil)...)
}

func proto(version, typ byte, body []byte) []byte {
	h := binary.BigEndian.AppendUint64(nil, uint64(version)<<56|uint64(typ)<<48|uint64(len(body)))
	return append(h, body...)
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(patience)))
	return c
}

// readFrame reads one frame of an answer.
func readFrame(c net.Conn) (typ byte, body []byte, err error) {
	head := make([]byte, 8)
	if _, err = io.ReadFull(c, head); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint64(head)&(1<<48-1))
	_, err = io.ReadFull(c, body)
	return head[1], body, err
}

// ask sends bytes and returns the first frame of the answer.
func ask(t testing.TB, c net.Conn, b []byte) (byte, []byte) {
	t.Helper()
	_, err := c.Write(b)
	require.NoError(t, err)
	typ, body, err := readFrame(c)
	require.NoError(t, err)
	return typ, body
}

func TestRawUnownedPartitionsAreUnavailable(t *testing.T) {
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3, ReplicationFactor: 1})
	c := dial(t, s.Node(1).Addr())
	pids := []byte{0, 0, 1, 0, 2, 0}
	_, body := ask(t, c, proto(2, 3, frame{info1: 1, info3: 4, fields: [][]byte{field(0, []byte("test")), field(1, nil), field(11, pids)}}.body()))
	require.Len(t, body, 2*22)
	for i, pid := range []uint32{0, 2} {
		m := body[22*i:]
		require.EqualValues(t, 4, m[3], "partition done")
		require.EqualValues(t, aerospiketest.CodePartitionUnavailable, m[5])
		require.Equal(t, pid, binary.BigEndian.Uint32(m[6:]))
	}
	_, body, err := readFrame(c)
	require.NoError(t, err)
	require.EqualValues(t, 1, body[3], "last")
}

// someRange is a range of integers in a bin.
func someRange() []byte {
	b := []byte{1, 1, 'a', 1, 0, 0, 0, 8}
	b = append(binary.BigEndian.AppendUint64(b, 1), 0, 0, 0, 8)
	return binary.BigEndian.AppendUint64(b, 2)
}

func TestRawFramesThatNoDriverSends(t *testing.T) {
	s := aerospiketest.NewServer(t)
	ns, digest := field(0, []byte("test")), field(4, make([]byte, 20))
	for name, x := range map[string]struct {
		f    frame
		want aerospiketest.Code
	}{
		"no fields":                            {frame{info1: 3}, aerospiketest.CodeInvalidNamespace},
		"no digest":                            {frame{info1: 3, fields: [][]byte{ns}}, aerospiketest.CodeUnsupported},
		"short digest":                         {frame{info1: 3, fields: [][]byte{ns, field(4, make([]byte, 19))}}, aerospiketest.CodeParameter},
		"nothing to do":                        {frame{fields: [][]byte{ns, digest}}, aerospiketest.CodeParameter},
		"empty write":                          {frame{info2: 1, fields: [][]byte{ns, digest}}, aerospiketest.CodeParameter},
		"unknown op":                           {frame{info2: 1, fields: [][]byte{ns, digest}, ops: [][]byte{rawOp(99, 1, "a", nil)}}, aerospiketest.CodeParameter},
		"odd integer":                          {frame{info2: 1, fields: [][]byte{ns, digest}, ops: [][]byte{rawOp(2, 1, "a", []byte{1, 2, 3})}}, aerospiketest.CodeParameter},
		"broken list":                          {frame{info2: 1, fields: [][]byte{ns, digest}, ops: [][]byte{rawOp(2, 20, "a", []byte{0x93, 1})}}, aerospiketest.CodeServerError},
		"broken batch":                         {frame{info1: 9, fields: [][]byte{field(42, []byte{0, 0, 0, 9, 1})}}, aerospiketest.CodeParameter},
		"broken scan":                          {frame{info1: 1, info3: 4, fields: [][]byte{ns, field(11, []byte{1})}}, aerospiketest.CodeParameter},
		"one partition twice":                  {frame{info1: 1, info3: 4, fields: [][]byte{ns, field(11, []byte{1, 0, 1, 0})}}, aerospiketest.CodeParameter},
		"scan of a node":                       {frame{info1: 1, info3: 4, fields: [][]byte{ns, field(7, make([]byte, 8))}}, aerospiketest.CodeUnsupported},
		"scan of an old driver":                {frame{info1: 1, fields: [][]byte{ns, field(11, []byte{1, 0})}}, aerospiketest.CodeUnsupported},
		"query after a digest without a value": {frame{info1: 1, info3: 4, fields: [][]byte{ns, field(12, make([]byte, 20)), field(22, someRange())}}, aerospiketest.CodeParameter},
		"query of two ranges":                  {frame{info1: 1, info3: 4, fields: [][]byte{ns, field(11, []byte{1, 0}), field(22, []byte{2, 0})}}, aerospiketest.CodeParameter},
		"query of a broken range":              {frame{info1: 1, info3: 4, fields: [][]byte{ns, field(11, []byte{1, 0}), field(22, someRange()[:20])}}, aerospiketest.CodeParameter},
		"query of a broken context":            {frame{info1: 1, info3: 4, fields: [][]byte{ns, field(11, []byte{1, 0}), field(22, someRange()), field(23, []byte{0x91, 1})}}, aerospiketest.CodeParameter},
		"query without an index":               {frame{info1: 1, info3: 4, fields: [][]byte{ns, field(11, []byte{1, 0}), field(22, someRange())}}, aerospiketest.CodeIndexNotFound},
		"background without operations":        {frame{info2: 1, fields: [][]byte{ns, field(7, make([]byte, 8))}}, aerospiketest.CodeParameter},
		"background that reads":                {frame{info2: 1, fields: [][]byte{ns, field(7, make([]byte, 8))}, ops: [][]byte{rawOp(1, 0, "a", nil)}}, aerospiketest.CodeParameter},
		"background of a set that isn't there": {frame{info2: 1, fields: [][]byte{ns, field(1, []byte("none")), field(7, make([]byte, 8))}, ops: [][]byte{rawOp(11, 0, "", nil)}}, aerospiketest.CodeNotFound},
		"background too fast":                  {frame{info2: 1, fields: [][]byte{ns, field(7, make([]byte, 8)), field(10, []byte{0, 1, 0, 0})}, ops: [][]byte{rawOp(11, 0, "", nil)}}, aerospiketest.CodeParameter},
	} {
		c := dial(t, s.Addr())
		_, body := ask(t, c, proto(2, 3, x.f.body()))
		require.Len(t, body, 22, name)
		require.EqualValues(t, x.want, body[5], name)
		// The connection is still good.
		typ, _ := ask(t, c, proto(2, 1, []byte("node\n")))
		require.EqualValues(t, 1, typ, name)
	}
}

func TestRawQueryBinsWithTheLongestName(t *testing.T) {
	s := aerospiketest.NewServer(t)
	bins := append([]byte{1, 255}, bytes.Repeat([]byte{'b'}, 255)...)
	scan := frame{info1: 1, info3: 4, fields: [][]byte{field(0, []byte("test")), field(11, []byte{1, 0}), field(40, bins)}}
	_, body := ask(t, dial(t, s.Addr()), proto(2, 3, scan.body()))
	require.EqualValues(t, aerospiketest.CodeOK, body[5])
}

func TestRawOtherProtocolsAreHungUpOn(t *testing.T) {
	s := aerospiketest.NewServer(t)
	for name, b := range map[string][]byte{
		"version 3": proto(3, 3, nil), "type 9": proto(2, 9, []byte{1}), "text": []byte("GET / HTTP/1.1\r\n\r\n"),
		"too large": binary.BigEndian.AppendUint64(nil, 2<<56|3<<48|129<<20), "broken compression": proto(2, 4, []byte("nonsense")),
	} {
		c := dial(t, s.Addr())
		_, err := c.Write(b)
		require.NoError(t, err)
		_, _, err = readFrame(c)
		require.Error(t, err, name)
		require.NotErrorIs(t, err, io.ErrUnexpectedEOF, name)
	}
}

func TestRawLoginIsAnsweredAsByACommunityServer(t *testing.T) {
	s := aerospiketest.NewServer(t)
	typ, body := ask(t, dial(t, s.Addr()), proto(2, 2, append([]byte{0, 0, 20, 0}, make([]byte, 12)...)))
	require.EqualValues(t, 2, typ)
	require.Len(t, body, 16)
	require.EqualValues(t, aerospiketest.CodeSecurityNotEnabled, body[1])
}

func TestRawInfo(t *testing.T) {
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2, ClusterName: "blue"})
	c := dial(t, s.Addr())
	_, body := ask(t, c, proto(2, 1, []byte("cluster-name\nnamespaces\nnonsense\nnamespace/nowhere\npeers-clear-std\nquiesce:\n")))
	require.Equal(t, "cluster-name\tblue\nnamespaces\ttest\nnonsense\tERROR:4:unrecognized command\nnamespace/nowhere\ttype=unknown\n"+
		"peers-clear-std\t1,3000,[[A2,,["+s.Node(1).Addr()+"]]]\nquiesce:\tERROR:25:enterprise only\n", string(body))
	_, body = ask(t, c, proto(2, 1, nil))
	require.Contains(t, string(body), "\nbuild\t8.1")
}
