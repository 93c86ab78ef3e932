//go:build go1.25

package lifecycle_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/lifecycle"
)

// requireNoLock fails unless f is through while somebody else has the lock.
func requireNoLock(t *testing.T, alone func(func()), f func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	through := make(chan struct{})
	alone(func() {
		go func() { defer close(through); f() }()
		select {
		case <-through:
		case <-ctx.Done():
			t.Error("it waits for the lock")
		}
	})
	<-through
}

// G-LIF-7: a lease, and a bound operation, wait for nobody who has the lock.
func TestLeaseTakesNoLock(t *testing.T) {
	b := &backend{}
	m := newMachine(t, b)
	require.NoError(t, m.Connect(t.Context(), b.dial))
	bound := lifecycle.Bind(m, func(context.Context, *conn) (int, error) { return 1, nil })
	requireNoLock(t, m.Alone, func() {
		for range 100 {
			l, _ := m.Lease()
			_, _ = bound(context.Background())
			l.Release()
		}
	})
	require.Zero(t, m.Stats().Unleased)
	require.NoError(t, m.Close(t.Context()))
}

// G-REG-6: nor does Get of a key that is connected.
func TestRegistryGetTakesNoLock(t *testing.T) {
	r := newRegistry(t, &shards{})
	get := func() {
		l, err := r.Get(context.Background(), "a")
		if err != nil {
			t.Error(err)
		}
		l.Release()
	}
	get()
	requireNoLock(t, r.Alone, get)
	require.NoError(t, r.Close(t.Context()))
}
