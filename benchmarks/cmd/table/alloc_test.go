package main

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newOpened(t *testing.T) *opened {
	t.Helper()
	o := &opened{ctx: context.Background(), call: context.Background()}
	t.Cleanup(func() { require.NoError(t, o.close()) })
	return o
}

// Every row with a budget of allocations keeps it, exactly.
func TestRowsKeepTheirAllocations(t *testing.T) {
	for name, open := range map[string]func(*opened) (*family, error){
		"admitted": admitted, "refused": refused, "nested": nested, "executor": executor, "waiting": waiting, "telemetry": telemetry, "signals": signals,
	} {
		t.Run(name, func(t *testing.T) {
			f, err := open(newOpened(t))
			require.NoError(t, err)
			budgets := 0
			for _, r := range f.rows {
				if r.allocs == noBudget {
					continue
				}
				budgets++
				for _, m := range f.modes {
					allocs := m.countAllocs(f.side(t, r.ours).work)
					require.True(t, !exact || allocates(allocs, r.allocs), "%s, %s: %v", r.ours, m.name, allocs)
				}
			}
			require.Positive(t, budgets)
		})
	}
}

// Row of the adapter: no allocation more than the driver for calls whose partitions the node
// table knows, where the design allows two, and none for an observer.
func TestAdapterKeepsItsAllocations(t *testing.T) {
	rig, err := newRig(newOpened(t))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	one := sockets()
	get, put := one.countAllocs(rig.get(ctx, rig.client)), one.countAllocs(rig.put(ctx))
	rawGet, rawPut := one.countAllocs(rig.rawGet()), one.countAllocs(rig.rawPut())
	observed := one.countAllocs(rig.get(ctx, rig.observed))
	require.NoError(t, rig.err())
	if exact {
		require.True(t, allocates(get-rawGet, 0), get-rawGet)
		require.True(t, allocates(put-rawPut, 0), put-rawPut)
		require.True(t, allocates(observed-get, 0), observed-get)
	}
}

func TestCountAllocsCounts(t *testing.T) {
	var kept [4]*[64]byte
	allocs := serial().countAllocs(func(n int) {
		for range n {
			for i := range kept {
				kept[i] = new([64]byte)
			}
		}
	})
	if exact {
		require.InDelta(t, 4, allocs, 0.01)
	}
}

// Who waits may allocate where who doesn't has no need to: x/sync's semaphore makes a channel for
// each who waits, and none for who doesn't.
func TestCountAllocsCountsThoseWhoWait(t *testing.T) {
	f, err := waiting(newOpened(t))
	require.NoError(t, err)
	w := f.side(t, nameSync).work
	require.Less(t, serial().countAllocs(w), 0.5)
	require.Greater(t, crowded().countAllocs(w), 0.5)
}

func (f *family) side(t *testing.T, name string) *side {
	t.Helper()
	for _, s := range f.sides {
		if s.name == name {
			return s
		}
	}
	require.Failf(t, "no such side", "%q", name)
	return nil
}
