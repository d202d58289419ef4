package helper

import (
	"iter"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// AppLabels are the labels by which a workload says of which component of which application
// graph it is.
type AppLabels struct {
	Graph, Component string // keys; default: "app" and "component"
	// Namespaces are put in front of what the first label says, with a slash, one after the
	// other, until there is a graph with that ID. None: it is the ID.
	Namespaces []string
}

// WithDefaults returns the labels with the defaults in place of what is not set.
func (l AppLabels) WithDefaults() AppLabels {
	if l.Graph == "" {
		l.Graph = "app"
	}
	if l.Component == "" {
		l.Component = "component"
	}
	return l
}

// GraphOf returns the graph of the workload; nil where it names none, or there is none.
func (l *AppLabels) GraphOf(v extpoints.ClusterView, w *model.Workload) *model.AppGraph {
	name := w.Labels[l.Graph]
	if name == "" {
		return nil
	}
	for id := range l.IDs(name) {
		if g := v.AppGraph(id); g != nil {
			return g
		}
	}
	return nil
}

// IDs are those that an object of the name may have, in the order in which they are tried.
func (l *AppLabels) IDs(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if len(l.Namespaces) == 0 {
			yield(name)
		}
		for _, namespace := range l.Namespaces {
			if !yield(namespace + "/" + name) {
				return
			}
		}
	}
}

// Check notes what is wrong with the labels of a plugin's arguments.
func (l AppLabels) Check(p *Problems) {
	if l = l.WithDefaults(); l.Graph == l.Component {
		p.Addf("component", "%q is the label of the graph", l.Component)
	}
}
