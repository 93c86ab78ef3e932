package cdt_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/cdt"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/msgpack"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/wire"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct {
		particle byte
		in       []byte
		want     string // "" is refused
	}{
		{wire.ParticleList, pack(l{1, "a", m{2, nil, 1, l{}}}), "[1 a {1 [] 2 nil}]"},
		{wire.ParticleList, []byte("\xdc\x00\x02\xcd\x00\x05\xd1\xff\xff"), "[5 -1]"},
		{wire.ParticleList, []byte("\x91\xc4\x02\x03a"), "[a]"},
		{wire.ParticleList, pack(flagged{0x11, l{1, 2}}), "1[1 2]"},
		{wire.ParticleList, pack(flagged{0x10, l{1, 2}}), "[1 2]"},
		{wire.ParticleList, pack(flagged{1, l{2, 1}}), ""},
		{wire.ParticleList, pack(l{infinity{}}), ""},
		{wire.ParticleList, pack(m{}), ""},
		{wire.ParticleList, append(pack(l{}), 0), ""},
		{wire.ParticleList, []byte("\x92\x01"), ""},
		{wire.ParticleMap, pack(flagged{0x18 | 3, m{"a", 1, "b", 2}}), "3{a 1 b 2}"},
		{wire.ParticleMap, pack(flagged{8, m{"b", 1, "a", 2}}), "{a 2 b 1}"},
		{wire.ParticleMap, pack(flagged{1, m{"b", 1, "a", 2}}), ""},
		{wire.ParticleMap, pack(m{1, 1, 1, 2}), ""},
		{wire.ParticleMap, pack(m{1.5, 1}), ""},
		{wire.ParticleMap, pack(m{"b", 1, 1, 2, []byte{0}, 3}), "{1 2 b 1 x00 3}"},
		{wire.ParticleMap, nil, ""},
	} {
		got, ok := cdt.Normalize(c.particle, c.in)
		require.Equal(t, c.want != "", ok, "%x", c.in)
		if ok {
			require.Equal(t, c.want, show(got))
			again, ok := cdt.Normalize(c.particle, got)
			require.True(t, ok)
			require.Equal(t, got, again)
		}
	}
	_, ok := cdt.Normalize(wire.ParticleList, append(msgpack.AppendListLen(nil, cdt.MaxSize), bytes.Repeat([]byte{1}, cdt.MaxSize)...))
	require.False(t, ok)
}

func TestElementsBecomeValues(t *testing.T) {
	all := l{nil, true, -1, 1.5, "a", []byte{1}, l{1}, m{1, 2}, raw("\xa3\x17{}"), raw("\xa1\x14"), raw("\xa0"), raw("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), raw("\xca\x3f\x80\x00\x00")}
	for i, want := range []byte{0, 17, 1, 2, 3, 4, 20, 19, 23, 4, 4, 1, 2} {
		v, code := cdt.Read(bin(all), op(17, i))
		require.Equal(t, wire.OK, code)
		require.Equal(t, want, v.Type, "%d", i)
	}
	_, code := cdt.Read(bin(l{raw("\xc7\x01\x05x")}), op(17, 0))
	require.Equal(t, wire.OpNotApplicable, code) // it is taken for the list's flags
	_, code = cdt.Read(bin(l{1, raw("\xc7\x01\x05x")}), op(17, 1))
	require.Equal(t, wire.ServerError, code)
}
