package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest/internal/store"
)

func add(n *store.Namespace, last byte, r store.Record) *store.Partition {
	r.Digest = store.Digest{1, 0xf2, 19: last}
	p := n.Part(r.Digest.Partition())
	p.Lock()
	defer p.Unlock()
	p.PutLocked(&r)
	return p
}

func TestPartitionOfADigest(t *testing.T) {
	require.Equal(t, 0x201, (&store.Digest{1, 0xf2}).Partition())
}

func TestPartitionOrderOfDigests(t *testing.T) {
	n := store.NewNamespace("n", new(store.Clock), 0, 1)
	var p *store.Partition
	for _, b := range []byte{3, 9, 1, 7} {
		p = add(n, b, store.Record{})
	}
	p.Lock()
	defer p.Unlock()
	after := store.Digest{1, 0xf2, 19: 7}
	var last []byte
	for _, d := range append(p.DigestsLocked(nil, nil), p.DigestsLocked(nil, &after)...) {
		last = append(last, d[19])
	}
	require.Equal(t, []byte{9, 7, 3, 1, 3, 1}, last)
}

func TestNamespaceExpiresAndTruncates(t *testing.T) {
	clock := new(store.Clock)
	n := store.NewNamespace("n", clock, 0, 1)
	p := add(n, 1, store.Record{Set: "a", Expires: clock.Now() + int64(time.Hour), Updated: 100})
	add(n, 2, store.Record{Set: "b", Updated: 200})
	add(n, 3, store.Record{Set: "b", Updated: 300})
	require.Equal(t, []int{3, 1, 2}, []int{n.Count(""), n.Count("a"), n.Count("b")})
	clock.Advance(time.Hour)
	require.Equal(t, []int{2, 0, 2}, []int{n.Count(""), n.Count("a"), n.Count("b")})
	p.Lock()
	require.Nil(t, p.GetLocked(&store.Digest{1, 0xf2, 19: 1}, clock))
	p.Unlock()
	n.Truncate("b", 300)
	require.Equal(t, 1, n.Count(""))
	n.Truncate("a", 0)
	require.Equal(t, 1, n.Count(""))
	n.Truncate("", 0)
	require.Zero(t, n.Count(""))
}
