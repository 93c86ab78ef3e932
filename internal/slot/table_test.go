package slot_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/internal/slot"
)

func newTable(owners int) *slot.Table {
	t := new(slot.Table)
	t.Reserve(owners)
	return t
}

// A9, P8: a token is void once its owner has given the slot back, and stays void when
// the slot has another owner.
func TestTableTokenIsGoodOnce(t *testing.T) {
	table := newTable(1)
	s, token := table.Claim(7, 3)
	require.NotZero(t, token)
	found, state := table.Find(token)
	require.Same(t, s, found)
	require.EqualValues(t, 3, uint32(state))
	require.True(t, found.Swap(state, 0))
	require.False(t, found.Swap(state, 0), "the second release of the same state")
	gone, _ := table.Find(token)
	require.Nil(t, gone)

	// Every slot has a new owner now, that one too.
	tokens := map[uint64]bool{}
	for i := range table.Len() {
		_, next := table.Claim(uint64(i), 1)
		require.False(t, tokens[next])
		tokens[next] = true
	}
	require.False(t, tokens[token])
	gone, _ = table.Find(token)
	require.Nil(t, gone)
}

// A table grows when it is full, whatever it began with, and old tokens stay good.
func TestTableGrows(t *testing.T) {
	for _, owners := range []int{1, 100} {
		table := newTable(owners)
		before := table.Len()
		tokens := map[uint64]uint32{}
		for i := range 10 * before {
			_, token := table.Claim(uint64(i), i+1)
			tokens[token] = i + 1
		}
		require.Len(t, tokens, int(10*before))
		require.LessOrEqual(t, table.Len(), 64*before, "a full lower half must not make it grow for ever")
		for token, payload := range tokens {
			_, state := table.Find(token)
			require.Equal(t, payload, uint32(state))
		}
		for token := range tokens {
			require.True(t, table.Free(token))
			require.False(t, table.Free(token))
		}
	}
}

// A token that nobody was given frees nothing.
func TestTableFreesNothingForAStrangersToken(t *testing.T) {
	table := newTable(1)
	_, token := table.Claim(1, 1)
	for _, stranger := range []uint64{0, token + 1<<32, token ^ 1, token | 1<<31, 1<<64 - 1} {
		require.False(t, table.Free(stranger), "%#x", stranger)
	}
	require.True(t, table.Free(token))
}

// Tokens that nobody was ever given find nothing.
func TestTableForeignTokensFindNothing(t *testing.T) {
	table := newTable(1)
	for _, token := range []uint64{0, 1, 1 << 32, 1<<64 - 1, 5<<32 | 1<<20} {
		s, _ := table.Find(token)
		require.Nil(t, s)
	}
}

// A12: claims and releases from many goroutines give each owner a slot of his own.
func TestTableConcurrentSafe(t *testing.T) {
	table := newTable(8)
	var owners [1 << 12]atomic.Int32 // by slot
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 2000 {
				s, token := table.Claim(uint64(g*2000+i), 1)
				index := uint32(token)
				require.EqualValues(t, 1, owners[index].Add(1))
				owners[index].Add(-1)
				found, state := table.Find(token)
				require.Same(t, s, found)
				require.True(t, found.Swap(state, 0))
			}
		}()
	}
	wg.Wait()
}
