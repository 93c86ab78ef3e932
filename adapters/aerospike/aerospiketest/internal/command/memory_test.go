package command_test

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

// A bin that is resized, or a list that is filled up, is megabytes, and the operation that
// does it some bytes.
func TestExecutorBoundsTheBinsOfOneCommandByAllocations(t *testing.T) {
	e, _ := newExecutor()
	resize := []byte{0x94, 0, 0xce, 0, 0x20, 0, 0, 0, 0} // to 2 MiB
	var ops []wire.Op
	for i := range 200 {
		ops = append(ops, wire.Op{Code: wire.OpBitsModify, Particle: wire.ParticleBlob, Name: []byte(strconv.Itoa(i)), Data: resize})
	}
	allocated := func(ops []wire.Op) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, c := e.Single(message(0, wire.Info2Write, ops...), nil, 0)
		runtime.ReadMemStats(&after)
		require.Equal(t, wire.RecordTooBig, c)
		return after.TotalAlloc - before.TotalAlloc
	}
	one := allocated(ops[:1])
	require.Less(t, allocated(ops), 30*one)
}
