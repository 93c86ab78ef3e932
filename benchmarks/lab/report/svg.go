package report

import (
	"fmt"
	"html"
	"strings"
)

// canvas is a picture under way.
type canvas struct{ out strings.Builder }

func newCanvas(width, height int) *canvas {
	c := &canvas{}
	c.add(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", width, height)
	c.add(`<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	return c
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.out, format, args...) }

func (c *canvas) text(x, y float64, anchor, more, s string) {
	c.add(`<text x="%.1f" y="%.1f" text-anchor="%s" %s>%s</text>`+"\n", x, y, anchor, more, html.EscapeString(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, colour string) {
	c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
}

func (c *canvas) rect(x, y, w, h float64, fill string) {
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, w, h, fill)
}

// point is a place on the canvas; a gap in a line if it isn't there.
type point struct {
	x, y  float64
	there bool
}

// path draws a line, which is broken where a point isn't there.
func (c *canvas) path(points []point, colour, dash string, width float64) {
	var d strings.Builder
	pen := "M"
	for _, p := range points {
		if !p.there {
			pen = "M"
			continue
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", pen, p.x, p.y)
		pen = "L"
	}
	if d.Len() > 0 {
		c.add(`<path d="%s" fill="none" stroke="%s" stroke-width="%.1f" stroke-dasharray="%s"/>`+"\n", d.String(), colour, width, dash)
	}
}

func (c *canvas) finish() string {
	c.add("</svg>\n")
	return c.out.String()
}
