package aerospiketest_test

import (
	"context"
	"math"
	"runtime"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

const years = 365 * 24 * time.Hour

func TestMisuseIsToldByFieldAndValue(t *testing.T) {
	s := aerospiketest.NewServer(t)
	g := s.Hold(aerospiketest.Match{})
	connect := aerospiketest.Match{Kinds: aerospiketest.KindConnect | aerospiketest.KindJob}
	for want, f := range map[string]func(){
		"Gate.Step by -1":                        func() { g.Step(-1) },
		"Advance by -1s":                         func() { s.Advance(-time.Second) },
		"Advance by 2562047h47m16.854775807s":    func() { s.Advance(math.MaxInt64) },
		"Accept.Delay is -1s":                    func() { s.Node(0).SetAccept(aerospiketest.Accept{Delay: -time.Second}) },
		"Match.Kinds is job|connect, of which":   func() { s.Inject(aerospiketest.Fault{Match: connect}) },
		"Match.Kinds is job|connect, of which o": func() { s.Record(connect) },
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				require.ErrorContains(t, err, want)
			}()
			f()
		}()
	}
	s.Hold(connect).Release()
	s.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsAll}}).Remove()
	require.ErrorContains(t, s.AwaitConns(context.Background(), -1), "AwaitConns of -1 connections")
	require.ErrorContains(t, s.RegisterLua("m", ""), `file "m"`)
	require.ErrorContains(t, s.RegisterFunc("m", "", nil), `package "m" and function ""`)
}

// Lists of more than twice the largest record of a real server are refused whatever the
// config says, so it may not say more.
func TestRecordsCanBeNoLargerThanOnARealServer(t *testing.T) {
	_, err := aerospiketest.Start(aerospiketest.Config{MaxRecordSize: 64 << 20})
	require.ErrorContains(t, err, "Config.MaxRecordSize is 67108864, want 1 to 8388608 bytes")
	_, c := start(t, aerospiketest.Config{MaxRecordSize: 8 << 20})
	put(t, c, key(t, 1), as.NewBin("l", [][]byte{make([]byte, 8<<20-100)}))
}

func TestTimesThatWouldOverflowAreRefused(t *testing.T) {
	_, err := aerospiketest.Start(aerospiketest.Config{DefaultTTL: 20 * years})
	require.ErrorContains(t, err, "Config.DefaultTTL is 175200h0m0s")
	_, err = aerospiketest.Start(aerospiketest.Config{Security: &aerospiketest.Security{SessionTTL: 20 * years}})
	require.ErrorContains(t, err, "Config.Security.SessionTTL is 175200h0m0s")

	s, c := start(t, aerospiketest.Config{DefaultTTL: 10 * years})
	put(t, c, key(t, 1), as.NewBin("a", 1))
	s.Advance(9 * years)
	require.Equal(t, 1, s.Records("test", ""))
	s.Advance(90 * years)
	require.Zero(t, s.Records("test", ""))
	require.Panics(t, func() { s.Advance(2 * years) })
	put(t, c, key(t, 1), as.NewBin("a", 1))
	_, err = c.Get(readPolicy(), key(t, 1))
	require.NoError(t, err)
}

// A function of a test's own may end its goroutine, as require does when it fails.
func TestFunctionThatEndsItsGoroutineLeavesNothingBehind(t *testing.T) {
	s, c := start(t)
	require.NoError(t, s.RegisterFunc("m", "exit", func(*aerospiketest.UDFRecord, []any) (any, error) {
		runtime.Goexit()
		return nil, nil
	}))
	put(t, c, key(t, 1), as.NewBin("a", 1))
	log := s.Record()
	p := writePolicy()
	_, err := c.Execute(p, key(t, 1), "m", "exit")
	require.Error(t, err)
	require.NoError(t, log.Wait(soon(t), 1))
	require.False(t, log.Served()[0].Answered)
	require.Zero(t, s.Stats().InFlight)
	put(t, c, key(t, 1), as.NewBin("a", 2)) // its partition isn't locked

	st := as.NewStatement("test", "s")
	st.TaskId = 7
	_, err = c.ExecuteUDF(queryPolicy(), st, "m", "exit")
	require.NoError(t, asError(err))
	require.Contains(t, info(t, c.GetNodes()[0], "query-show:trid=7"), "status=done(abandoned-unknown)")
}
