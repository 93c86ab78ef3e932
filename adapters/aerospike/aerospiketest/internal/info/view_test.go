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
		v := info.NewView(members, x.factor, 1)
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
	require.False(t, info.NewView(make([]info.Member, 2), 2, 1).Owns(0, 0))
}
