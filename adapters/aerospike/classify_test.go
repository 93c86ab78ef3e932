package aerospike_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/aerospike/aerospike-client-go/v7/types"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// R139, T-22: every code that the driver knows has a class, and one that nobody knows
// keeps its number.
func TestClassifyKnowsEveryCode(t *testing.T) {
	unclassed := map[int]bool{1: true, 213: true} // the server's own "something failed"
	known := 0
	for code := -30; code <= 1400; code++ {
		if strings.Contains(types.ResultCodeToString(types.ResultCode(code)), "not available yet") {
			continue // the driver has no name for it
		}
		known++
		v := aerospike.Classify(&as.AerospikeError{ResultCode: types.ResultCode(code)})
		require.EqualValues(t, code, v.Code)
		if !unclassed[code] {
			require.NotEqual(t, spillway.OutcomeUnknown, v.Outcome, "code %d", code)
		}
	}
	require.Greater(t, known, 80)
	v := aerospike.Classify(&as.AerospikeError{ResultCode: 999})
	require.EqualValues(t, 999, v.Code)
	require.Equal(t, spillway.OutcomeUnknown, v.Outcome)
}

// Facts 7 and 8: the cause is found where matching down the chain finds noise. The
// chains are the driver's own.
func TestClassifyFindsTheCause(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	policy := as.NewPolicy()
	policy.TotalTimeout = 300 * time.Millisecond
	for _, c := range []struct {
		name    string
		fault   aerospiketest.Fault
		retries int
		code    types.ResultCode
		outcome spillway.Outcome
		sent    bool
	}{
		{"not found", aerospiketest.Fault{}, 2, types.KEY_NOT_FOUND_ERROR, spillway.OutcomePermanent, true},
		{"hot key", code(aerospiketest.CodeKeyBusy), 2, types.KEY_BUSY, spillway.OutcomeKeyOverload, true},
		{"device overload", code(aerospiketest.CodeDeviceOverload), 2, types.DEVICE_OVERLOAD, spillway.OutcomeOverload, true},
		{"out of space", code(aerospiketest.CodeServerMem), 2, types.SERVER_MEM_ERROR, spillway.OutcomeStopWrites, true},
		{"server timeout, out of retries", code(aerospiketest.CodeTimeout), 3, types.TIMEOUT, spillway.OutcomeTimeout, true},
		{"no answer, one attempt", aerospiketest.Fault{Action: aerospiketest.ActionSwallow}, 1, types.TIMEOUT, spillway.OutcomeTimeout, true},
		{"no answer, out of time", aerospiketest.Fault{Action: aerospiketest.ActionSwallow}, 10, types.TIMEOUT, spillway.OutcomeTimeout, true},
		{"reset, out of retries", aerospiketest.Fault{Action: aerospiketest.ActionReset}, 2, types.NETWORK_ERROR, spillway.OutcomeNetwork, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			driver := raw(t, srv) // cold: its first call finds an empty pool, which stays in the chain
			fault := srv.Inject(c.fault)
			defer fault.Remove()
			p := *policy
			p.MaxRetries = c.retries
			_, err := driver.Get(&p, newKey(t, "k"))
			require.Error(t, asError(err))
			v := aerospike.Classify(err)
			require.Equal(t, c.code, v.Code, "%v", err)
			require.Equal(t, c.outcome, v.Outcome)
			require.Equal(t, c.sent, v.Sent)
			require.Equal(t, c.outcome == spillway.OutcomeTimeout || c.outcome == spillway.OutcomeNetwork, !v.Refused)
		})
	}
}

func code(c aerospiketest.Code) aerospiketest.Fault {
	return aerospiketest.Fault{Action: aerospiketest.ActionCode, Code: c}
}

// Fact 7: an exhausted pool says in doubt and timeout; it was never sent.
func TestClassifyExhaustedPoolWasNeverSent(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	driver := raw(t, srv, func(p *as.ClientPolicy) { p.ConnectionQueueSize = 2 })
	gate := srv.Hold(aerospiketest.Match{})
	done := make(chan error, 1)
	go func() {
		_, err := driver.Exists(as.NewPolicy(), newKey(t, 1))
		done <- asError(err)
	}()
	require.NoError(t, gate.Wait(patient(t), 1))
	write := as.NewWritePolicy(0, 0)
	write.TotalTimeout = 50 * time.Millisecond
	err := driver.Put(write, newKey(t, 2), as.BinMap{"a": 1})
	require.True(t, err.IsInDoubt(), "the driver's word on it")
	v := aerospike.Classify(err)
	require.Equal(t, types.NO_AVAILABLE_CONNECTIONS_TO_NODE, v.Code)
	require.Equal(t, spillway.OutcomeOverload, v.Outcome)
	require.False(t, v.Sent)
	require.True(t, v.Refused)
	require.True(t, aerospike.IsOverload(err))
	gate.Release()
	require.NoError(t, <-done)
}

// R140: the overload of the server and the refusals of ours are one question.
func TestIsOverload(t *testing.T) {
	driver := func(c types.ResultCode) error { return &as.AerospikeError{ResultCode: c} }
	for err, want := range map[error]bool{
		spillway.ErrBackpressure:                          true,
		fmt.Errorf("wrapped: %w", driver(types.TIMEOUT)):  true,
		driver(types.DEVICE_OVERLOAD):                     true,
		driver(types.KEY_BUSY):                            true,
		driver(types.QUOTA_EXCEEDED):                      true,
		driver(types.SERVER_MEM_ERROR):                    true,
		driver(types.PARTITION_UNAVAILABLE):               true,
		driver(types.SERVER_NOT_AVAILABLE):                true,
		driver(types.NO_AVAILABLE_CONNECTIONS_TO_NODE):    true,
		context.DeadlineExceeded:                          true,
		driver(types.KEY_NOT_FOUND_ERROR):                 false,
		driver(types.NETWORK_ERROR):                       false,
		context.Canceled:                                  false,
		errors.New("something else"):                      false,
		spillway.ErrClosed:                                false,
		&spillway.ConfigError{Component: "aerospike.Get"}: false,
	} {
		require.Equal(t, want, aerospike.IsOverload(err), "%v", err)
	}
	require.False(t, aerospike.IsOverload(nil))
}

// R143: what a service answers its own caller.
func TestStatusOf(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	for _, c := range []struct {
		code  aerospiketest.Code
		http  int
		grpc  int
		after time.Duration
	}{
		{aerospiketest.CodeNotFound, 404, 5, 0},
		{aerospiketest.CodeGeneration, 409, 10, 0},
		{aerospiketest.CodeRecordExists, 409, 6, 0},
		{aerospiketest.CodeParameter, 400, 3, 0},
		{aerospiketest.CodeRecordTooBig, 413, 3, 0},
		{aerospiketest.CodeFilteredOut, 412, 9, 0},
		{aerospiketest.CodeKeyBusy, 503, 14, time.Second},
		{aerospiketest.CodeDeviceOverload, 503, 14, time.Second},
		{aerospiketest.CodeServerMem, 503, 14, 10 * time.Second},
		{aerospiketest.CodeUnsupported, 501, 12, 0},
		{aerospiketest.CodeServerError, 500, 2, 0},
	} {
		fault := srv.Inject(code(c.code))
		err := client.Put(patient(t), nil, newKey(t, 1), as.BinMap{"a": 1})
		fault.Remove()
		require.Equal(t, spillway.Status{HTTP: c.http, GRPC: c.grpc, RetryAfter: c.after}, aerospike.StatusOf(err), "%v", err)
	}
	require.Equal(t, spillway.Status{HTTP: 200}, aerospike.StatusOf(nil))
}

// The driver's text of a failed connection points to an error inside, which is what somebody wants to
// know who reads a log.
func TestErrorTextSaysWhatTheNetworkSaid(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Reads.MaxAttempts = 0 })
	srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsRead}, Action: aerospiketest.ActionReset})
	_, err := client.Get(patient(t), nil, newKey(t, 1))
	require.Regexp(t, `^aerospike: Get test\.\S+ on A1: network error \(-18\): (read|write) tcp `, err.Error())
	require.Less(t, len(err.Error()), 200)
}

// Fact 4: the driver's text grows by a line for every turn of its wait for a
// connection; ours is short. (Only somebody who goes past the limits, as here the
// driver's client beside the wrapped one, can make a guarded call wait like that.)
func TestErrorTextIsBounded(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	driver := raw(t, srv, func(p *as.ClientPolicy) { p.ConnectionQueueSize = 5 })
	client, err := aerospike.Wrap(driver, aerospike.DefaultConfig())
	require.NoError(t, err)
	letGo := hold(t, srv, 4, func(i int) error {
		policy := as.NewPolicy()
		policy.TotalTimeout = patience
		_, err := driver.Exists(policy, newKey(t, i))
		return asError(err)
	})
	starved := 0
	for range 10 { // on a busy machine the pool may have a connection all the same, which the gate then holds
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		_, err = client.Get(ctx, nil, newKey(t, 2))
		cancel()
		var ours *aerospike.Error
		require.ErrorAs(t, err, &ours)
		require.Less(t, len(ours.Error()), 200)
		if spillway.OutcomeOf(err) == spillway.OutcomeOverload {
			starved++
			require.Greater(t, len(errors.Unwrap(ours).Error()), 1_000, "the driver's own text")
			break
		}
	}
	require.Positive(t, starved, "no call found the pool empty")
	letGo()
	require.NoError(t, client.Close(patient(t)))
}

// An Error that a fake returns, in a test of somebody's service, is what its code says.
func TestErrorOfAFake(t *testing.T) {
	busy := &aerospike.Error{Op: "Get", Code: types.KEY_BUSY}
	require.Equal(t, spillway.OutcomeKeyOverload, spillway.OutcomeOf(busy))
	require.Equal(t, types.KEY_BUSY, aerospike.Classify(busy).Code)
	require.True(t, aerospike.IsOverload(busy))
	require.Equal(t, 503, aerospike.StatusOf(busy).HTTP)
	require.ErrorIs(t, &aerospike.Error{Code: types.KEY_NOT_FOUND_ERROR}, as.ErrKeyNotFound)
	require.ErrorIs(t, &aerospike.Error{Code: types.TIMEOUT}, context.DeadlineExceeded)
	require.Equal(t, spillway.OutcomeUnknown, spillway.OutcomeOf(new(aerospike.Error)))
	require.Equal(t, 500, aerospike.StatusOf(new(aerospike.Error)).HTTP)
	require.Equal(t, "aerospike: Put: network error (-18)", (&aerospike.Error{Op: "Put", Code: types.NETWORK_ERROR}).Error())
}
