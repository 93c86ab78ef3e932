package permit

import (
	"context"
	"fmt"
	"time"

	"github.com/spillway-go/spillway"
)

// A stamp says when a call was admitted: a reading of the core's clock, which is never
// 0, for that stands for "not timed". While a meter is told, it also says what the meter
// called the call. High bits to low:
//
//	63   62         61 ........................... 5   4 ... 1   0
//	0    labelled   nanoseconds on the core's clock    label     1
//
// The 32 nanoseconds that a labelled stamp leaves out are less than a reading of the
// clock costs.
const (
	labelled   = 1 << 62
	labelShift = 1
	labelMask  = spillway.MeterLabels - 1
	stampMask  = labelled | spillway.MeterLabels<<labelShift - 1
)

// age is how long ago a stamp was made.
func age(stamp, now int64) time.Duration {
	if stamp&labelled != 0 {
		stamp &^= stampMask
	}
	return time.Duration(now - stamp)
}

// fullEvery is every how many refusals for one reason a meter is told. A reading of the
// clock costs three times a refusal; one in eight is lost in it, and eight callers are
// soon there if a core stands still.
const fullEvery = 8

// metered is a meter that can't harm the core by a panic. It may still end its goroutine:
// who calls it must have nothing in hand that would be lost. The nil metered measures
// nothing.
type metered struct{ spillway.Meter }

// SetMeter has m told of one in every calls admitted from now on, in place of the meter
// before; nil ends that. every must be a power of two up to MaxEvery.
func (c *Core) SetMeter(m spillway.Meter, every int) error {
	if m != nil && (every < 1 || every > MaxEvery || every&(every-1) != 0) {
		return c.fault("Every", every, fmt.Sprintf("must be a power of two up to %d", MaxEvery))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if m == nil {
		c.sampled.Store(c.sampleMask())
		c.meter.Store(nil)
		return nil
	}
	c.meter.Store(&metered{m}) // whether it is the same can't be asked of every type
	c.sampled.Store(uint64(every) - 1)
	return nil
}

// Meter returns who is told of calls now; nil if nobody is.
func (c *Core) Meter() spillway.Meter {
	if m := c.meter.Load(); m != nil {
		return m.Meter
	}
	return nil
}

// MaxEvery is the rarest that a meter is told of a call.
const MaxEvery = 1 << 10

// begin makes the stamp of an admission that has just taken w permits.
func (c *Core) begin(ctx context.Context, w uint64) int64 {
	now := c.now()
	if m := c.meter.Load(); m != nil {
		return c.label(ctx, m, w, now)
	}
	return now
}

// label is begin with a meter. Should that end the goroutine, which no recover stops, the
// permits come back here: nobody else knows of them yet.
func (c *Core) label(ctx context.Context, m *metered, w uint64, now int64) int64 {
	back := false
	defer func() {
		if !back {
			c.Abort(Use{weight: w | useCounted})
		}
	}()
	label := m.begin(ctx, now)
	back = true
	return now&^stampMask | labelled | int64(label)<<labelShift | 1
}

func (m *metered) begin(ctx context.Context, now int64) (label uint8) {
	defer func() { _ = recover() }()
	if label = m.Begin(ctx, time.Duration(now)); label > labelMask {
		return 0
	}
	return label
}

func (m *metered) full(now int64) {
	if m == nil {
		return
	}
	defer func() { _ = recover() }()
	m.Full(time.Duration(now))
}

func (m *metered) end(s spillway.Sample) {
	if m == nil {
		return
	}
	defer func() { _ = recover() }()
	m.End(s)
}

// measure records how long a call held its w permits, and returns what to tell whom
// once they are back.
func (c *Core) measure(stamp int64, w uint64, o spillway.Outcome) (s spillway.Sample, m *metered) {
	now := c.now()
	d := max(age(stamp, now), 0)
	c.hold.Record(d)
	if c.opts.Estimate {
		c.learn(d, o)
	}
	s.Took = d
	if stamp&labelled == 0 {
		return s, nil
	}
	if m = c.meter.Load(); m != nil {
		s.At, s.InUse, s.Weight, s.Outcome = time.Duration(now), int(useOf(c.word.Load())), int(w), o
		s.Label = uint8(stamp >> labelShift & labelMask)
	}
	return s, m
}
