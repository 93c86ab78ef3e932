package udf_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/udf"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

func TestValuesComeBackAsTheyWere(t *testing.T) {
	m := new(udf.Map)
	for k, v := range map[any]any{int64(1): "a", "k": &udf.List{Items: []any{nil, true, 1.5}}, 2.5: udf.NewBytes([]byte{1})} {
		require.True(t, m.Set(k, v))
	}
	require.True(t, m.Set(udf.NewBytes([]byte{7}), int64(-1)))
	require.False(t, m.Set(nil, 1))
	require.False(t, m.Set(m, 1))
	for _, v := range []any{nil, true, false, int64(-5), 2.5, "é", "", udf.GeoJSON("{}"), udf.NewBytes([]byte{1, 2}), &udf.Bytes{Data: []byte{3}, Type: wire.ParticlePHP}, &udf.List{Items: []any{int64(1)}, Flags: 1}} {
		x, err := udf.Encode(v)
		require.NoError(t, err)
		require.Equal(t, v, udf.Decode(x))
	}
	_, err := udf.Encode(m)
	require.Error(t, err, "a bin's map has no floats as keys")
	x, err := udf.Result(m)
	require.NoError(t, err)
	got, ok := udf.Decode(x).(*udf.Map)
	require.True(t, ok)
	require.Equal(t, m.Len(), got.Len())
	m.Pairs(func(k, v any) bool {
		require.Equal(t, v, got.Get(k))
		return true
	})
	loop := new(udf.List)
	loop.Items = []any{loop}
	for _, bad := range []any{loop, int8(1), &udf.List{Items: []any{int8(1)}}} {
		_, err := udf.Result(bad)
		require.Error(t, err)
	}
	many := &udf.List{Items: []any{string(make([]byte, 1<<20))}}
	for range 10 {
		many = &udf.List{Items: []any{many, many}}
	}
	_, err = udf.Result(many)
	require.Error(t, err)
}

func TestMapsForgetWhatIsRemoved(t *testing.T) {
	m := new(udf.Map)
	for i := range 100 {
		m.Set(int64(i), i)
	}
	for i := range 90 {
		m.Remove(int64(i))
		m.Remove(int64(i))
	}
	m.Remove(nil)
	require.Equal(t, 10, m.Len())
	require.Nil(t, m.Get(int64(5)))
	require.Equal(t, 95, m.Get(int64(95)))
	require.Equal(t, 10, m.Clone().Len())
}

func TestRecordsKeepWhatIsSaved(t *testing.T) {
	one, err := udf.Encode(int64(1))
	require.NoError(t, err)
	r := udf.NewRecord(udf.Header{Exists: true}, []store.Bin{{Name: "a", Value: one}, {Name: "b", Value: one}})
	r.Set("a", "new")
	r.Set("b", nil)
	r.Set("none", nil)
	r.Set("a_name_longer_than_fifteen", "x")
	bins, changed := r.Saved()
	require.False(t, changed)
	require.Len(t, bins, 2)
	require.Equal(t, udf.Refused, r.Create())
	require.Equal(t, udf.Done, r.Update())
	r.Set("c", "not kept")
	bins, changed = r.Saved()
	require.True(t, changed)
	require.Equal(t, []store.Bin{{Name: "a", Value: store.Value{Type: wire.ParticleString, Data: []byte("new")}}}, bins)
	r.Set("c", make(chan int))
	require.Equal(t, udf.Failed, r.Update())
	require.Equal(t, udf.Done, r.Remove())
	require.Equal(t, udf.Refused, r.Remove())
	require.Equal(t, udf.NotThere, r.Update())
	r.SetTTL(-3)
	ttl, set := r.NewTTL()
	require.True(t, set)
	require.Equal(t, uint32(1<<32-3), ttl)
	r.SetTTL(1 << 32)
	ttl, _ = r.NewTTL()
	require.Greater(t, ttl, uint32(wire.MaxTTL), "it is none, not the default")
	r.SetTTL(-1)
	ttl, set = r.NewTTL()
	require.True(t, set)
	require.EqualValues(t, uint32(wire.TTLNever), ttl)
	require.Equal(t, udf.Done, r.Create())
}

func TestFunctionsInGo(t *testing.T) {
	r := udf.NewRegistry(nil)
	call := func() (any, error) { return r.Call("p", "f", udf.NewRecord(udf.Header{}, nil), nil) }
	_, err := call()
	require.ErrorIs(t, err, udf.ErrModule)
	r.Register("p", "f", func(*udf.Record, []any) (any, error) { panic("oh") })
	_, err = call()
	require.EqualError(t, err, "p.f panicked: oh")
	no := errors.New("no")
	r.Register("p", "f", func(*udf.Record, []any) (any, error) { return nil, no })
	_, err = call()
	require.ErrorIs(t, err, no)
	r.Register("p", "f", nil)
	_, err = call()
	require.ErrorIs(t, err, udf.ErrModule)
}

// FuzzDecode reads any bytes as values and writes what it has read.
func FuzzDecode(f *testing.F) {
	f.Add(byte(20), []byte{0x92, 1, 0xa2, 3, 'x'})
	f.Add(byte(19), []byte{0x82, 0xc7, 0, 1, 0xc0, 1, 0x90})
	f.Add(byte(23), []byte{0, 0, 0, '{', '}'})
	f.Fuzz(func(t *testing.T, typ byte, data []byte) {
		v := udf.Decode(store.Value{Type: typ, Data: data})
		if x, err := udf.Encode(v); err == nil {
			if y, err := udf.Encode(udf.Decode(x)); err != nil || x.Type != y.Type || x.Type != wire.ParticleMap && !bytes.Equal(x.Data, y.Data) {
				t.Fatalf("%v became %v: %v", x, y, err)
			}
		}
		_, _ = udf.Arguments(data) // nothing but no panic is promised
		_ = udf.Key(data)
	})
}
