package main

import (
	"fmt"
	"math"
	"strings"
)

// drawing is a picture in a file.
type drawing struct{ title, file, svg string }

// line is a curve.
type line struct {
	name string
	xs   []string // what stands below the points
	ys   []float64
}

// draw makes a picture of goodput over the number of callers, one over the open loads, and
// one over time for each scenario in which something happens.
func draw(rows []row) []drawing {
	var all []drawing
	for _, name := range []string{"callers", "open load", "processes"} {
		if lines := over(rows, name); len(lines) > 0 {
			all = append(all, drawing{name, file(name), chart("goodput a second: "+name, lines)})
		}
	}
	seen := map[string]bool{}
	for _, r := range rows {
		if len(r.events) == 0 || seen[r.name] {
			continue
		}
		seen[r.name] = true
		all = append(all, drawing{r.name, file(r.name), chart("goodput in each 100 ms: "+r.what, overTime(rows, r.name))})
	}
	return all
}

func file(name string) string { return "live-" + strings.ReplaceAll(name, " ", "-") + ".svg" }

// over collects the sides of the scenarios of one name: of counters the best, and Spillway as it is
// by default.
func over(rows []row, name string) []line {
	lines := []line{{name: sideRaw}, {name: "best " + sideCounter}, {name: sideSpillway}}
	last := ""
	for _, r := range rows {
		if r.name != name {
			continue
		}
		if r.title() != last {
			last = r.title()
			for i := range lines {
				lines[i].xs = append(lines[i].xs, last)
				lines[i].ys = append(lines[i].ys, 0)
			}
		}
		for i := range lines {
			if r.side == sideCounter && strings.HasSuffix(lines[i].name, r.side) || r.label() == lines[i].name {
				lines[i].ys[len(lines[i].ys)-1] = max(lines[i].ys[len(lines[i].ys)-1], r.goodput())
			}
		}
	}
	if last == "" {
		return nil
	}
	return lines
}

func overTime(rows []row, name string) []line {
	var lines []line
	for _, r := range rows {
		if r.name != name {
			continue
		}
		l := line{name: r.label()}
		ok, _ := r.bins()
		for i, n := range ok[:len(ok)-1] {
			x := ""
			if i%10 == 0 {
				x = fmt.Sprintf("%d s", i/10)
			}
			l.xs, l.ys = append(l.xs, x), append(l.ys, float64(n))
		}
		lines = append(lines, l)
	}
	return lines
}

const (
	width, height            = 760, 300
	left, right, top, bottom = 60, 170, 40, 40
)

// chart draws lines over the same points, from zero up.
func chart(title string, lines []line) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12"><rect width="100%%" height="100%%" fill="#fff"/>`, width, height)
	fmt.Fprintf(&b, `<text x="%d" y="22" font-size="14" font-weight="bold">%s</text>`, left, title)
	highest := 1.0
	for _, l := range lines {
		for _, y := range l.ys {
			highest = max(highest, y)
		}
	}
	x := func(i, n int) float64 { return left + float64(i)*(width-left-right)/math.Max(1, float64(n-1)) }
	y := func(v float64) float64 { return height - bottom - v/highest*(height-top-bottom) }
	for _, share := range []float64{0, 0.5, 1} {
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.0f</text>`,
			left, y(share*highest), width-right, left-6, y(share*highest)+4, share*highest)
	}
	for i, text := range lines[0].xs {
		if text != "" {
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x(i, len(lines[0].xs)), height-bottom+18, text)
		}
	}
	for i, l := range lines {
		colour := []string{"#c40", "#888", "#bbb", "#06c", "#06c"}[min(colourOf(l.name, i), 4)]
		var path strings.Builder
		for j, v := range l.ys {
			letter := "L"
			if j == 0 {
				letter = "M"
			}
			fmt.Fprintf(&path, "%s%.1f %.1f", letter, x(j, len(l.ys)), y(v))
		}
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="%d" fill="%s">%s</text>`,
			path.String(), colour, width-right+12, top+16*i+8, colour, l.name)
	}
	b.WriteString(`</svg>`)
	return b.String()
}

// colourOf is the place of a line's colour: Spillway's is always the same.
func colourOf(name string, i int) int {
	if name == sideSpillway {
		return 3
	}
	return min(i, 2)
}
