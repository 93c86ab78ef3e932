//go:build go1.25

package adaptive_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func fleet(t *testing.T, n int, v variant) []*client {
	t.Helper()
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = newClient(t, max(2, guessed/n), v.config())
	}
	return clients
}

// G-ADA-14, W8: 2 and 20 processes share the backend, from well to three times too much
// and back. With a target they share it fairly; without, they still don't ruin it.
func TestWorkloadFleet(t *testing.T) {
	for _, n := range []int{2, 20} {
		inBubbles(t, adapting[:2], func(t *testing.T, v variant) {
			b := newBackend(1)
			r := &run{b: b, clients: fleet(t, n, v), length: 9 * time.Second, deadline: 100 * ms, seed: 1}
			r.rate = times(b, phase{0, 0.7}, phase{2 * time.Second, 3}, phase{7 * time.Second, 0.7})
			all, each := r.do()
			goodput, fair := all.goodput(b, 2*time.Second, 7*time.Second), jain(each, 2*time.Second, 7*time.Second)
			t.Logf("%d: goodput %.3f, Jain %.3f, recovery %v", n, goodput, fair, all.recovery(7*time.Second, 0.99))
			require.GreaterOrEqual(t, goodput, 0.96)
			require.LessOrEqual(t, all.recovery(7*time.Second, 0.99), time.Second)
			if v.name == "target" {
				require.GreaterOrEqual(t, fair, 0.95)
			} else {
				require.GreaterOrEqual(t, fair, 0.8)
			}
		})
	}
}

// G-ADA-14, W8: the second process comes when the first has the overloaded backend for
// itself already: with a target they get the same in the end.
func TestWorkloadLatecomer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBackend(1)
		r := &run{b: b, clients: fleet(t, 2, variant{"target", targeted}), length: 9 * time.Second, deadline: 100 * ms, seed: 1, join: 2 * time.Second}
		r.rate = times(b, phase{0, 3})
		all, each := r.do()
		t.Logf("goodput %.3f, Jain %.3f", all.goodput(b, 0, r.length), jain(each, 5*time.Second, r.length))
		require.GreaterOrEqual(t, all.goodput(b, 0, r.length), 0.98)
		require.GreaterOrEqual(t, jain(each, 5*time.Second, r.length), 0.95)
	})
}

// W8: a hundred processes on 16 slots: only limits below one let them share it. Without
// them one call of each is six times the slots, and everything is late.
func TestWorkloadHundredProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBackend(1)
		r := &run{b: b, clients: fleet(t, 100, variant{"target", targeted}), length: 7 * time.Second, deadline: 100 * ms, seed: 1}
		r.rate = times(b, phase{0, 0.7}, phase{time.Second, 3}, phase{6 * time.Second, 0.7})
		all, each := r.do()
		t.Logf("goodput %.3f, after a second %.3f, Jain %.3f", all.goodput(b, time.Second, 6*time.Second), all.goodput(b, 2*time.Second, 6*time.Second), jain(each, 2*time.Second, 6*time.Second))
		require.GreaterOrEqual(t, all.goodput(b, 2*time.Second, 6*time.Second), 0.85)
		require.GreaterOrEqual(t, jain(each, 2*time.Second, 6*time.Second), 0.8)
	})
}
