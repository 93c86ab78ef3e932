//go:build go1.25

package command_test

import (
	"encoding/binary"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/command"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/jobs"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

func TestBackgroundFunctionMakesNoRecordAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := new(store.Clock)
		ns := store.NewNamespace("test", clock, 0, 1<<20)
		functions := udf.NewRegistry(nil)
		functions.Register("p", "make", func(r *udf.Record, _ []any) (any, error) {
			r.Set("a", int64(2))
			if r.Exists {
				return r.Update(), nil
			}
			return r.Create(), nil
		})
		e := command.NewExecutor(&command.Catalog{
			Clock: clock, Namespaces: []*store.Namespace{ns}, Table: command.NewTable(), Filter: command.NewFilter(clock), Functions: functions,
		})
		_, c := e.Single(message(0, wire.Info2Write, wire.Op{Code: wire.OpWrite, Particle: wire.ParticleInteger, Name: []byte("a"), Data: integer(1)}), nil, 0)
		require.Equal(t, wire.OK, c)
		m := &wire.Message{
			Namespace: []byte("test"), UDFPackage: []byte("p"), UDFFunction: []byte("make"), UDFOp: []byte{wire.UDFBackground},
			RPS: binary.BigEndian.AppendUint32(nil, 1), // it finds the record a second before it comes to it
		}
		job, c := e.Background(m, &command.Host{Owns: func(int) bool { return true }, Jobs: new(jobs.Table)})
		require.Equal(t, wire.OK, c)
		done := make(chan struct{})
		go func() { defer close(done); job.Run(nil) }()
		synctest.Wait()
		require.EqualValues(t, 1, job.Job.Throttled.Load())
		_, c = e.Single(message(0, wire.Info2Write|wire.Info2Delete), nil, 0)
		require.Equal(t, wire.OK, c)
		<-done
		<-done
		require.Zero(t, ns.Count(""))
	})
}
