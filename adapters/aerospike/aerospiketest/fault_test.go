package aerospiketest_test

import (
	"io"
	"net"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

func TestFaultCodeAnswersAndDoesNotCarryOut(t *testing.T) {
	s, c := start(t)
	f := s.Inject(aerospiketest.Fault{
		Match: aerospiketest.Match{Kinds: aerospiketest.KindPut}, Skip: 1, Times: 2,
		Action: aerospiketest.ActionCode, Code: aerospiketest.CodeKeyBusy,
	})
	var got []types.ResultCode
	for i := range 4 {
		got = append(got, codeOf(c.PutBins(writePolicy(), key(t, i), as.NewBin("a", 1))))
	}
	require.Equal(t, []types.ResultCode{types.OK, types.KEY_BUSY, types.KEY_BUSY, types.OK}, got)
	require.Equal(t, 2, f.Hits())
	require.Equal(t, 2, s.Records("test", "s"))
	require.EqualValues(t, 2, s.Stats().Results[aerospiketest.CodeKeyBusy])
}

func TestFaultAfterCarriesOutFirst(t *testing.T) {
	s, c := start(t)
	f := s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindPut}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeTimeout, After: true})
	err := c.PutBins(writePolicy(), key(t, 1), as.NewBin("a", 1))
	require.True(t, err.Matches(types.TIMEOUT), err)
	require.Equal(t, 1, s.Records("test", "s"))
	f.Remove()
	put(t, c, key(t, 2), as.NewBin("a", 1))
	require.Equal(t, 1, f.Hits())
}

func TestFaultMatchesSetNamespaceAndNode(t *testing.T) {
	s, c := start(t, aerospiketest.Config{Nodes: 2})
	fail := func(m aerospiketest.Match) *aerospiketest.Injected {
		return s.Inject(aerospiketest.Fault{Match: m, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden})
	}
	f := fail(aerospiketest.Match{Set: "blocked"})
	put(t, c, key(t, 1), as.NewBin("a", 1))
	require.Equal(t, types.FAIL_FORBIDDEN, codeOf(c.PutBins(writePolicy(), keyIn(t, "blocked", 1), as.NewBin("a", 1))))
	f.Remove()
	f = fail(aerospiketest.Match{Namespace: "other"})
	put(t, c, key(t, 1), as.NewBin("a", 1))
	f.Remove()
	f = fail(aerospiketest.Match{Nodes: []int{1}})
	failed := 0
	for i := range 50 {
		k := key(t, i)
		err := c.PutBins(writePolicy(), k, as.NewBin("a", 1))
		require.Equal(t, k.PartitionId()%2 == 1, err != nil)
		if err != nil {
			failed++
		}
	}
	require.Equal(t, failed, f.Hits())
}

func TestFaultCodeOfBatchAndScanIsForTheWhole(t *testing.T) {
	s, c := start(t)
	warm(t, c, 4)
	fill(t, c, 10)
	s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindBatch}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeDeviceOverload})
	s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindScan}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden})
	_, err := c.BatchGet(batchPolicy(), []*as.Key{key(t, 1), key(t, 2)})
	require.True(t, err.Matches(types.DEVICE_OVERLOAD), err)
	rs, err := c.ScanAll(scanPolicy(), "test", "s")
	require.NoError(t, asError(err))
	res := <-rs.Results()
	require.True(t, res.Err.Matches(types.FAIL_FORBIDDEN), res.Err)
	require.NoError(t, asError(rs.Close()))
}

func TestFaultsAreAppliedInOrder(t *testing.T) {
	s, c := start(t)
	const wait = 50 * time.Millisecond
	slow := s.Inject(aerospiketest.Fault{Delay: wait})
	busy := s.Inject(aerospiketest.Fault{Times: 1, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeKeyBusy})
	never := s.Inject(aerospiketest.Fault{Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden})
	begin := time.Now()
	_, err := c.Get(readPolicy(), key(t, 1))
	require.Equal(t, types.KEY_BUSY, codeOf(err))
	require.GreaterOrEqual(t, time.Since(begin), wait)
	require.Equal(t, []int{1, 1, 0}, []int{slow.Hits(), busy.Hits(), never.Hits()})
}

func TestFaultResetAndTruncateBreakTheConnection(t *testing.T) {
	s, c := start(t)
	put(t, c, key(t, 1), as.NewBin("a", 1))
	for _, a := range []aerospiketest.Action{aerospiketest.ActionReset, aerospiketest.ActionTruncate} {
		for _, after := range []bool{false, true} {
			s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindGet}, Times: 1, Action: a, After: after})
			_, err := c.Get(readPolicy(), key(t, 1))
			require.True(t, err.Matches(types.NETWORK_ERROR), err)
			p := readPolicy()
			p.MaxRetries = 2
			_, err = c.Get(p, key(t, 1))
			require.NoError(t, asError(err))
		}
	}
}

func TestFaultTruncateSendsHalf(t *testing.T) {
	s := aerospiketest.NewServer(t)
	s.Inject(aerospiketest.Fault{Action: aerospiketest.ActionTruncate})
	c := dial(t, s.Addr())
	_, err := c.Write(proto(2, 3, frame{info1: 3}.body()))
	require.NoError(t, err)
	b, err := io.ReadAll(c)
	require.NoError(t, err)
	require.Len(t, b, 15)
}

func TestFaultSwallowNeverAnswers(t *testing.T) {
	s, c := start(t)
	f := s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindPut}, Action: aerospiketest.ActionSwallow})
	p := writePolicy()
	p.TotalTimeout, p.SocketTimeout = 50*time.Millisecond, 50*time.Millisecond
	err := c.PutBins(p, key(t, 1), as.NewBin("a", 1))
	require.True(t, err.Matches(types.TIMEOUT), err)
	require.NoError(t, f.Wait(soon(t), 1))
	require.Zero(t, s.Records("test", "s"))
}

func TestFaultStallHoldsUntilRemoved(t *testing.T) {
	s, c := start(t)
	f := s.Inject(aerospiketest.Fault{Action: aerospiketest.ActionStall})
	done := make(chan as.Error, 1)
	go func() { done <- c.PutBins(writePolicy(), key(t, 1), as.NewBin("a", 1)) }()
	require.NoError(t, f.Wait(soon(t), 1))
	require.Equal(t, 1, s.Stats().InFlight)
	require.Zero(t, s.Records("test", "s"))
	f.Remove()
	require.NoError(t, asError(<-done))
	require.Error(t, f.Wait(soon(t), 2))
}

func TestFaultOnInfoIsAnErrorText(t *testing.T) {
	s := aerospiketest.NewServer(t)
	s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindInfo}, Action: aerospiketest.ActionCode, Code: aerospiketest.CodeForbidden})
	_, body := ask(t, dial(t, s.Addr()), proto(2, 1, []byte("node\nbuild\n")))
	require.Equal(t, "node\tERROR:22:injected fault\nbuild\tERROR:22:injected fault\n", string(body))
}

func TestFaultAfterAScanLosesItsEnd(t *testing.T) {
	s, c := start(t)
	fill(t, c, 2000) // several frames
	s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindScan}, Times: 1, Action: aerospiketest.ActionReset, After: true})
	p := scanPolicy()
	p.MaxRetries = 0
	rs, err := c.ScanAll(p, "test", "s")
	require.NoError(t, asError(err))
	records, errors := 0, 0
	for res := range rs.Results() {
		if res.Err != nil {
			errors++
		} else {
			records++
		}
	}
	require.Less(t, records, 2000) // a reset takes along what was not read yet
	require.Positive(t, errors)
}

func TestFaultThatIsFaultyPanics(t *testing.T) {
	s := aerospiketest.NewServer(t)
	for _, f := range []aerospiketest.Fault{
		{Skip: -1},
		{Times: -1},
		{Delay: -1},
		{Action: 99},
		{Action: aerospiketest.ActionCode},
		{Code: aerospiketest.CodeKeyBusy},
		{Match: aerospiketest.Match{Nodes: []int{1}}},
		{Match: aerospiketest.Match{Kinds: 1 << 30}},
	} {
		require.Panics(t, func() { s.Inject(f) }, f)
	}
	s.Close()
	require.Panics(t, func() { s.Inject(aerospiketest.Fault{}) })
	require.Panics(t, func() { s.Hold(aerospiketest.Match{}) })
}

func TestAcceptCanRefuseAndDelay(t *testing.T) {
	s := aerospiketest.NewServer(t)
	s.Node(0).SetAccept(aerospiketest.Accept{Refuse: true})
	c, err := net.Dial("tcp", s.Addr())
	if err == nil { // the reset may come first
		_, _, err = readFrame(c)
		_ = c.Close()
	}
	require.Error(t, err)
	const wait = 50 * time.Millisecond
	s.Node(0).SetAccept(aerospiketest.Accept{Delay: wait})
	begin := time.Now()
	ask(t, dial(t, s.Addr()), proto(2, 1, []byte("node\n")))
	require.GreaterOrEqual(t, time.Since(begin), wait)
}
