package topologicalsort

import (
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "TopologicalSort"

// Args are the arguments.
type Args struct {
	// Labels say which workloads are of which component.
	Labels helper.AppLabels
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	a.Labels.Check(&p)
	return p.Err(Name)
}

// TopologicalSort is the plugin. It has no state.
type TopologicalSort struct {
	handle extpoints.Handle
	labels helper.AppLabels
}

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*TopologicalSort, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &TopologicalSort{h, a.Labels.WithDefaults()}, nil
}

// Name returns the plugin's name.
func (*TopologicalSort) Name() string { return Name }

// Less puts the higher priority first. Of equal ones those of a graph stay together, in the
// place that the graph has by its creation and then by its ID, and among themselves in the
// order of the components; others have their place by their timestamp.
func (p *TopologicalSort) Less(a, b *extpoints.Queued) bool {
	if a.Priority != b.Priority {
		return a.Priority > b.Priority
	}
	if a.Workload.Labels[p.labels.Graph] == "" && b.Workload.Labels[p.labels.Graph] == "" {
		return a.Timestamp.Before(b.Timestamp)
	}
	v := p.handle.View()
	one, other := p.labels.GraphOf(v, a.Workload), p.labels.GraphOf(v, b.Workload)
	if one != other {
		if c := place(one, a).Compare(place(other, b)); c != 0 {
			return c < 0
		}
		return strings.Compare(id(one), id(other)) < 0
	}
	if one != nil {
		if i, j := p.index(one, a.Workload), p.index(one, b.Workload); i != j {
			return i < j
		}
	}
	return a.Timestamp.Before(b.Timestamp)
}

// place is the time that stands for what waits.
func place(g *model.AppGraph, q *extpoints.Queued) time.Time {
	if g == nil {
		return q.Timestamp
	}
	return g.CreatedAt
}

func id(g *model.AppGraph) string {
	if g == nil {
		return ""
	}
	return g.ID
}

// index is the place of the workload's component among the others; one that is not there
// comes first.
func (p *TopologicalSort) index(g *model.AppGraph, w *model.Workload) int {
	name := w.Labels[p.labels.Component]
	return slices.IndexFunc(g.Components, func(c model.AppComponent) bool { return c.Name == name })
}

var _ extpoints.QueueSortPlugin = (*TopologicalSort)(nil)
