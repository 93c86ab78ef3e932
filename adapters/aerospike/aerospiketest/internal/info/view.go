package info

import (
	"encoding/base64"
	"slices"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
)

// A Member is a node as the cluster sees it.
type Member struct {
	Name string
	Addr string // host:port
	Up   bool
}

// A View is the cluster between two changes. It never changes.
type View struct {
	Members    []Member
	Generation int // of peers and of partitions
	Factor     int // replication factor

	owners [][store.Partitions]int16 // by replica: the index of the member, or -1
}

// NewView returns the view of members with a replication factor. A partition's
// copies are on the members that are up, in the order that starts at its number
// modulo the number of members: so a member that goes moves no partition but
// its own.
func NewView(members []Member, factor, generation int) *View {
	v := &View{Members: slices.Clone(members), Generation: generation, Factor: factor}
	up := 0
	for _, m := range members {
		if m.Up {
			up++
		}
	}
	v.owners = make([][store.Partitions]int16, max(1, min(factor, up)))
	for p := range store.Partitions {
		replica := 0
		for i := range members {
			at := (p + i) % len(members)
			if members[at].Up && replica < len(v.owners) {
				v.owners[replica][p] = int16(at)
				replica++
			}
		}
		for ; replica < len(v.owners); replica++ {
			v.owners[replica][p] = -1
		}
	}
	return v
}

// Replicas returns the number of copies there are now.
func (v *View) Replicas() int { return len(v.owners) }

// Owns reports whether a member has a copy of a partition.
func (v *View) Owns(member, partition int) bool {
	for r := range v.owners {
		if int(v.owners[r][partition]) == member {
			return true
		}
	}
	return false
}

// Owner returns the member that has a copy of a partition, or -1.
func (v *View) Owner(replica, partition int) int { return int(v.owners[replica][partition]) }

// Bitmap returns the partitions of which a member has a copy, as drivers read
// them: a bit for each, the highest bit of a byte first, in base64.
func (v *View) Bitmap(member, replica int) string {
	var b [store.Partitions / 8]byte
	for p, at := range v.owners[replica] {
		if int(at) == member {
			b[p>>3] |= 0x80 >> (p & 7)
		}
	}
	return base64.StdEncoding.EncodeToString(b[:])
}
