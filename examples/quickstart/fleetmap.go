package main

import (
	"bytes"
	"fmt"

	"github.com/berth-project/berth/model"
)

// cell is a node on the map.
type cell struct {
	name   string
	use    float64 // the mean of cpu, memory and GPUs, from 0 to 1
	closed bool    // for maintenance
}

// row is a pool of nodes on the map.
type row struct {
	pool  string
	cells []cell
}

// fleetMap is the nodes by pool, each with how much of it is used, as the engine's record has it.
func fleetMap(r *result) []row {
	view := r.engine.View()
	use := map[string]*usages{}
	at := map[string]*row{}
	rows := make([]row, len(pools))
	for i := range pools {
		rows[i].pool = pools[i].name
		at[pools[i].name] = &rows[i]
	}
	for w := range view.Workloads() {
		if w.Node == "" {
			continue
		}
		if use[w.Node] == nil {
			use[w.Node] = &usages{}
		}
		use[w.Node].add(&w)
	}
	for n := range view.Nodes() {
		c := cell{name: n.Name, closed: n.Unschedulable}
		if u := use[n.Name]; u != nil {
			c.use = u.of(n.Node)
		}
		to := at[n.Labels[labelPool]]
		to.cells = append(to.cells, c)
	}
	return rows
}

// usages is what is used on a node.
type usages struct{ cpu, memory, devices int64 }

func (u *usages) add(w *model.WorkloadRecord) {
	u.cpu += w.Requests.CPU
	u.memory += w.Requests.Memory
	for _, d := range w.Shares {
		u.devices += d.Share
	}
}

// of is the part of the node that is used: the mean of its resources.
func (u *usages) of(n *model.Node) float64 {
	sum, resources := float64(u.cpu)/float64(n.Allocatable.CPU)+float64(u.memory)/float64(n.Allocatable.Memory), 2.0
	if len(n.Devices) > 0 {
		sum, resources = sum+float64(u.devices)/float64(int64(len(n.Devices))*model.WholeDevice), 3
	}
	return sum / resources
}

// perLine is how many nodes a line of the map has.
const perLine = 84

// bars are the signs for nodes that are used, from a little to all.
var bars = []rune("▁▂▃▄▅▆▇█")

// sign is the node on a terminal.
func (c *cell) sign() string {
	switch {
	case c.closed:
		return "×"
	case c.use == 0:
		return "·"
	}
	return string(bars[min(int(c.use*float64(len(bars))), len(bars)-1)])
}

// colour is the colour of the node on the map.
func (c *cell) colour() colour {
	switch {
	case c.closed:
		return red
	case c.use == 0:
		return grey
	case c.use < 0.5:
		return cyan
	case c.use < 0.9:
		return green
	}
	return yellow
}

// fleet draws the map: a sign for each node.
func (p *printer) fleet(rows []row) {
	p.heading("The fleet, node by node: · empty, ▁ to █ used (mean of cpu, memory and GPUs), × closed")
	for _, r := range rows {
		for i := 0; i < len(r.cells); i += perLine {
			name := r.pool
			if i > 0 {
				name = ""
			}
			p.printf("  %-9s ", name)
			for _, c := range r.cells[i:min(i+perLine, len(r.cells))] {
				p.printf("%s", p.painted(c.colour(), c.sign()))
			}
			p.printf("\n")
		}
	}
}

// The picture, in its units.
const (
	side     = 9 // of a node
	leftEdge = 70
)

// picture is the map as an SVG file. A browser shows the name of the node that one points at.
func picture(rows []row) []byte {
	var nodes bytes.Buffer
	y := side
	for _, r := range rows {
		if len(r.cells) == 0 {
			continue
		}
		fmt.Fprintf(&nodes, `<text x="%d" y="%d">%s</text>`+"\n", side, y+side, r.pool)
		for i := range r.cells {
			c := &r.cells[i]
			if i > 0 && i%perLine == 0 {
				y += side + 2
			}
			x, high := leftEdge+i%perLine*(side+1), c.use*side
			fmt.Fprintf(&nodes, `<g><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" fill="#eee"/>`, c.text(), x, y, side, side)
			if c.closed {
				high = side
			}
			fmt.Fprintf(&nodes, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="%s"/></g>`+"\n", x, float64(y)+side-high, side, high, c.colour().inPicture)
		}
		y += 2 * side
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", leftEdge+perLine*(side+1)+side, y)
	b.Write(nodes.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// text says what the sign means.
func (c *cell) text() string {
	if c.closed {
		return c.name + ": closed"
	}
	return fmt.Sprintf("%s: %.0f%%", c.name, 100*c.use)
}
