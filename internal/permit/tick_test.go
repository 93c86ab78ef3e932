//go:build go1.25

package permit_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/internal/permit"
)

// G-LAN-2: whose wait is over in the very instant in which a permit comes to be free is
// served.
func TestCoreServesWhoCanBeServedWhenHisWaitIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCore(permit.Options{MaxWait: time.Second})
		p, err := c.Admit(t.Context(), 1)
		require.NoError(t, err)
		p.ReleaseAfter(time.Second)
		u, err := c.Wait(t.Context(), 1, 1)
		require.NoError(t, err)
		c.Leave(u, 0)
		requireWhole(t, c)
	})
}
