package aerospike_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/adapters/aerospike"
	"github.com/spillway-go/spillway/retry"
)

// What none of these is worth is a retry, and a server answers as docs/errors.md says.
func TestSentinelsAreNotWorthARetry(t *testing.T) {
	for err, want := range map[error]spillway.Status{
		aerospike.ErrWrapped:      {HTTP: 500, GRPC: 13},
		aerospike.ErrStreamUsed:   {HTTP: 500, GRPC: 13},
		aerospike.ErrStreamClosed: spillway.StatusOf(spillway.ErrClosed),
	} {
		require.Equal(t, retry.Stop, retry.Classify(err), err)
		require.Equal(t, want, aerospike.StatusOf(err), err)
	}
}
