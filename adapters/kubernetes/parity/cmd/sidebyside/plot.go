package main

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/sidebyside"
)

// sideCost is what a decision costs one side.
type sideCost struct {
	name string
	cost sidebyside.Cost
}

func (l line) sides() []sideCost {
	return []sideCost{{"kube-scheduler", l.kube}, {"Berth, reference decider", l.reference}, {"Berth", l.berth}}
}

// curve is the cost of one side, with one share of nodes, against the number of nodes.
type curve struct {
	name   string
	points plotter.XYs
}

// curves orders the costs of lines that are about the same pods.
func curves(lines []line) ([]curve, error) {
	var all []curve
	places := map[string]int{}
	for _, l := range lines {
		if l.row.Name != lines[0].row.Name || l.cluster.PodsPerNode != lines[0].cluster.PodsPerNode {
			return nil, errors.New("a picture is of one row with one number of pods on each node: use -rows and -pods")
		}
		for _, side := range l.sides() {
			name := side.name + ", " + shareName(l.cluster.Share)
			at, known := places[name]
			if !known {
				at = len(all)
				places[name] = at
				all = append(all, curve{name: name})
			}
			all[at].points = append(all[at].points, plotter.XY{X: float64(l.cluster.Nodes), Y: micros(side.cost.CPU)})
		}
	}
	return all, nil
}

// draw draws the costs to a file, whose ending says in which form (.svg, .png).
func draw(file string, lines []line) error {
	all, err := curves(lines)
	if err != nil || len(all) == 0 {
		return err
	}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("One decision: %s pods, %d on each node before", lines[0].row.Name, lines[0].cluster.PodsPerNode)
	p.X.Label.Text, p.Y.Label.Text = "nodes", "processor time, µs"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left = true, true
	var named []any
	for _, c := range all {
		named = append(named, c.name, c.points)
	}
	if err := plotutil.AddLinePoints(p, named...); err != nil {
		return err
	}
	return p.Save(20*vg.Centimeter, 14*vg.Centimeter, file)
}
