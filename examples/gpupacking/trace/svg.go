package trace

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The layout of a drawing, in pixels: two panels side by side.
const (
	panelWidth, panelHeight = 420, 320
	marginX, marginY        = 60, 50
	legendLine              = 18
)

// colours are those of the policies, in the order of Policies; they can be told apart by
// those who do not see red or green (Okabe and Ito, 2008).
var colours = []string{"#999999", "#56b4e9", "#cc79a7", "#f0e442", "#e69f00", "#000000", "#d55e00", "#0072b2"}

// panel is one diagram: a measure against the arrived demand.
type panel struct {
	title       string
	series      func(*Run) *Series
	least, most float64 // of the vertical axis, in percent
}

var panels = []panel{
	{"GPU allocation, % of capacity", func(r *Run) *Series { return &r.Allocation }, 0, 100},
	{"fragmented, % of idle GPUs", func(r *Run) *Series { return &r.Fragmentation }, 0, 100},
}

// WriteSVG draws allocation and fragmentation against the arrived demand: a line for each
// policy that has a run, which is the mean over its seeds. The name is that of the trace.
// The error is the writer's.
func WriteSVG(out io.Writer, name string, runs []Run) error {
	var drawn []int // indexes into Policies
	for i, policy := range Policies() {
		if hasPolicy(runs, policy) {
			drawn = append(drawn, i)
		}
	}
	var b strings.Builder
	width := len(panels)*(panelWidth+marginX) + marginX
	height := panelHeight + 2*marginY + legendLine*len(drawn)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/>`+"\n")
	fmt.Fprintf(&b, `<text x="%d" y="20" font-size="14">%s: mean over the seeds</text>`+"\n", marginX, html.EscapeString(name))
	for n := range panels {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n", marginX+n*(panelWidth+marginX), marginY)
		panels[n].draw(&b, runs, drawn)
		b.WriteString("</g>\n")
	}
	for line, i := range drawn {
		y := panelHeight + 2*marginY + legendLine*line
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="%s" stroke-width="2"/>`, marginX, y-4, marginX+24, y-4, colours[i])
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", marginX+30, y, Policies()[i].Title())
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// draw draws the axes, and the lines of the policies.
func (p *panel) draw(b *strings.Builder, runs []Run, drawn []int) {
	fmt.Fprintf(b, `<text x="0" y="-10">%s, by arrived demand, %% of capacity</text>`+"\n", p.title)
	for percent := 0; percent < Columns; percent += 20 {
		x := p.x(percent)
		fmt.Fprintf(b, `<line x1="%.1f" y1="0" x2="%.1f" y2="%d" stroke="#dddddd"/><text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n",
			x, x, panelHeight, x, panelHeight+15, percent)
	}
	for value := p.least; value <= p.most; value += (p.most - p.least) / 5 {
		y := p.y(value)
		fmt.Fprintf(b, `<line x1="0" y1="%.1f" x2="%d" y2="%.1f" stroke="#dddddd"/><text x="-6" y="%.1f" text-anchor="end">%.0f</text>`+"\n",
			y, panelWidth, y, y+4, value)
	}
	for _, i := range drawn {
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`+"\n", colours[i], p.points(runs, Policies()[i]))
	}
}

func (p *panel) x(percent int) float64 {
	return float64(panelWidth) * float64(percent) / float64(Columns-1)
}

func (p *panel) y(value float64) float64 {
	return panelHeight * (1 - (value-p.least)/(p.most-p.least))
}

// points are those of the policy's line. Columns without a value are left out.
func (p *panel) points(runs []Run, policy Policy) string {
	var list []string
	for column := range Columns {
		var sum, seeds float64
		for i := range runs {
			if v := p.series(&runs[i])[column]; runs[i].Policy == policy && !math.IsNaN(v) {
				sum += v
				seeds++
			}
		}
		if seeds > 0 {
			list = append(list, fmt.Sprintf("%.1f,%.1f", p.x(column), p.y(sum/seeds)))
		}
	}
	return strings.Join(list, " ")
}
