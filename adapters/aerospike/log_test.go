package aerospike_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/adapters/aerospike/aerospiketest"
)

// The log tells what is in force and where it comes from, every change of state, and
// of a storm of refusals one line.
func TestClientLog(t *testing.T) {
	srv := aerospiketest.NewServer(t)
	var out bytes.Buffer // written by one goroutine at a time: that of this test
	client := connect(t, srv, func(c *aerospike.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&out, nil))
		c.Mode = spillway.RefuseAll
	})
	for i := range 1000 {
		_, err := client.Exists(patient(t), nil, newKey(t, i))
		require.ErrorIs(t, err, spillway.ErrBackpressure)
	}
	require.NoError(t, client.Close(patient(t)))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 6, out.String())
	for i, want := range []string{
		"from=disconnected to=connecting reason=Connect",
		"from=connecting to=connected reason=dialled generation=1",
		`limits_per_node="read:32 write:16 batch:8 stream:4 admin:2" limits_source="default: DefaultLimit, or what ConnectionQueueSize leaves room for" connection_queue_size=100`,
		"level=WARN msg=\"aerospike calls refused since the last line\" client=aerospike refused=1 last=aerospike/A1/read limit=32 refuse_all=1",
		"from=connected to=closing reason=Close",
		"from=closing to=disconnected reason=closed",
	} {
		require.Contains(t, lines[i], want)
	}
}
