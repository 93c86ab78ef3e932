package main

import (
	"fmt"
	"math"
	"strings"
)

// The picture's size and margins, in pixels.
const (
	width, height = 720, 320
	left, right   = 70, 110
	top, bottom   = 40, 50
)

// picture draws throughput and p99 over the number of callers, a column for each class.
func picture(curves []curve) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`,
		width, height*len(curves))
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>`)
	for i, c := range curves {
		fmt.Fprintf(&b, `<g transform="translate(0,%d)">`, i*height)
		c.draw(&b)
		b.WriteString(`</g>`)
	}
	b.WriteString(`</svg>`)
	return b.String()
}

func (c curve) draw(b *strings.Builder) {
	maxRate, maxP99, maxCallers := 1.0, 0.001, 2.0
	for _, p := range c.points {
		maxRate = max(maxRate, p.rate)
		maxP99 = max(maxP99, p.p99.Seconds())
		maxCallers = max(maxCallers, float64(p.callers))
	}
	x := func(callers int) float64 {
		return left + (width-left-right)*math.Log2(float64(callers))/math.Log2(maxCallers)
	}
	y := func(share float64) float64 { return height - bottom - (height-top-bottom)*share }
	fmt.Fprintf(b, `<text x="%d" y="20" font-size="14" font-weight="bold">%s</text>`, left, c.class)
	fmt.Fprintf(b, `<path d="M%d %dV%dH%d V%d" fill="none" stroke="#999"/>`, left, top, height-bottom, width-right, top)
	if c.knee > 0 {
		fmt.Fprintf(b, `<path d="M%.1f %dV%d" stroke="#2a2" stroke-dasharray="4 4"/><text x="%.1f" y="%d" fill="#2a2">knee %d</text>`,
			x(c.knee), top, height-bottom, x(c.knee)+4, top+12, c.knee)
	}
	rates, tails := "", ""
	for i, p := range c.points {
		letter := "L"
		if i == 0 {
			letter = "M"
		}
		rates += fmt.Sprintf("%s%.1f %.1f", letter, x(p.callers), y(p.rate/maxRate))
		tails += fmt.Sprintf("%s%.1f %.1f", letter, x(p.callers), y(p.p99.Seconds()/maxP99))
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%d</text>`, x(p.callers), height-bottom+18, p.callers)
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="#06c" stroke-width="2"/><path d="%s" fill="none" stroke="#c40" stroke-width="2"/>`, rates, tails)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end" fill="#06c">%.0f/s</text><text x="%d" y="%d" fill="#c40">p99 %.1f ms</text>`,
		left-6, top+4, maxRate, width-right+6, top+4, maxP99*1000)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">callers</text>`, width/2, height-8)
}
