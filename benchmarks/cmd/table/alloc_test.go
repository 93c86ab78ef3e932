package main

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newOpened(t *testing.T) *opened {
	t.Helper()
	o := &opened{ctx: context.Background()}
	t.Cleanup(func() { require.NoError(t, o.close()) })
	return o
}

// Every row with a budget of allocations keeps it, exactly.
func TestRowsKeepTheirAllocations(t *testing.T) {
	for name, open := range map[string]func(*opened) (*family, error){
		"admitted": admitted, "refused": refused, "nested": nested, "executor": executor, "telemetry": telemetry,
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
				allocs := math.Floor(countAllocs(f.side(t, r.ours).work))
				if exact {
					require.LessOrEqual(t, allocs, float64(r.allocs), r.ours)
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
	get, put := countAllocs(rig.get(ctx, rig.client)), countAllocs(rig.put(ctx))
	rawGet, rawPut := countAllocs(rig.rawGet()), countAllocs(rig.rawPut())
	observed := countAllocs(rig.get(ctx, rig.observed))
	require.NoError(t, rig.err())
	if exact {
		require.LessOrEqual(t, math.Floor(get-rawGet), 0.0)
		require.LessOrEqual(t, math.Floor(put-rawPut), 0.0)
		require.LessOrEqual(t, math.Floor(observed-get), 0.0)
	}
}

func TestCountAllocsCounts(t *testing.T) {
	var kept [4]*[64]byte
	allocs := countAllocs(func(n int) {
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
