package command_test

import (
	"encoding/binary"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A list that is filled up is megabytes, and the operation that does it some bytes.
func TestExecutorBoundsTheBinsOfOneCommand(t *testing.T) {
	e, _ := newExecutor()
	insert := append(binary.BigEndian.AppendUint32([]byte{0, 3, 0x92, 0xce}, 2<<20), 1) // 1 at index 2 Mi
	for name, ops := range map[string]func(i int) wire.Op{
		"lists": func(i int) wire.Op { return wire.Op{Code: wire.OpCDTModify, Name: []byte(strconv.Itoa(i)), Data: insert} },
		"blobs": func(i int) wire.Op {
			resize := []byte{0x94, 0, 0xce, 0, 0x20, 0, 0, 0, 0} // to 2 MiB
			return wire.Op{Code: wire.OpBitsModify, Particle: wire.ParticleBlob, Name: []byte(strconv.Itoa(i)), Data: resize}
		},
	} {
		var l []wire.Op
		for i := range 200 {
			l = append(l, ops(i))
		}
		_, c := e.Single(message(0, wire.Info2Write, l[:1]...), nil, 0)
		require.Equal(t, wire.RecordTooBig, c, name)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, c = e.Single(message(0, wire.Info2Write, l...), nil, 0)
		runtime.ReadMemStats(&after)
		require.Equal(t, wire.RecordTooBig, c, name)
		require.Less(t, after.HeapSys-min(before.HeapSys, after.HeapSys), uint64(256<<20), name)
	}
}
