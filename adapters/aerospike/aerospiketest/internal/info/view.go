package info

import (
	"encoding/base64"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
)

// A Member is a node as the cluster sees it.
type Member struct {
	Name    string
	Addr    string // host:port
	TLSName string // what its certificate is for
	Rack    int
	Up      bool
}

// A Layout is what a view is made of.
type Layout struct {
	Members        []Member
	Factor         int          // replication factor
	Peers, Balance int          // generations of the members and of the partitions
	Racks          bool         // whether there are racks
	Moved          map[int]int  // members that have the first copy while they are up, by partition
	Unavailable    map[int]bool // partitions that nobody serves
}

// A View is the cluster between two changes. It never changes.
type View struct {
	Layout

	owners [][store.Partitions]int16 // by replica: the index of the member, or -1
}

// NewView returns the view of a layout, whose parts must not change any more. A
// partition's copies are on the members that are up, in the order that starts at
// its number modulo the number of members: so a member that goes moves no
// partition but its own. With racks, copies go to as many racks as there are.
func NewView(l Layout) *View {
	v := &View{Layout: l}
	up := v.Up()
	v.owners = make([][store.Partitions]int16, max(1, min(l.Factor, up)))
	for p := range store.Partitions {
		for r := range v.owners {
			if v.owners[r][p] = -1; up > 0 {
				v.owners[r][p] = int16(v.pick(p, r))
			}
		}
	}
	return v
}

// pick returns the member for a copy of a partition, given those that have the
// copies before it; -1 is none.
func (v *View) pick(p, replica int) int {
	if to, ok := v.Moved[p]; ok && replica == 0 && v.Members[to].Up {
		return to
	}
	second := -1 // a member on a rack that has a copy already
	for i := range v.Members {
		at := (p + i) % len(v.Members)
		switch m := &v.Members[at]; {
		case !m.Up || v.has(p, replica, at):
		case !v.Racks || !v.hasRack(p, replica, m.Rack):
			return at
		case second < 0:
			second = at
		}
	}
	return second
}

func (v *View) has(p, replicas, member int) bool {
	for r := range replicas {
		if int(v.owners[r][p]) == member {
			return true
		}
	}
	return false
}

func (v *View) hasRack(p, replicas, rack int) bool {
	for r := range replicas {
		if at := v.owners[r][p]; at >= 0 && v.Members[at].Rack == rack {
			return true
		}
	}
	return false
}

// Replicas returns the number of copies there are now.
func (v *View) Replicas() int { return len(v.owners) }

// Owns reports whether a member has a copy of a partition.
func (v *View) Owns(member, partition int) bool { return v.has(partition, len(v.owners), member) }

// Leads reports whether a member has the first copy of a partition.
func (v *View) Leads(member, partition int) bool { return v.has(partition, 1, member) }

// Owner returns the member that has a copy of a partition, or -1.
func (v *View) Owner(replica, partition int) int { return int(v.owners[replica][partition]) }

// Up returns the number of members that are up.
func (v *View) Up() int {
	n := 0
	for _, m := range v.Members {
		if m.Up {
			n++
		}
	}
	return n
}

// first returns the name of the first member that is up, which stands for the
// principal.
func (v *View) first() string {
	for _, m := range v.Members {
		if m.Up {
			return m.Name
		}
	}
	return ""
}

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
