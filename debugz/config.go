package debugz

import (
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/watch"
)

// Config are the settings of a page.
type Config struct {
	// Title is what the page is called. Empty means the program's name.
	Title string
	// Allow says who may see the page. Nil means [Loopback]: this machine alone, as far as a
	// request tells, which behind a proxy on this machine it may not. Whatever replaces it
	// answers for all that is asked from outside.
	Allow func(r *http.Request) bool
	// Interval is the least time between two looks at the components, however many ask. It
	// must be positive.
	Interval time.Duration
	// Refresh is how often the page in a browser asks anew. It must be at least a tenth of a
	// second.
	Refresh time.Duration
	// Thresholds say from where on something is the matter.
	Thresholds watch.Thresholds
	// Holders is how many of the oldest holders of each guard are shown, up to 1000. Zero
	// means none.
	Holders int
	// Log keeps what happened last. Nil means that the page doesn't show it.
	Log *Log
	// ErrorTexts has the page show the texts of dial and close errors, and of panics. They
	// come from drivers, and may say more than who looks should see. False means that it
	// shows their types and classes only.
	ErrorTexts bool
}

// DefaultConfig returns the settings that fit most: this machine alone, a look every
// 200 ms at most, a page that updates itself every second, [watch.DefaultThresholds], but
// stuck after 5 s already, because somebody is looking; the 20 oldest holders of each
// guard.
func DefaultConfig() Config {
	c := Config{Interval: 200 * time.Millisecond, Refresh: time.Second, Thresholds: watch.DefaultThresholds(), Holders: 20}
	c.Thresholds.StuckAfter = 5 * time.Second
	return c
}

const (
	minRefresh = 100 * time.Millisecond
	maxHolders = 1000
)

// check notes every fault, and fills in what the zero value stands for.
func (c *Config) check() error {
	e := &spillway.ConfigError{Component: "debugz"}
	if c.Interval <= 0 {
		e.Add("Interval", c.Interval, "must be positive")
	}
	if c.Refresh < minRefresh {
		e.Add("Refresh", c.Refresh, "must be at least 100ms")
	}
	if c.Holders < 0 || c.Holders > maxHolders {
		e.Add("Holders", c.Holders, "must be from 0 to 1000")
	}
	e.Include("Thresholds.", c.Thresholds.Validate())
	if c.Title == "" && len(os.Args) > 0 {
		c.Title = filepath.Base(os.Args[0])
	}
	if c.Allow == nil {
		c.Allow = Loopback
	}
	return e.Err()
}
