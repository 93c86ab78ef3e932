package aerospike_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// G-AER-3, fact 14: the driver's Close takes the partition map away from under calls: one
// that then looks for its node again panics. Ours waits for the call.
func TestFactCloseUnderACall(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	again := aerospiketest.Fault{Action: aerospiketest.ActionCode, Code: aerospiketest.CodeTimeout, After: true, Times: 1}
	policy := as.NewPolicy()
	policy.ReplicaPolicy, policy.TotalTimeout = as.MASTER, patience

	driver := raw(t, srv)
	srv.Inject(again)
	gate := srv.Hold(aerospiketest.Match{})
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		_, _ = driver.Exists(policy, newKey(t, 1))
	}()
	require.NoError(t, gate.Wait(patient(t), 1))
	driver.Close()
	gate.Release()
	require.ErrorContains(t, (<-panicked).(error), "index out of range", "the fault that this test is about is gone from the driver")

	client := connect(t, srv)
	once, err := client.With(aerospike.NoRetry())
	require.NoError(t, err)
	srv.Inject(again)
	gate = srv.Hold(aerospiketest.Match{})
	answered, closed := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := once.Exists(patient(t), policy, newKey(t, 1))
		answered <- err
	}()
	require.NoError(t, gate.Wait(patient(t), 1))
	go func() { closed <- client.Close(patient(t)) }()
	gate.Release()
	require.Equal(t, spillway.OutcomeTimeout, spillway.OutcomeOf(<-answered), "the server's answer")
	require.NoError(t, <-closed)
	require.NoError(t, srv.AwaitConns(patient(t), 0))
}

// Fact 15: the driver's client has a finalizer that closes it under its last command if
// nobody refers to it any more: its pool is closed while the call is out. A call of ours
// refers to it.
func TestFactFinalizerUnderACall(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	gate := srv.Hold(aerospiketest.Match{})
	answered := make(chan error, 2)
	func() {
		policy := as.NewClientPolicy()
		hosts, aerr := as.NewHosts(srv.Hosts()...)
		require.Nil(t, aerr)
		driver, aerr := as.NewClientWithPolicyAndHost(policy, hosts...)
		require.Nil(t, aerr)
		_, aerr = driver.WarmUp(3)
		require.Nil(t, aerr)
		go func() {
			_, aerr := driver.Exists(as.NewPolicy(), newKey(t, 1))
			answered <- asError(aerr)
		}()
	}()
	require.NoError(t, gate.Wait(patient(t), 1))
	runtime.GC()
	require.NoError(t, srv.AwaitConns(patient(t), 1), "of four connections that of the call is left")
	gate.Release()
	t.Log("the driver says:", <-answered)

	gate = srv.Hold(aerospiketest.Match{})
	func() {
		cfg := aerospike.DefaultConfig(srv.Hosts()...)
		cfg.WarmUp = 3
		client, err := aerospike.New(cfg)
		require.NoError(t, err)
		require.NoError(t, client.Connect(patient(t)))
		go func() {
			_, err := client.Exists(patient(t), nil, newKey(t, 1))
			answered <- err
		}()
	}()
	require.NoError(t, gate.Wait(patient(t), 1))
	for range 5 {
		runtime.GC()
	}
	require.Equal(t, 4, srv.Stats().OpenConns)
	gate.Release()
	require.NoError(t, <-answered)
	// Nobody refers to the client now, and nobody closed it: the driver's finalizer
	// does, which TestMain waits for.
}

// An ErrorRateWindow of zero kills the process that connects: the driver divides by it on
// a goroutine of its own. Ours doesn't begin.
func TestFactErrorRateWindowOfZero(t *testing.T) {
	policy := as.NewClientPolicy()
	policy.ErrorRateWindow = 0
	if address := os.Getenv("SPILLWAY_TEST_CRASH"); address != "" {
		hosts, aerr := as.NewHosts(address)
		require.Nil(t, aerr)
		_, _ = as.NewClientWithPolicyAndHost(policy, hosts...)
		t.Fatal("the fault that this test is about is gone from the driver")
	}
	srv := aerospiketest.NewServer(t)
	child := exec.CommandContext(patient(t), os.Args[0], "-test.run=^TestFactErrorRateWindowOfZero$")
	child.Env = append(os.Environ(), "SPILLWAY_TEST_CRASH="+srv.Addr())
	output, err := child.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(output), "integer divide by zero")
	require.Contains(t, string(output), "goroutine")

	cfg := aerospike.DefaultConfig(srv.Hosts()...)
	cfg.ClientPolicy = policy
	_, err = aerospike.New(cfg)
	require.ErrorContains(t, err, "ClientPolicy.ErrorRateWindow is 0: must be positive")
}

// Fact 16: what administers and what tends goes over one connection of each node, and the
// driver waits for it without a limit. A caller of ours leaves when his context ends, and
// one too many is refused.
func TestFactSharedConnection(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	driver := raw(t, srv, func(p *as.ClientPolicy) { p.TendInterval = time.Hour })
	gate := srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	truncated, listed := make(chan error, 2), make(chan error, 1)
	go func() {
		truncated <- asError(driver.Truncate(&as.InfoPolicy{Timeout: patience}, "test", "s", nil))
	}()
	require.NoError(t, gate.Wait(patient(t), 1))
	policy := as.NewPolicy()
	policy.TotalTimeout = short / 10
	go func() {
		_, aerr := driver.ListUDF(policy)
		listed <- asError(aerr)
	}()
	late, cancel := context.WithTimeout(context.Background(), short)
	defer cancel()
	select {
	case err := <-listed:
		t.Fatalf("the fault that this test is about is gone from the driver: %v", err)
	case <-late.Done(): // ten times its timeout
	}
	gate.Release()
	require.NoError(t, <-truncated)
	require.NoError(t, <-listed)

	client := connect(t, srv, func(c *aerospike.Config) { c.ClientPolicy.TendInterval = time.Hour })
	gate = srv.Hold(aerospiketest.Match{Kinds: aerospiketest.KindInfo})
	go func() { truncated <- client.Truncate(patient(t), &as.InfoPolicy{Timeout: patience}, "test", "s", nil) }()
	require.NoError(t, gate.Wait(patient(t), 1))
	brief, stop := context.WithTimeout(context.Background(), short)
	defer stop()
	_, err := client.ListUDF(brief, nil)
	var left *aerospike.DetachedError
	require.ErrorAs(t, err, &left)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = client.ListUDF(patient(t), nil)
	require.ErrorIs(t, err, spillway.ErrBackpressure, "the one who left keeps his permit until the driver is done")
	gate.Release()
	require.NoError(t, <-truncated)
	balanced(t, client)
}
