package aerospike_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"math"
	"strconv"
	"testing"
	"time"

	as "github.com/aerospike/aerospike-client-go/v7"
	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
	"github.com/spillway-go/spillway/limiter"
	"github.com/spillway-go/spillway/retry"
)

// B-11: settings are data, and a key that doesn't exist is an error.
func TestSettingsDecode(t *testing.T) {
	refuse := spillway.RefuseAll
	shadow := spillway.Shadow
	want := aerospike.Settings{
		Mode:  &shadow,
		Lanes: map[string]aerospike.LaneSettings{"read": {Limit: 48}, "stream": {Mode: &refuse}},
		Reads: &aerospike.RetrySettings{Attempts: 2, Base: aerospike.Duration(20 * time.Millisecond), Cap: aerospike.Duration(time.Second)},
	}
	const text = `{"mode":"shadow","lanes":{"read":{"limit":48},"stream":{"mode":"refuse-all"}},"reads":{"attempts":2,"base":"20ms","cap":"1s"}}`
	got, err := aerospike.ParseSettings([]byte(text))
	require.NoError(t, err)
	require.Equal(t, want, got)
	back, err := json.Marshal(got)
	require.NoError(t, err)
	require.JSONEq(t, text, string(back))
	got, err = aerospike.SettingsFromEnv("SPILLWAY_", []string{
		"HOME=x", "SPILLWAY_MODE=shadow", "SPILLWAY_LANE_READ_LIMIT=48", "SPILLWAY_LANE_STREAM_MODE=refuse-all",
		"SPILLWAY_READS_ATTEMPTS=2", "SPILLWAY_READS_BASE=20ms", "SPILLWAY_READS_CAP=1s",
	})
	require.NoError(t, err)
	require.Equal(t, want, got)

	for _, wrong := range []string{
		`{"mod":"off"}`, `{"mode":"of"}`, `{"lanes":{"read":{"limits":1}}}`, `{"reads":{"base":"10"}}`, `{} {}`, ``, `[]`, `{"mode":"off","mode":"off"}`, `{"lanes":{"read":{"limit":1},"read":{"mode":"off"}}}`, `{"lanes":{"read":{"limit":1,"limit":2}}}`,
		`{"mode":"off","Mode":"shadow"}`, `{"lanes":{"lanes":{"limit":1,"LIMIT":2}}}`, `{"reads":{"baſe":"1s","base":"2s"}}`,
	} {
		_, err := aerospike.ParseSettings([]byte(wrong))
		require.Error(t, err, wrong)
	}
	for text, want := range map[string]string{ // by name, and all at once
		`{"lanes":{"read":{"limit":0,"mode":"of"}},"reads":{"base":"3","attempts":0},"writes":{"cap":3},"modes":"off"}`: `aerospike.Settings: invalid configuration: ` +
			`lanes.read.limit is "0": must be at least 1; leave it out to leave it as it is; lanes.read.mode is "of": must be enforce, shadow, off or refuse-all; ` +
			`reads.base is "3": must be a positive time, as in "20ms"; leave it out to leave it as it is; reads.attempts is "0": must be at least 1; leave it out to leave it as it is; ` +
			`writes.cap is "3": must be a positive time, as in "20ms"; leave it out to leave it as it is; modes is "off": is no setting`,
		`{"mode":"off","Mode":"enforce"}`:              `Mode is "enforce": is no setting`, // encoding/json alone would take both
		`{"mode":null}`:                                `mode is "null": must be`,
		`{"lanes":{"read":{"limit":null}}}`:            `lanes.read.limit is "null": must be a number`,
		`{"lanes":null}`:                               `lanes is "null": must be an object`,
		`{"reads":[]}`:                                 `reads is "[]": must be an object`,
		`{"lanes":{"read":{"adaptive":"refuse-all"}}}`: `must be enforce, shadow or off`,
		`{"mode":"off","mode":"off"}`:                  `mode is "off": stands twice in one object`,
	} {
		_, err := aerospike.ParseSettings([]byte(text))
		require.ErrorContains(t, err, want, text)
	}
	got, err = aerospike.ParseSettings([]byte(`{"lanes":{"reed":{}}}`)) // for Apply to refuse
	require.NoError(t, err)
	require.Contains(t, got.Lanes, "reed")
	got, err = aerospike.ParseSettings([]byte(`{"lanes":{"read":{"limit":1},"READ":{"limit":2}}}`))
	require.NoError(t, err, "two lanes")
	require.Len(t, got.Lanes, 2)
	for _, nothing := range []string{"", " \n", "null"} { // a file that is just being written
		_, err := aerospike.ParseSettings([]byte(nothing))
		require.EqualError(t, err, "aerospike: settings: there is no JSON object")
	}
	_, err = aerospike.SettingsFromEnv("S_", []string{"S_MODE=of", "S_LANE_READ_LIMIT=many", "S_LANE_X=1", "S_LANE_READ_FOO=1", "S_WRITES_BASE=1", "S_FOO=1"})
	for _, want := range []string{`S_MODE is "of"`, `S_LANE_READ_LIMIT is "many": must be a number`, `S_LANE_X is "1": is no setting`, `S_LANE_READ_FOO`, `S_WRITES_BASE`, `S_FOO is "1": is no setting`} {
		require.ErrorContains(t, err, want)
	}
	_, err = aerospike.SettingsFromEnv("S_", []string{"S_MODE=off", "S_mode=shadow"})
	require.ErrorContains(t, err, "in another case")
	_, err = aerospike.SettingsFromEnv("", nil)
	require.ErrorContains(t, err, "prefix")
}

// Settings take effect at once at every node, outlast a reconnect, and are logged with
// what they were.
func TestClientApply(t *testing.T) {
	srv := aerospiketest.NewServer(t, aerospiketest.Config{Nodes: 2})
	var out bytes.Buffer
	client := connect(t, srv, func(c *aerospike.Config) { c.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
	driver := raw(t, srv)
	one, two := keyOn(t, driver, "A1"), keyOn(t, driver, "A2")
	put(t, client, one, as.BinMap{"a": 1}) // A1 has its lanes, A2 hasn't yet
	out.Reset()
	refuse := spillway.RefuseAll
	require.NoError(t, client.Apply(aerospike.Settings{
		Lanes: map[string]aerospike.LaneSettings{aerospike.LaneWrite: {Mode: &refuse}, aerospike.LaneRead: {Limit: 7}},
		Reads: &aerospike.RetrySettings{Attempts: 5},
	}))
	require.Contains(t, out.String(), `read.limit="32 → 7" write.mode="enforce → refuse-all" reads.attempts="3 → 5"`)
	check := func() {
		t.Helper()
		for _, key := range []*as.Key{one, two} {
			require.ErrorIs(t, client.Put(patient(t), nil, key, as.BinMap{"a": 1}), spillway.ErrBackpressure)
			_, err := client.Exists(patient(t), nil, key)
			require.NoError(t, err)
		}
		for _, node := range []string{"A1", "A2"} {
			require.Equal(t, 7, client.Snapshot().Lane(node, aerospike.LaneRead).Limit)
		}
	}
	check()
	require.NoError(t, client.Close(patient(t)))
	require.NoError(t, client.Connect(patient(t)))
	check()
	enforce := spillway.Enforce
	require.NoError(t, client.Apply(aerospike.Settings{Mode: &enforce}))
	put(t, client, two, as.BinMap{"a": 1})
}

// Wrong settings are listed all at once, and none of the right ones beside them is put
// in force.
func TestClientApplyIsAllOrNothing(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv)
	wrong := spillway.Mode(9)
	err := client.Apply(aerospike.Settings{
		Mode:   &wrong,
		Lanes:  map[string]aerospike.LaneSettings{"read": {Limit: 1}, "write": {Limit: 98}, "reed": {Limit: 1}, "batch": {Limit: -1, Mode: &wrong}},
		Reads:  &aerospike.RetrySettings{Attempts: -1},
		Writes: &aerospike.RetrySettings{Base: -1},
	})
	for _, want := range []string{"Mode is mode(9)", "Lanes[reed] is", "Lanes[batch].Limit is -1", "Lanes[batch].Mode is mode(9)", "must be at most 99", "Reads.Attempts is -1", "Writes.Base is -1ns"} {
		require.ErrorContains(t, err, want)
	}
	_, err = client.Exists(patient(t), nil, newKey(t, 1))
	require.NoError(t, err)
	require.Equal(t, 32, client.Snapshot().Lane("A1", aerospike.LaneRead).Limit)
}

// A limit that no lane can have is refused, also by the lane of administration, which
// isn't held against the pool, and however many of them are added up.
func TestClientApplyRefusesLimitsThatNoLaneCanHave(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	var out bytes.Buffer
	client := connect(t, srv, func(c *aerospike.Config) { c.Logger = slog.New(slog.NewTextHandler(&out, nil)) })
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	for name, lanes := range map[string]map[string]aerospike.LaneSettings{
		"admin":       {aerospike.LaneAdmin: {Limit: math.MaxInt}},
		"just beyond": {aerospike.LaneAdmin: {Limit: limiter.MaxLimit + 1}},
		"overflow":    {aerospike.LaneRead: {Limit: math.MaxInt}, aerospike.LaneWrite: {Limit: math.MaxInt}},
		"wrapped":     {aerospike.LaneRead: {Limit: math.MaxInt}, aerospike.LaneWrite: {Limit: math.MaxInt}, aerospike.LaneBatch: {Limit: 3}},
	} {
		out.Reset()
		require.ErrorContains(t, client.Apply(aerospike.Settings{Lanes: lanes}), "must be at most "+strconv.Itoa(limiter.MaxLimit), name)
		require.NotContains(t, out.String(), "applied", name)
	}
	require.NoError(t, client.Apply(aerospike.Settings{Lanes: map[string]aerospike.LaneSettings{aerospike.LaneAdmin: {Limit: limiter.MaxLimit}}}))
	require.Equal(t, limiter.MaxLimit, client.Snapshot().Lane("", aerospike.LaneAdmin).Limit)
	require.NoError(t, client.Close(patient(t)))
	require.NoError(t, client.Connect(patient(t)))
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	require.Equal(t, 16, client.Snapshot().Lane("A1", aerospike.LaneWrite).Limit)
}

// New adds up limits as Apply does, and ends, however large the pool is.
func TestLimitsAreAddedUpWithoutOverflow(t *testing.T) {
	cfg := aerospike.DefaultConfig("127.0.0.1:3000")
	cfg.Lanes = aerospike.DefaultLanes(8)
	cfg.Lanes[0].Limit, cfg.Lanes[1].Limit = math.MaxInt, math.MaxInt
	_, err := aerospike.New(cfg)
	require.ErrorContains(t, err, "Lanes[0].Limit is")
	require.ErrorContains(t, err, "of ConnectionQueueSize there are")
	cfg.Lanes = nil
	cfg.ClientPolicy = as.NewClientPolicy()
	cfg.ClientPolicy.ConnectionQueueSize = math.MaxInt
	client, err := aerospike.New(cfg)
	require.NoError(t, err)
	require.NoError(t, client.Close(patient(t)))
}

// A back-off alone doesn't switch retries on; it is in force from when somebody does.
func TestClientApplyLeavesTheAttempts(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	client := connect(t, srv, func(c *aerospike.Config) { c.Reads, c.Writes = retry.Policy{}, retry.Policy{} })
	put(t, client, newKey(t, 1), as.BinMap{"a": 1})
	fault := srv.Inject(aerospiketest.Fault{Match: aerospiketest.Match{Kinds: aerospiketest.KindsRead}, Action: aerospiketest.ActionReset})
	attempts := func(want int) {
		t.Helper()
		before := fault.Hits()
		_, err := client.Exists(patient(t), nil, newKey(t, 1))
		require.Error(t, err)
		require.Equal(t, want, fault.Hits()-before)
	}
	base := &aerospike.RetrySettings{Base: aerospike.Duration(time.Millisecond)}
	for _, s := range []aerospike.Settings{{}, {Reads: &aerospike.RetrySettings{}}, {Reads: base, Writes: base}, {Reads: base}} {
		require.NoError(t, client.Apply(s))
		attempts(1)
	}
	require.ErrorContains(t, client.Apply(aerospike.Settings{Reads: &aerospike.RetrySettings{Base: -1}}), "Reads.Base is -1ns")
	require.NoError(t, client.Apply(aerospike.Settings{Reads: &aerospike.RetrySettings{Attempts: 2}}))
	attempts(2)
	require.Equal(t, "aerospike/reads", client.Snapshot().Reads.Name)
	require.NoError(t, client.Apply(aerospike.Settings{Reads: base}))
	attempts(2)
}
