package aerospiketest_test

import (
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// inPartitionOf returns a key of a partition that fits.
func inPartition(t testing.TB, fits func(int) bool) *as.Key {
	t.Helper()
	for i := 0; ; i++ {
		if k := key(t, i); fits(k.PartitionId()) {
			return k
		}
	}
}

func TestClusterGrowsAndShrinks(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	put(t, c, key(t, 1), as.NewBin("a", 1))
	n, err := s.AddNode()
	require.NoError(t, err)
	require.Equal(t, "A3", n.Name())
	require.Len(t, s.Hosts(), 3)
	require.Same(t, n, s.Node(2))
	// The driver has seen the node once it sends it writes.
	arrived := s.Record(aerospiketest.Match{Nodes: []int{2}, Kinds: aerospiketest.KindPut})
	k := inPartition(t, func(p int) bool { return p%3 == 2 })
	for arrived.Len() == 0 {
		tends := s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindInfo}})
		require.NoError(t, tends.Wait(soon(t), 4))
		tends.Remove()
		require.NoError(t, asError(c.PutBins(patientWrite(), k, as.NewBin("a", 1))))
	}
	n.Remove()
	n.Remove()
	require.False(t, n.Up())
	require.ErrorContains(t, n.Restart(), "removed")
	require.Len(t, s.Hosts(), 2)
	require.Len(t, s.Nodes(), 3)
	require.NoError(t, asError(c.PutBins(patientWrite(), k, as.NewBin("a", 2))))
	s.Close()
	_, err = s.AddNode()
	require.ErrorContains(t, err, "server closed")
}

func TestClusterMovesPartitions(t *testing.T) {
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3, Strict: true})
	c := connect(t, s)
	require.NoError(t, s.MovePartitions(1, 0, 5, 4095))
	require.Subset(t, s.Node(1).Partitions(), []int{0, 5, 4095})
	require.NotContains(t, s.Node(0).Partitions(), 0)
	s.Rebalance()
	require.Contains(t, s.Node(0).Partitions(), 0)
	require.NotContains(t, s.Node(1).Partitions(), 0)
	require.ErrorContains(t, s.MovePartitions(3, 0), "node 3")
	require.ErrorContains(t, s.MovePartitions(0, 4096), "partition 4096")
	total := 0
	for _, n := range s.Nodes() {
		total += len(n.Partitions())
	}
	require.Equal(t, aerospiketest.Partitions, total)
	// A driver whose map is old is refused, and gets through once it has looked
	// again: the same call is repeated until then.
	k := inPartition(t, func(p int) bool { return p%3 == 0 })
	put(t, c, k, as.NewBin("a", 1))
	look := s.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo}) // so that it does not look now
	require.NoError(t, look.Wait(soon(t), 1))
	require.NoError(t, s.MovePartitions(1, k.PartitionId()))
	p := writePolicy()
	p.TotalTimeout = time.Second
	require.Equal(t, types.PARTITION_UNAVAILABLE, codeOf(c.PutBins(p, k, as.NewBin("a", 2))))
	look.Release()
	for codeOf(c.PutBins(p, k, as.NewBin("a", 3))) == types.PARTITION_UNAVAILABLE {
		tends := s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindInfo}})
		require.NoError(t, tends.Wait(soon(t), 4))
		tends.Remove()
	}
	r, err := c.Get(patientRead(), k)
	require.NoError(t, asError(err))
	require.Equal(t, 3, r.Bins["a"])
}

func TestClusterStrictNodesRefuse(t *testing.T) {
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3, ReplicationFactor: 2})
	read := func(n int, partition byte) byte {
		digest := make([]byte, 20)
		digest[0] = partition
		_, body := ask(t, dial(t, s.Node(n).Addr()), proto(2, 3, frame{info1: 3, fields: [][]byte{field(0, []byte("test")), field(4, digest)}}.body()))
		return body[5]
	}
	write := func(n int, partition byte) byte {
		digest := make([]byte, 20)
		digest[0] = partition
		_, body := ask(t, dial(t, s.Node(n).Addr()), proto(2, 3, frame{info2: 3, fields: [][]byte{field(0, []byte("test")), field(4, digest)}}.body()))
		return body[5]
	}
	const notFound, unavailable = byte(aerospiketest.CodeNotFound), byte(aerospiketest.CodePartitionUnavailable)
	require.Equal(t, notFound, read(2, 0), "every node serves all")
	require.Equal(t, notFound, write(2, 0))
	for _, n := range s.Nodes() {
		n.SetStrict(true)
	}
	require.Equal(t, notFound, write(0, 0))
	require.Equal(t, notFound, read(1, 0), "the second copy may be read")
	require.Equal(t, unavailable, write(1, 0))
	require.Equal(t, unavailable, read(2, 0))
	s.Node(2).SetStrict(false)
	require.NoError(t, s.SetUnavailable(0, 1))
	require.Equal(t, unavailable, read(0, 0))
	require.Equal(t, unavailable, read(2, 1), "strict or not")
	require.Equal(t, notFound, read(2, 2))
	require.ErrorContains(t, s.SetUnavailable(-1), "partition -1")
	require.NoError(t, s.SetUnavailable())
	require.Equal(t, notFound, read(0, 0))
}

func TestClusterUnavailablePartitionsStopAScan(t *testing.T) {
	s, c := start(t)
	for i := range 30 {
		put(t, c, key(t, i), as.NewBin("id", i))
	}
	require.NoError(t, s.SetUnavailable(key(t, 1).PartitionId()))
	p := scanPolicy()
	p.MaxRetries = 1
	rs, err := c.ScanAll(p, "test", "s")
	require.NoError(t, asError(err))
	failed, seen := false, map[any]int{}
	for r := range rs.Results() {
		if r.Err != nil {
			failed = true
			continue
		}
		seen[r.Record.Bins["id"]]++
	}
	require.True(t, failed)
	require.NotContains(t, seen, 1)
	for id, n := range seen {
		require.Equal(t, 1, n, id)
	}
	require.NoError(t, s.SetUnavailable())
	require.Equal(t, upTo(30), ids(t, must(c.ScanAll(scanPolicy(), "test", "s")), nil))
}

func must(rs *as.Recordset, _ as.Error) *as.Recordset { return rs }

func TestClusterRacks(t *testing.T) {
	s := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 3, Racks: []int{1, 1, 2}})
	c := connect(t, s)
	node := c.GetNodes()[0]
	require.Equal(t, "ns=test:rack_1=A1,A2:rack_2=A3", info(t, node, "racks:"))
	s.Node(0).SetRack(2)
	require.Equal(t, "rack_1=A2:rack_2=A1,A3", info(t, node, "racks:namespace=test"))
	require.Regexp(t, "^test:[12]$", info(t, node, "rack-ids"))
	require.Contains(t, info(t, connect(t, aerospiketest.NewServer(t)).GetNodes()[0], "rack-ids"), "ERROR:25")
	// A driver that prefers a rack reads there.
	near := connect(t, s, func(p *as.ClientPolicy) { p.RackAware, p.RackIds = true, []int{1} })
	k := key(t, 1)
	put(t, near, k, as.NewBin("a", 1))
	log := s.Record(aerospiketest.Match{Kinds: aerospiketest.KindGet})
	rp := readPolicy()
	rp.ReplicaPolicy = as.PREFER_RACK
	for i := range 20 {
		_, _ = near.Get(rp, key(t, i)) // most of them aren't there
	}
	require.Equal(t, 20, log.Len())
	for _, x := range log.Served() {
		require.Equal(t, 1, x.Node)
	}
}

func TestClusterInfoCountsCopiesOfEachNode(t *testing.T) {
	_, c := start(t, aerospiketest.Config{Nodes: 3, ReplicationFactor: 2})
	for i := range 30 {
		put(t, c, key(t, i), as.NewBin("a", i))
	}
	masters, all := 0, 0
	for _, n := range c.GetNodes() {
		m := pairsOf(info(t, n, "namespace/test"))
		masters += number(t, m["master_objects"])
		all += number(t, m["objects"])
	}
	require.Equal(t, 30, masters)
	require.Equal(t, 60, all)
}
