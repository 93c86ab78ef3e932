package lifecycle

import (
	"context"
	"strings"
	"time"

	"github.com/spillway-go/spillway"
)

// Config are the settings of a machine for connections of the type C.
type Config[C any] struct {
	// Name is the machine's name in errors, statistics and telemetry, where it has to be
	// unique. It must not be empty.
	Name string
	// Close closes a connection. It is called once for each that a dial returned,
	// on a goroutine of the machine, after the last lease of it came back. Its
	// error is returned by Machine.Close if that still waits, and counted. It must
	// not be nil.
	Close func(ctx context.Context, conn C) error
	// Draining is called with the connection when Close has begun, before leases
	// are waited for, to send away those who wait for something else before they
	// would take a lease. It runs on a goroutine of the machine, and what time it takes
	// is part of DrainTimeout: Close goes on without it when that is over. A panic or
	// Goexit harms nobody. Nil means that there is nothing to do.
	Draining func(conn C)
	// ConnectTimeout is the longest time a dial may take, whatever its caller's
	// context says. It must be positive.
	ConnectTimeout time.Duration
	// DrainTimeout is the longest time Close waits for leases. Zero means that it
	// doesn't wait: leases that are out make the connection an orphan at once.
	DrainTimeout time.Duration
	// CloseTimeout is the longest time Close waits for the Close function, and for
	// a dial that it cancelled. It must be positive.
	CloseTimeout time.Duration
}

// DefaultConfig returns the settings that fit most: 30 s to connect, 10 s to drain,
// 5 s to close.
func DefaultConfig[C any](name string, closeConn func(context.Context, C) error) Config[C] {
	return Config[C]{
		Name: name, Close: closeConn,
		ConnectTimeout: 30 * time.Second, DrainTimeout: 10 * time.Second, CloseTimeout: 5 * time.Second,
	}
}

func (c Config[C]) validate() error {
	e := &spillway.ConfigError{Component: "lifecycle", Name: c.Name}
	if strings.TrimSpace(c.Name) == "" {
		e.Add("Name", c.Name, "must not be empty")
	}
	if c.Close == nil {
		e.Add("Close", nil, "must not be nil")
	}
	if c.ConnectTimeout <= 0 {
		e.Add("ConnectTimeout", c.ConnectTimeout, "must be positive")
	}
	if c.DrainTimeout < 0 {
		e.Add("DrainTimeout", c.DrainTimeout, "must not be negative")
	}
	if c.CloseTimeout <= 0 {
		e.Add("CloseTimeout", c.CloseTimeout, "must be positive")
	}
	return e.Err()
}
