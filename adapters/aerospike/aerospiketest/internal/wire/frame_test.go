package wire_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

func frame(typ byte, body []byte) []byte {
	b := append(wire.AppendFrame(nil, typ), body...)
	wire.EndFrame(b, 0)
	return b
}

func TestReadFrameReusesItsBuffer(t *testing.T) {
	large := bytes.Repeat([]byte{1}, 3<<20)
	r := bytes.NewReader(append(append(frame(3, []byte("one")), frame(1, large)...), frame(2, nil)...))
	buf := make([]byte, 0, 4096)
	typ, body, buf, err := wire.ReadFrame(r, buf)
	require.NoError(t, err)
	require.EqualValues(t, 3, typ)
	require.Equal(t, "one", string(body))
	require.Same(t, &buf[0], &body[0])
	typ, body, buf, err = wire.ReadFrame(r, buf)
	require.NoError(t, err)
	require.EqualValues(t, 1, typ)
	require.Equal(t, large, body)
	_, body, buf, err = wire.ReadFrame(r, buf)
	require.NoError(t, err)
	require.Empty(t, body)
	require.Less(t, cap(buf), 1<<20, "a large buffer is let go")
	_, _, _, err = wire.ReadFrame(r, buf)
	require.Equal(t, io.EOF, err)
}

func TestReadFrameDoesNotAllocateByTheLength(t *testing.T) {
	head := binary.BigEndian.AppendUint64(nil, 2<<56|3<<48|100<<20)
	var err error
	n := testing.AllocsPerRun(1, func() {
		_, _, _, err = wire.ReadFrame(bytes.NewReader(append(head, 1, 2, 3)), nil)
	})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, n, 10.0)
	_, _, _, err = wire.ReadFrame(bytes.NewReader(binary.BigEndian.AppendUint64(nil, 2<<56|3<<48|(128<<20+1))), nil)
	require.ErrorIs(t, err, wire.ErrSize)
	_, _, _, err = wire.ReadFrame(bytes.NewReader(make([]byte, 8)), nil)
	require.ErrorIs(t, err, wire.ErrFrame)
}

func TestInflate(t *testing.T) {
	in := frame(wire.TypeMessage, bytes.Repeat([]byte("x"), 1000))
	deflated := func(size int) []byte {
		var z bytes.Buffer
		z.Write(binary.BigEndian.AppendUint64(nil, uint64(size)))
		w := zlib.NewWriter(&z)
		_, err := w.Write(in)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return z.Bytes()
	}
	b, err := wire.Inflate(deflated(len(in)))
	require.NoError(t, err)
	require.Equal(t, in[wire.FrameSize:], b)
	for _, bad := range [][]byte{nil, deflated(len(in) - 1), deflated(len(in) + 1), deflated(0), deflated(1 << 30), deflated(len(in))[:30]} {
		_, err = wire.Inflate(bad)
		require.Error(t, err)
	}
}

func TestMessageParse(t *testing.T) {
	h := wire.AppendHeader(nil, wire.Header{Generation: 3, VoidTime: 4, Index: 5, Fields: 3, Ops: 1})
	h[1], h[2], h[3] = 1, 2, 8
	b := wire.AppendField(h, wire.FieldNamespace, []byte("ns"))
	b = wire.AppendField(b, 99, []byte("passed over"))
	b = wire.AppendField(b, wire.FieldSet, nil)
	b = wire.AppendOp(b, wire.OpWrite, wire.ParticleString, "bin", []byte("value"))
	var m wire.Message
	require.Equal(t, wire.OK, m.Parse(b))
	require.Equal(t, wire.Message{
		Info1: 1, Info2: 2, Info3: 8, Generation: 3, TTL: 4, Timeout: 5, Namespace: []byte("ns"), Set: []byte{},
		Ops: []wire.Op{{Code: wire.OpWrite, Particle: wire.ParticleString, Name: []byte("bin"), Data: []byte("value")}},
	}, m)
	for n := range b {
		require.Equal(t, wire.ParameterError, m.Parse(b[:n]), n)
	}
}
