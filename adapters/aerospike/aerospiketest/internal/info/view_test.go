package info_test

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/info"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
)

func TestViewGivesEveryPartitionToTheMembersThatAreUp(t *testing.T) {
	for _, x := range []struct {
		up     []bool
		factor int
		copies int
	}{{[]bool{true}, 1, 1}, {[]bool{true, true, true}, 2, 2}, {[]bool{true, false, true}, 2, 2}, {[]bool{false, true, false}, 2, 1}, {[]bool{true, true}, 1, 1}} {
		members := make([]info.Member, len(x.up))
		for i := range members {
			members[i].Up = x.up[i]
		}
		v := info.NewView(info.Layout{Members: members, Factor: x.factor})
		require.Equal(t, x.copies, v.Replicas())
		seen := make([]int, store.Partitions)
		for r := range v.Replicas() {
			for m := range members {
				bits, err := base64.StdEncoding.DecodeString(v.Bitmap(m, r))
				require.NoError(t, err)
				for p := range store.Partitions {
					if bits[p>>3]&(0x80>>(p&7)) != 0 {
						require.True(t, x.up[m] && v.Owns(m, p) && v.Owner(r, p) == m)
						seen[p]++
					}
				}
			}
		}
		for p := range seen {
			require.Equal(t, x.copies, seen[p])
		}
	}
	require.False(t, info.NewView(info.Layout{Members: make([]info.Member, 2), Factor: 2}).Owns(0, 0))
}

func TestViewMovesPartitionsAndSpreadsThemOverRacks(t *testing.T) {
	members := []info.Member{{Up: true, Rack: 1}, {Up: true, Rack: 1}, {Up: true, Rack: 2}, {Up: true, Rack: 2}}
	owners := func(l info.Layout, p int) (out [2]int) {
		v := info.NewView(l)
		for r := range out {
			out[r] = v.Owner(r, p)
		}
		require.True(t, v.Leads(out[0], p))
		return out
	}
	l := info.Layout{Members: members, Factor: 2, Moved: map[int]int{4: 3, 5: 2}}
	require.Equal(t, [2]int{3, 0}, owners(l, 4))
	require.Equal(t, [2]int{2, 1}, owners(l, 5))
	require.Equal(t, [2]int{0, 1}, owners(l, 8))
	l.Racks = true
	require.Equal(t, [2]int{0, 2}, owners(l, 8))
	require.Equal(t, [2]int{3, 0}, owners(l, 4))
	l.Members = []info.Member{{Up: true, Rack: 1}, {Up: true, Rack: 1}, {}, {}}
	require.Equal(t, [2]int{0, 1}, owners(l, 4))
}
