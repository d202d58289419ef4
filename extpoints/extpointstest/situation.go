package extpointstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Now is the time of all cycles of this package.
var Now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// Situation is a question to a plugin: where can this workload go?
type Situation struct {
	Name     string                  // for people; may be empty
	Workload *extpoints.WorkloadInfo // the one to be placed; on no node of the view
	View     *View                   // the nodes that it may go to, and the rest of the cluster
}

// NewSituation makes a situation of a workload and nodes.
func NewSituation(w *model.Workload, nodes ...*extpoints.NodeInfo) *Situation {
	return &Situation{Workload: &extpoints.WorkloadInfo{Workload: w}, View: NewView(nodes...)}
}

// Cycle makes a cycle in the situation.
func (s *Situation) Cycle() *extpoints.Cycle {
	return extpoints.NewCycle(extpoints.CycleOptions{View: s.View, Now: Now, Seed: 1})
}

// State makes the state of a cycle in the situation.
func (s *Situation) State() *extpoints.CycleState { return s.Cycle().State() }

// Scores are what the plugin gives the nodes, in their order: its scores, and what its NormalizeScore makes of
// them, the same where it has none. Its PreScore is not called. Where the plugin fails, so does the test.
func (s *Situation) Scores(t testing.TB, p extpoints.ScorePlugin) (raw, normal []int64) {
	t.Helper()
	state, nodes := s.State(), s.View.NodeInfos
	for _, n := range nodes {
		score, st := p.Score(state, s.Workload, n)
		if !st.IsSuccess() {
			t.Fatal(st)
		}
		raw = append(raw, score)
	}
	normal = slices.Clone(raw)
	if n, normalizes := extpoints.As[extpoints.ScoreNormalizer](p); normalizes {
		if st := n.NormalizeScore(state, s.Workload, nodes, normal); !st.IsSuccess() {
			t.Fatal(st)
		}
	}
	return raw, normal
}

// copy returns a situation that can be changed without touching s; what is in
// the lists is shared.
func (s *Situation) copy() *Situation {
	view := *s.View
	view.NodeInfos = slices.Clone(view.NodeInfos)
	view.Nominating = maps.Clone(view.Nominating)
	view.Objects = slices.Clone(view.Objects)
	return &Situation{Name: s.Name, Workload: s.Workload, View: &view}
}

// replace puts a node in the place of the one of the same name.
func (s *Situation) replace(node *extpoints.NodeInfo) {
	i := slices.IndexFunc(s.View.NodeInfos, func(n *extpoints.NodeInfo) bool { return n.Node.Name == node.Node.Name })
	node.Slot = s.View.NodeInfos[i].Slot
	s.View.NodeInfos[i] = node
}

// String prints the objects of the situation, one a line.
func (s *Situation) String() string {
	var b strings.Builder
	line := func(what string, object any) {
		fmt.Fprintf(&b, "  %s %s\n", what, compact(object))
	}
	if s.Name != "" {
		fmt.Fprintf(&b, "  situation %q\n", s.Name)
	}
	line("workload", s.Workload.Workload)
	for _, n := range s.View.NodeInfos {
		line("node", n.Node)
		for _, w := range n.Workloads {
			line("  has", w.Workload)
		}
	}
	return b.String()
}

// NodeWith makes the info of a node with the workloads on it.
func NodeWith(n *model.Node, workloads ...*model.Workload) *extpoints.NodeInfo {
	info := extpoints.NewNodeInfo(n)
	for i, w := range workloads {
		info.AddWorkload(&extpoints.WorkloadInfo{Workload: w, PlacedAt: Now.Add(time.Duration(i-len(workloads)) * time.Minute)})
	}
	return info
}

// SetImages fills in the image states of the nodes from their lists of images,
// as an engine that has just seen all of them would.
func SetImages(nodes []*extpoints.NodeInfo) {
	count := map[string]int{}
	for _, n := range nodes {
		for name := range sizes(n.Node) {
			count[name]++
		}
	}
	for _, n := range nodes {
		n.Images = map[string]extpoints.ImageState{}
		for name, size := range sizes(n.Node) {
			n.Images[name] = extpoints.ImageState{Size: size, NumNodes: count[name]}
		}
	}
}

func sizes(n *model.Node) map[string]int64 {
	sizes := map[string]int64{}
	for _, image := range n.Images {
		for _, name := range image.Names {
			sizes[name] = image.Size
		}
	}
	return sizes
}

// Changed is what happened to a situation, and the events that tell of it.
type Changed struct {
	What    string            // for people
	After   *Situation        // another value: the situation before must not change
	Changes []extpoints.Event // what the queueing hints are asked about
}
