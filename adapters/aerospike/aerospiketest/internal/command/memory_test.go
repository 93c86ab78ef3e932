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
func TestExecutorBoundsTheBinsOfOneCommandByAllocations(t *testing.T) {
	e, _ := newExecutor()
	fill := append(binary.BigEndian.AppendUint32([]byte{0, 3, 0x92, 0xce}, 2<<20), 1) // a list with 1 at index 2 Mi
	resize := []byte{0x94, 0, 0xce, 0, 0x20, 0, 0, 0, 0}                              // a blob of 2 MiB
	for name, op := range map[string]wire.Op{
		"lists": {Code: wire.OpCDTModify, Data: fill},
		"blobs": {Code: wire.OpBitsModify, Particle: wire.ParticleBlob, Data: resize},
	} {
		var l []wire.Op
		for i := range 200 {
			op.Name = []byte(strconv.Itoa(i))
			l = append(l, op)
		}
		allocated := func(ops []wire.Op) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, c := e.Single(message(0, wire.Info2Write, ops...), nil, 0)
			runtime.ReadMemStats(&after)
			require.Equal(t, wire.RecordTooBig, c, name)
			return after.TotalAlloc - before.TotalAlloc
		}
		one := allocated(l[:1])
		require.Less(t, allocated(l), 30*one, name)
	}
}
