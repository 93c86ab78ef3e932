package aerospiketest_test

import (
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// patientRead tries until the cluster has moved on.
func patientRead() *as.BasePolicy {
	p := readPolicy()
	p.MaxRetries, p.SleepBetweenRetries = 400, 20*time.Millisecond
	p.SocketTimeout = time.Second
	return p
}

func patientWrite() *as.WritePolicy {
	p := writePolicy()
	p.BasePolicy = *patientRead()
	return p
}

func TestNodeThatIsKilledLosesNothing(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 3})
	const n = 60
	for i := range n {
		put(t, c, key(t, i), as.NewBin("a", i))
	}
	s.Node(1).Kill()
	s.Node(1).Kill()
	require.False(t, s.Node(1).Up())
	for i := range n {
		r, err := c.Get(patientRead(), key(t, i))
		require.NoError(t, asError(err))
		require.Equal(t, i, r.Bins["a"])
		require.NoError(t, asError(c.PutBins(patientWrite(), key(t, i), as.NewBin("a", i+1))))
	}
	before := s.Node(1).Stats().Count(0)
	require.NoError(t, s.Node(1).Restart())
	require.NoError(t, s.Node(1).Restart())
	require.True(t, s.Node(1).Up())
	// Writes go to the master, so the driver has seen the node come back once
	// one of them arrives there.
	back := s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Nodes: []int{1}, Kinds: aerospiketest.KindPut}})
	var k *as.Key
	for i := 0; k == nil || k.PartitionId()%3 != 1; i++ {
		k = key(t, i)
	}
	// The tend commands of the node are counted by what it answers: the driver
	// knows it again after it has asked for the partitions.
	tends := s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Nodes: []int{1}, Kinds: aerospiketest.KindInfo}})
	require.NoError(t, tends.Wait(soon(t), 20))
	require.NoError(t, asError(c.PutBins(patientWrite(), k, as.NewBin("a", 1))))
	require.NoError(t, back.Wait(soon(t), 1))
	require.Greater(t, s.Node(1).Stats().Count(0), before)
}

func TestNodeReplicaAnswersReads(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	var k *as.Key
	for i := 0; k == nil || k.PartitionId()%2 != 1; i++ {
		k = key(t, i)
	}
	put(t, c, k, as.NewBin("a", 1))
	s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Nodes: []int{1}}, Action: aerospiketest.ActionReset})
	p := readPolicy()
	p.MaxRetries = 2 // two attempts: master, then replica
	warm(t, c, 2)
	r, err := c.Get(p, k)
	require.NoError(t, asError(err))
	require.Equal(t, 1, r.Bins["a"])
	require.EqualValues(t, 1, s.Node(0).Stats().Count(aerospiketest.KindGet))
	require.EqualValues(t, 1, s.Node(1).Stats().Count(aerospiketest.KindGet))
}

func TestNodePauseStallsEverythingUntilResume(t *testing.T) {
	s := aerospiketest.NewServer(t)
	info, data := dial(t, s.Addr()), dial(t, s.Addr())
	n := s.Node(0)
	n.Pause()
	n.Pause()
	_, err := info.Write(proto(2, 1, []byte("node\n")))
	require.NoError(t, err)
	_, err = data.Write(proto(2, 3, frame{info1: 3}.body()))
	require.NoError(t, err)
	require.NoError(t, info.SetReadDeadline(time.Now().Add(30*time.Millisecond)))
	_, _, err = readFrame(info)
	require.Error(t, err)
	require.NoError(t, info.SetReadDeadline(time.Now().Add(patience)))
	n.Resume()
	n.Resume()
	for _, c := range []interface{ Read([]byte) (int, error) }{info, data} {
		_, err = c.Read(make([]byte, 1))
		require.NoError(t, err)
	}
}

func TestNodeKillEndsHeldCommands(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	s.Node(0).Pause()
	g := s.Hold(aerospiketest.Match{Nodes: []int{1}})
	done := puts(t, c, 10)
	var ones int
	for i := range 10 {
		if key(t, i).PartitionId()%2 == 1 {
			ones++
		}
	}
	require.NoError(t, g.Wait(soon(t), ones))
	s.Node(1).Kill()
	s.Node(0).Kill()
	for range 10 {
		require.Error(t, <-done)
	}
	require.Zero(t, g.Held())
	require.Zero(t, s.Stats().OpenConns)
}
