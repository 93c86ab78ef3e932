package report

import (
	"fmt"
	"math"

	"github.com/spillway-go/spillway/benchmarks/lab"
)

// style is how a policy is drawn.
type style struct {
	name, colour, dash string
	width              float64
}

// drawn returns the policies that the pictures show, ours last and so on top. All would be a
// tangle.
func drawn() []style {
	return []style{
		{"none", "#999999", "", 1.2},
		{"driver", "#8c564b", "", 1.2},
		{"static 8c", "#e377c2", "5 2", 1.2},
		{"failsafe+queue", "#ff7f0e", "", 1.2},
		{"gcl gradient2", "#9467bd", "", 1.2},
		{"budget", "#2ca02c", "", 1.2},
		{"lanes", "#17becf", "5 2", 1.2},
		{"stack", "#1f4fd8", "", 2},
		{"adaptive", "#d62728", "", 2},
	}
}

// panel is one of the four graphs of a picture.
type panel struct {
	title string
	value func(lab.Moment) float64 // NaN for none
	log   bool
	unit  func(float64) string
}

const (
	pictureWidth, pictureHeight = 760, 470
	panelWidth, panelHeight     = 310, 150
)

// course draws how a workload went over time: goodput, latency, limit, and what was under way.
func course(b *lab.Board, w lab.Workload) string {
	c := newCanvas(pictureWidth, pictureHeight)
	c.text(14, 20, "start", `font-size="14" font-weight="bold"`, w.Name())
	c.text(14, 36, "start", `fill="#555"`, w.About)
	x := 14.0
	var shown []style
	for _, s := range drawn() {
		if len(b.Course(w, s.name)) == 0 {
			continue
		}
		shown = append(shown, s)
		c.path([]point{{x, 50, true}, {x + 18, 50, true}}, s.colour, s.dash, s.width)
		c.text(x+22, 54, "start", "", s.name)
		x += 40 + 6.4*float64(len(s.name))
	}
	for i, p := range []panel{
		{"answers in time, per second", func(m lab.Moment) float64 { return float64(m.Good) * 10 }, false, plain},
		{"p99 of them", func(m lab.Moment) float64 { return m.P99 }, true, lab.P99.Format},
		{"limit, all processes", func(m lab.Moment) float64 { return positive(m.Limit) }, false, plain},
		{"operations under way", func(m lab.Moment) float64 { return positive(float64(m.Pending)) }, true, plain},
	} {
		graph(c, 52+float64(i%2)*380, 84+float64(i/2)*200, p, w, b, shown)
	}
	return c.finish()
}

// positive is v, or nothing.
func positive(v float64) float64 {
	if v <= 0 {
		return math.NaN()
	}
	return v
}

func plain(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// graph draws a panel with its left upper corner at x, y.
func graph(c *canvas, x, y float64, p panel, w lab.Workload, b *lab.Board, shown []style) {
	low, high := bounds(p, w, b, shown)
	place := func(v float64) float64 {
		part := (v - low) / (high - low)
		if p.log {
			part = math.Log(v/low) / math.Log(high/low)
		}
		return y + panelHeight*(1-min(max(part, 0), 1))
	}
	seconds := w.Length.Seconds()
	across := func(s float64) float64 { return x + panelWidth*s/seconds }
	c.text(x, y-6, "start", `font-weight="bold"`, p.title)
	if w.Ends > 0 {
		c.rect(across(w.From.Seconds()), y, max(across(w.Ends.Seconds())-across(w.From.Seconds()), 0), panelHeight, "#f3f0e0")
	}
	for _, v := range ticks(low, high, p.log) {
		c.line(x, place(v), x+panelWidth, place(v), "#ddd")
		c.text(x-4, place(v)+4, "end", `fill="#555"`, p.unit(v))
	}
	for i := 0; i <= 4; i++ {
		s := seconds * float64(i) / 4
		c.text(across(s), y+panelHeight+14, "middle", `fill="#555"`, fmt.Sprintf("%.3g s", s))
	}
	for _, s := range shown {
		var points []point
		moments := b.Course(w, s.name)
		step := max(len(moments)/160, 1)
		for at := 0; at+step <= len(moments); at += step {
			sum, n := 0.0, 0
			for _, m := range moments[at : at+step] {
				if v := p.value(m); !math.IsNaN(v) && m.Offered > 0 {
					sum, n = sum+v, n+1
				}
			}
			points = append(points, point{across(float64(at) / 10), place(sum / float64(max(n, 1))), n > 0})
		}
		c.path(points, s.colour, s.dash, s.width)
	}
	c.line(x, y+panelHeight, x+panelWidth, y+panelHeight, "#333")
	c.line(x, y, x, y+panelHeight, "#333")
}

// bounds returns what a panel's axis spans.
func bounds(p panel, w lab.Workload, b *lab.Board, shown []style) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, s := range shown {
		for _, m := range b.Course(w, s.name) {
			if v := p.value(m); !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	switch {
	case high == 0 && p.log:
		return 1, 10
	case high == 0:
		return 0, 1
	case p.log:
		return math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high*1.0001)))
	}
	return 0, high * 1.05
}

// ticks returns a few round values between two.
func ticks(low, high float64, log bool) []float64 {
	var at []float64
	if log {
		for v := low; v <= high*1.0001 && len(at) < 10; v *= 10 {
			at = append(at, v)
		}
		return at
	}
	step := math.Pow(10, math.Floor(math.Log10(high)))
	for high/step < 3 {
		step /= 2
	}
	for v := 0.0; v <= high; v += step {
		at = append(at, v)
	}
	return at
}
