package adaptive

import (
	"context"
	"time"

	"github.com/spillway-go/spillway"
)

// meter is the controller as its guard sees it. All that a call costs is here: two adds
// on the cache line of its class, and a look whether the window is over.
type meter struct{ c *Controller }

var _ spillway.Meter = (*meter)(nil)

// Begin implements spillway.Meter: the label is the class.
func (m *meter) Begin(ctx context.Context, at time.Duration) (label uint8) {
	c := m.c
	if int64(at) >= c.due.Load() {
		c.look(at)
	}
	if len(c.classes) > 0 {
		label = c.classes[classOf(ctx)]
	}
	c.gather.cells[label].open.Add(1)
	return label
}

// Full implements spillway.Meter.
func (m *meter) Full(at time.Duration) {
	c := m.c
	if !c.gather.full.Load() {
		c.gather.full.Store(true)
	}
	if int64(at) >= c.due.Load() {
		c.look(at)
	}
}

// End implements spillway.Meter.
func (m *meter) End(s spillway.Sample) {
	c := m.c
	c.gather.add(&s)
	if int64(s.At) >= c.due.Load() {
		c.look(s.At)
	}
}
