package aerospike_test

import (
	"math"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

type wide struct {
	Number uint64 `as:"n"`
}

type nested struct {
	wide
	Day      time.Time
	Inner    *wide
	List     []any
	Bytes    []byte
	ByName   map[string]wide
	Skipped  uint64 `as:"-"`
	TTL      uint32 `asm:"ttl"`
	internal uint64
}

// T-23, T-24: a number that the driver would store as another one isn't stored, nor is an
// object that it would never come to the end of.
func TestPutObjectRefusesWhatDoesNotFit(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	driver := raw(t, srv)
	key := newKey(t, 1)
	require.Nil(t, driver.PutObject(nil, key, &wide{math.MaxUint64}))
	rec, err := client.Get(patient(t), nil, key)
	require.NoError(t, err)
	require.Equal(t, -1, rec.Bins["n"], "the fault that this test is about is gone from the driver")

	written := srv.Record(aerospiketest.Match{Kinds: aerospiketest.KindsWrite})
	type loop struct{ Next any }
	endless := &loop{}
	endless.Next = []any{endless}
	for where, obj := range map[string]any{
		"obj.Number":         wide{math.MaxInt64 + 1},
		"obj.wide.Number":    &nested{wide: wide{math.MaxUint64}},
		"obj.Inner.Number":   &nested{Inner: &wide{math.MaxUint64}},
		"obj.List[1]":        &nested{List: []any{1, uint64(math.MaxUint64)}},
		"obj.ByName[…]":      &nested{ByName: map[string]wide{"a": {math.MaxUint64}}},
		"nested deeper than": endless,
	} {
		err := client.PutObject(patient(t), nil, key, obj)
		var faults *spillway.ConfigError
		require.ErrorAs(t, err, &faults, where)
		require.ErrorContains(t, err, where)
	}
	require.Zero(t, written.Len())
	require.NoError(t, client.PutObject(patient(t), nil, key, &nested{
		wide: wide{math.MaxInt64}, Day: time.Unix(1, 0), Inner: &wide{1}, List: []any{1, "a", nil}, Bytes: []byte{255},
		ByName: map[string]wide{"a": {1}}, Skipped: math.MaxUint64, internal: math.MaxUint64,
	}))
	require.Equal(t, 1, written.Len())

	mode := spillway.Off
	require.NoError(t, client.Apply(aerospike.Settings{Mode: &mode}))
	require.NoError(t, client.PutObject(patient(t), nil, key, &wide{math.MaxUint64}), "the driver's rules, as they are")
	idle(t, client)

	err = client.Put(patient(t), nil, key, as.BinMap{"n": uint64(math.MaxUint64)})
	var panicked *spillway.PanicError
	require.ErrorAs(t, err, &panicked, "of this the driver panics")

	compat, err := client.Compat(patient(t))
	require.NoError(t, err)
	require.Nil(t, compat.PutObject(nil, key, &wide{math.MaxUint64}))
	var back wide
	require.Nil(t, compat.GetObject(nil, key, &back))
	require.Equal(t, uint64(math.MaxUint64), back.Number, "through Compat it is what it is through the driver")
	require.NotNil(t, compat.PutObject(nil, key, endless))
}
