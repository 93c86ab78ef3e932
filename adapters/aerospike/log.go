package aerospike

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/spillway-go/spillway"
	"github.com/spillway-go/spillway/lane"
	"github.com/spillway-go/spillway/lifecycle"
)

// logTransition writes down a change of state.
func (c *core) logTransition(t lifecycle.Transition) {
	ctx := context.Background() //nolint:forbidigo // a transition belongs to no caller
	level := slog.LevelInfo
	if t.Err != nil {
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{
		slog.String("client", c.cfg.Name), slog.String("from", t.From.String()), slog.String("to", t.To.String()),
		slog.String("reason", t.Reason), slog.Uint64("generation", t.Generation),
	}
	if t.Err != nil {
		attrs = append(attrs, slog.String("error", t.Err.Error()))
	}
	c.log.LogAttrs(ctx, level, "aerospike client changed state", attrs...)
	if t.To == lifecycle.Connected {
		c.log.LogAttrs(ctx, slog.LevelInfo, "aerospike client is connected", c.effective()...)
	}
}

// logDisobeyed writes down that lanes of a new connection haven't taken the settings in
// force; nil is no error. Whoever connected has a connection all the same.
func (c *core) logDisobeyed(err error) {
	if err != nil {
		//nolint:forbidigo // settings belong to no call
		c.log.LogAttrs(context.Background(), slog.LevelWarn, "aerospike settings not in force everywhere", slog.String("client", c.cfg.Name), slog.String("error", err.Error()))
	}
}

// effective is the configuration in force, and where the limit comes from.
func (c *core) effective() []slog.Attr {
	p := c.cfg.ClientPolicy
	return []slog.Attr{
		slog.String("client", c.cfg.Name), slog.Any("hosts", c.cfg.Hosts), slog.String("mode", c.inForce.Load().mode.String()),
		slog.String("limits_per_node", c.limits()), slog.String("limits_source", c.source),
		slog.Int("connection_queue_size", p.ConnectionQueueSize), slog.Int("opening_connection_threshold", p.OpeningConnectionThreshold),
		slog.Int("warm_up", c.cfg.WarmUp), slog.Duration("record_timeout", c.cfg.RecordTimeout),
		slog.Duration("stream_timeout", c.cfg.StreamTimeout), slog.Duration("min_budget", c.cfg.MinBudget),
		slog.Duration("driver_timeout", p.Timeout), slog.Duration("drain_timeout", c.cfg.DrainTimeout),
	}
}

// limits are the lanes' limits in one line.
func (c *core) limits() string {
	var b strings.Builder
	for i, l := range c.inForce.Load().lanes {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s:%d", l.Name, l.Limit)
	}
	return b.String()
}

// refusals counts refused calls for the log, which gets one line a minute at most:
// a line for each would be a storm of its own.
type refusals struct {
	mu    sync.Mutex
	next  time.Time
	count spillway.RefusalCounts
}

const refusalLogEvery = time.Minute

// laneHooks are the hooks of the lanes: none if nothing is logged, so
// that a refusal then costs nothing for it.
func (c *core) laneHooks() []lane.Hooks {
	if c.cfg.Logger == nil {
		return nil
	}
	return []lane.Hooks{{Rejected: c.noteRefusal}}
}

// noteRefusal counts a refusal, and writes a line with all since the last line if
// that was long enough ago.
func (c *core) noteRefusal(ctx context.Context, r *spillway.Rejection) {
	if !c.log.Enabled(ctx, slog.LevelWarn) {
		return
	}
	now := time.Now()
	c.refused.mu.Lock()
	c.refused.count[r.Reason]++
	if now.Before(c.refused.next) {
		c.refused.mu.Unlock()
		return
	}
	counts := c.refused.count
	c.refused.count = spillway.RefusalCounts{}
	c.refused.next = now.Add(refusalLogEvery)
	c.refused.mu.Unlock()
	attrs := []slog.Attr{slog.String("client", c.cfg.Name), slog.Uint64("refused", counts.Total()), slog.String("last", r.Name), slog.Int("limit", r.Limit)}
	for i, n := range counts {
		if n > 0 {
			attrs = append(attrs, slog.Uint64(spillway.Reason(i).String(), n))
		}
	}
	c.log.LogAttrs(ctx, slog.LevelWarn, "aerospike calls refused since the last line", attrs...)
}
