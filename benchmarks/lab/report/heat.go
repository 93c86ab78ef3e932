package report

import (
	"fmt"
	"math"

	"github.com/spillway-go/spillway/benchmarks/lab"
)

// heat draws the table of all: a row for each workload, a column for each policy, the colour for
// how much of what was possible was reached.
func heat(b *lab.Board) string {
	const left, top, wide, high = 190, 150, 44, 17
	workloads, policies := b.Workloads(), b.All()
	c := newCanvas(left+wide*len(policies)+50, top+high*len(workloads)+60)
	c.text(14, 22, "start", `font-size="14" font-weight="bold"`, "What of the possible was reached (worst seed)")
	c.text(14, 40, "start", `fill="#555"`, "goodput of the ideal, or success where a")
	c.text(14, 54, "start", `fill="#555"`, "workload is about that; a dot where every")
	c.text(14, 68, "start", `fill="#555"`, "target is met that says something of it")
	for i, p := range policies {
		x := float64(left + wide*i + wide/2)
		c.add(`<text transform="translate(%.0f %d) rotate(-55)" font-size="11">%s</text>`+"\n", x, top-8, p.Name)
	}
	for r, w := range workloads {
		y := float64(top + high*r)
		name := w.Name()
		if w.HoldOut {
			name += " *"
		}
		c.text(left-8, y+13, "end", "", name)
		for i, p := range policies {
			x := float64(left + wide*i)
			v := b.Worst(w, p.Name, w.Headline())
			if math.IsNaN(v) {
				c.rect(x+1, y+1, wide-2, high-2, "#f4f4f4")
				continue
			}
			c.rect(x+1, y+1, wide-2, high-2, shade(v))
			c.text(x+wide/2-3, y+13, "middle", `font-size="10"`, fmt.Sprintf("%.0f", 100*v))
			if met, of := b.Met(w, p.Name); of > 0 && met == of {
				c.add(`<circle cx="%.0f" cy="%.0f" r="2.5" fill="#064"/>`+"\n", x+wide-8, y+high/2)
			}
		}
	}
	y := float64(top + high*len(workloads) + 24)
	c.text(left, y, "start", `fill="#555"`, "percent; grey: not run with it, or nothing could be reached.   * hold-out: no constant was tuned on it")
	return c.finish()
}

// shade goes from red over yellow to green; the last percents count most.
func shade(v float64) string {
	v = min(max(v, 0), 1)
	hue := 110 * v * v
	return fmt.Sprintf("hsl(%.0f 70%% 75%%)", hue)
}
