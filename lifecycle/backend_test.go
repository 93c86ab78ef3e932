package lifecycle_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/spillway-go/spillway/lifecycle"
)

// backend is a fake that counts what is open, as a server would.
type backend struct {
	mu                   sync.Mutex
	dials, open, maxOpen int
	closedTwice          bool
}

type conn struct {
	b      *backend
	closed bool
}

func (b *backend) dial(context.Context) (*conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dials++
	b.open++
	b.maxOpen = max(b.maxOpen, b.open)
	return &conn{b: b}, nil
}

func (b *backend) close(_ context.Context, c *conn) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closedTwice = b.closedTwice || c.closed
	c.closed = true
	b.open--
	return nil
}

func (b *backend) counts() (dials, open int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dials, b.open
}

func newMachine(t *testing.T, b *backend, change ...func(*lifecycle.Config[*conn])) *lifecycle.Machine[*conn] {
	t.Helper()
	cfg := lifecycle.DefaultConfig("db", b.close)
	for _, f := range change {
		f(&cfg)
	}
	m, err := lifecycle.New(cfg)
	require.NoError(t, err)
	return m
}
