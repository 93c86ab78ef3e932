package security

import (
	"strings"
	"testing"

	"github.com/aerospike/aerospike-client-go/v7/pkg/bcrypt"
	"github.com/stretchr/testify/require"
)

func TestHashIsThatOfDrivers(t *testing.T) {
	h := hasher{newCipher()}
	for _, password := range []string{"", strings.Repeat("löng", 30)} {
		want, err := bcrypt.Hash(password, head)
		require.NoError(t, err)
		require.Equal(t, want, string(h.hash(password)))
	}
	require.Equal(t, uint32(0x243f6a88), h.start.p[0])
	require.Equal(t, uint32(0x3ac372e6), h.start.s[3][255])
}
