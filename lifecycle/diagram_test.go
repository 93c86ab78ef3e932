package lifecycle

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type edge struct{ from, to, trigger string }

func tableEdges() map[edge]bool {
	edges := map[edge]bool{}
	for from, tos := range transitions {
		for to, trigger := range tos {
			edges[edge{title(from), title(to), trigger}] = true
		}
	}
	return edges
}

func title(s State) string { return strings.ToUpper(s.String()[:1]) + s.String()[1:] }

// G-LIF-6: the diagram in the design page is the table.
func TestDiagramsMatchTheTable(t *testing.T) {
	page, err := os.ReadFile("../docs/design/lifecycle.md")
	require.NoError(t, err)
	drawn := map[edge]bool{}
	for _, m := range regexp.MustCompile(`(?m)^ +(\w+) --> (\w+): (.+)$`).FindAllStringSubmatch(string(page), -1) {
		drawn[edge{m[1], m[2], m[3]}] = true
	}
	require.Equal(t, tableEdges(), drawn)
}

// G-LIF-6: the diagram in the doc comment has the table's edges: as many arrow
// heads, the same triggers, and each of them between the two states it joins.
func TestDocDiagramMatchesTheTable(t *testing.T) {
	src, err := os.ReadFile("state.go")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(src), "// State is where")
	require.True(t, found)
	text, _, _ := strings.Cut(rest, "type State")
	var grid []string
	for line := range strings.SplitSeq(text, "\n") {
		if l, ok := strings.CutPrefix(line, "//\t"); ok {
			grid = append(grid, l)
		}
	}
	require.Equal(t, tableEdges(), readDiagram(t, grid))
}

// readDiagram follows the lines of an ASCII drawing. A line starts where it touches
// a state's name without an arrow head, and ends at its head; the trigger is the
// label nearest to the line.
func readDiagram(t *testing.T, grid []string) map[edge]bool {
	d := drawing{grid: grid, states: map[cell]string{}}
	for s := range transitions {
		for y, row := range grid {
			if x := strings.Index(row, title(s)); x >= 0 {
				for i := range title(s) {
					d.states[cell{x + i, y}] = title(s)
				}
			}
		}
	}
	edges := map[edge]bool{}
	for head, from := range d.heads() {
		to, line := d.trace(head)
		edges[edge{from: to, to: d.states[from], trigger: d.label(line)}] = true
		require.NotEmpty(t, to, "the line into %s at %v starts nowhere", d.states[from], head)
	}
	return edges
}

type cell struct{ x, y int }

type drawing struct {
	grid   []string
	states map[cell]string
}

func (d drawing) at(c cell) byte {
	if c.y < 0 || c.y >= len(d.grid) || c.x < 0 || c.x >= len(d.grid[c.y]) {
		return ' '
	}
	return d.grid[c.y][c.x]
}

var around = map[byte]cell{'>': {1, 0}, '<': {-1, 0}, '^': {0, -1}, 'v': {0, 1}}

// heads returns the arrow heads, each with the cell of the state it points to.
func (d drawing) heads() map[cell]cell {
	heads := map[cell]cell{}
	for y, row := range d.grid {
		for x := range row {
			step, ok := around[row[x]]
			if !ok || d.states[cell{x, y}] != "" {
				continue
			}
			to := cell{x + step.x, y + step.y}
			if row[x] == '<' || row[x] == '>' { // a blank may stand before the name
				if d.states[to] == "" {
					to.x += step.x
				}
			}
			if d.states[to] != "" {
				heads[cell{x, y}] = to
			}
		}
	}
	return heads
}

// trace follows a line back from its head to the state where it starts.
func (d drawing) trace(head cell) (from string, line []cell) {
	seen := map[cell]bool{head: true}
	step := around[d.at(head)]
	at := cell{head.x - step.x, head.y - step.y}
	line = []cell{head}
	for {
		seen[at] = true
		line = append(line, at)
		next, found := at, false
		for _, dir := range []cell{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
			c := cell{at.x + dir.x, at.y + dir.y}
			if seen[c] {
				continue
			}
			if s := d.states[c]; s != "" && (d.at(at) != '-' || dir.y == 0) && (d.at(at) != '|' || dir.x == 0) {
				return s, line
			}
			ch := d.at(c)
			if ch == '+' && joins(d.at(at), dir) || ch == '-' && dir.y == 0 && joins(d.at(at), dir) || ch == '|' && dir.x == 0 && joins(d.at(at), dir) {
				next, found = c, true
			}
			if ch == ' ' && dir.y == 0 { // a blank between line and name
				if s := d.states[cell{c.x + dir.x, c.y}]; s != "" && d.at(at) == '-' {
					return s, line
				}
			}
		}
		if !found {
			return "", line
		}
		at = next
	}
}

// joins reports whether a line's character goes on in a direction.
func joins(ch byte, dir cell) bool {
	switch ch {
	case '-':
		return dir.y == 0
	case '|':
		return dir.x == 0
	}
	return ch == '+'
}

var labels = regexp.MustCompile(`[A-Za-z]+( [a-z]+)*`)

// label returns the words nearest to a line.
func (d drawing) label(line []cell) string {
	best, near := "", 1<<30
	for y, row := range d.grid {
		for _, m := range labels.FindAllStringIndex(row, -1) {
			if m[1]-m[0] == 1 || d.states[cell{m[0], y}] != "" {
				continue // an arrow head or a name
			}
			for _, c := range line {
				for x := m[0]; x < m[1]; x++ {
					dist := (x-c.x)*(x-c.x) + 4*(y-c.y)*(y-c.y)
					if dist < near {
						best, near = row[m[0]:m[1]], dist
					}
				}
			}
		}
	}
	return best
}
