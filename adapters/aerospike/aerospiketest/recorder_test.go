package aerospiketest_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestRecorderKeepsWhatEachCommandSaid(t *testing.T) {
	s, c := start(t)
	log := s.Record()
	k := key(t, 1)
	wp := writePolicy()
	wp.TotalTimeout, wp.Expiration = 1500*time.Millisecond, 77
	require.NoError(t, asError(c.PutBins(wp, k, as.NewBin("a", 1))))
	_, err := c.Get(readPolicy(), key(t, 2))
	require.Error(t, asError(err))
	_, err = c.BatchGet(batchPolicy(), []*as.Key{k, key(t, 2), key(t, 3)})
	require.NoError(t, asError(err))
	require.Equal(t, []int{1}, scanned(t, c, "a"))
	st := statement(nil)
	st.TaskId = 9
	_, err = c.QueryExecute(queryPolicy(), writePolicy(), st, as.TouchOp())
	require.NoError(t, asError(err))

	all := log.Served()
	require.Equal(t, len(all), log.Len())
	require.Len(t, all, 5)
	put, get, batch, scan, job := all[0], all[1], all[2], all[3], all[4]
	require.Equal(t, aerospiketest.KindPut, put.Kind)
	require.True(t, bytes.Equal(k.Digest(), put.Digest[:]))
	require.LessOrEqual(t, put.Timeout, 1500*time.Millisecond)
	require.Greater(t, put.Timeout, time.Second)
	require.EqualValues(t, 77, put.TTL)
	require.Equal(t, [3]byte{0, 1, 0}, put.Info)
	require.Equal(t, "test/s", put.Namespace+"/"+put.Set)
	require.Equal(t, aerospiketest.CodeNotFound, get.Code)
	require.Equal(t, 3, batch.Records)
	require.Equal(t, patience, scan.SocketTimeout)
	require.NotZero(t, scan.Task)
	require.Equal(t, aerospiketest.KindBackground, job.Kind)
	require.EqualValues(t, 9, job.Task)
	for _, x := range all {
		require.True(t, x.Done && x.Answered, x)
	}
}

// scanned reads a bin of every record.
func scanned(t testing.TB, c *as.Client, bin string) (out []int) {
	t.Helper()
	rs, err := c.ScanAll(scanPolicy(), "test", "s")
	require.NoError(t, asError(err))
	for r := range rs.Results() {
		require.NoError(t, asError(r.Err))
		out = append(out, r.Record.Bins[bin].(int))
	}
	return out
}

func TestRecorderSeesCommandsThatAreNotAnswered(t *testing.T) {
	s, c := start(t)
	log := s.Record()
	gate := s.Hold(aerospiketest.Match{})
	lost := make(chan error)
	p := readPolicy()
	p.SocketTimeout, p.TotalTimeout = 100*time.Millisecond, 100*time.Millisecond
	go func() {
		_, err := c.Get(p, key(t, 1))
		lost <- asError(err)
	}()
	require.NoError(t, gate.Wait(soon(t), 1))
	require.Len(t, log.Served(), 1)
	require.False(t, log.Served()[0].Done)
	require.Error(t, <-lost) // and the driver has hung up
	require.NoError(t, log.Wait(soon(t), 1))
	require.True(t, log.Served()[0].Done)
	require.False(t, log.Served()[0].Answered)
	gate.Release()
	// A command that was in the log before it was emptied does not come back.
	gate = s.Hold(aerospiketest.Match{})
	go func() { lost <- asError(c.PutBins(writePolicy(), key(t, 1), as.NewBin("a", 1))) }()
	require.NoError(t, gate.Wait(soon(t), 1))
	log.Reset()
	gate.Release()
	require.NoError(t, <-lost)
	require.Empty(t, log.Served())
	log.Stop()
	put(t, c, key(t, 1), as.NewBin("a", 1))
	require.Zero(t, log.Len())
}

func TestRecorderKeepsWhatMatches(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	writes := s.Record(aerospiketest.Match{Kinds: aerospiketest.KindsWrite, Set: "s"}, aerospiketest.Match{Nodes: []int{1}, Kinds: aerospiketest.KindGet})
	infos := s.Record(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	put(t, c, key(t, 1), as.NewBin("a", 1))
	put(t, c, keyIn(t, "other", 1), as.NewBin("a", 1))
	require.Equal(t, 1, writes.Len())
	require.Zero(t, writes.Missed())
	require.NoError(t, infos.Wait(soon(t), 2))
	require.Contains(t, infos.Served()[0].Text, "\n")
	require.Panics(t, func() { s.Record(aerospiketest.Match{Nodes: []int{7}}) })
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("given up"))
	require.ErrorContains(t, writes.Wait(ctx, 99), "1 of 99 commands done: given up")
}

func TestRecorderIsBounded(t *testing.T) {
	s := aerospiketest.NewServer(t)
	log := s.Record(aerospiketest.Match{Kinds: aerospiketest.KindAdmin})
	c := dial(t, s.Addr())
	login := proto(2, 2, append([]byte{0, 0, 20, 0}, make([]byte, 12)...))
	go func() {
		for range aerospiketest.RecorderLimit + 5 {
			if _, err := c.Write(login); err != nil {
				return
			}
		}
	}()
	for range aerospiketest.RecorderLimit + 5 {
		_, _, err := readFrame(c)
		require.NoError(t, err)
	}
	require.Equal(t, aerospiketest.RecorderLimit, log.Len())
	require.Equal(t, 5, log.Missed())
}

func TestRecorderWaitEndsWhenNoMoreCanCome(t *testing.T) {
	s, c := start(t)
	stopped, closed := s.Record(), s.Record()
	put(t, c, key(t, 1), as.NewBin("a", 1))
	stopped.Stop()
	put(t, c, key(t, 2), as.NewBin("a", 1))
	require.NoError(t, stopped.Wait(context.Background(), 1))
	require.ErrorContains(t, stopped.Wait(context.Background(), 2), "log stopped with 1 of 2 commands")
	waited := make(chan error, 1)
	go func() { waited <- closed.Wait(context.Background(), 3) }()
	s.Close()
	require.ErrorContains(t, <-waited, "log stopped with 2 of 3 commands")
}
