package topologyplacementgenerator

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

// nodes makes nodes from "name[=rack][:member,...]"; rack is the value of the
// label "rack", a member is named group/workload.
func nodes(text string) []*extpoints.NodeInfo {
	var list []*extpoints.NodeInfo
	for word := range strings.FieldsSeq(text) {
		word, members, _ := strings.Cut(word, ":")
		name, rack, labelled := strings.Cut(word, "=")
		n := &model.Node{Name: name}
		if labelled {
			n.Labels = map[string]string{"rack": rack}
		}
		var workloads []*model.Workload
		for member := range strings.SplitSeq(members, ",") {
			if group, id, ok := strings.Cut(member, "/"); ok {
				workloads = append(workloads, &model.Workload{ID: id, Namespace: "ns", Group: group})
			}
		}
		list = append(list, extpointstest.NodeWith(n, workloads...))
	}
	return list
}

// show is the inverse: "name: node node | ...".
func show(placements []extpoints.Placement) string {
	var parts []string
	for _, p := range placements {
		var names []string
		for _, n := range p.Nodes {
			names = append(names, n.Node.Name)
		}
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s: %s", p.Name, strings.Join(names, " "))))
	}
	return strings.Join(parts, " | ")
}

func TestGeneratePlacements(t *testing.T) {
	const failed = "Error: cannot determine domain for already scheduled workloads: "
	for _, c := range []struct {
		name   string
		key    string
		parent string // nodes of the parent's placement
		others string // nodes besides
		want   string
	}{
		{"no key: the parent's", "", "a b=1 c", "d=1", "parent: a b c"},
		{"no key, and members in two racks: the parent's", "", "a=1:g/x b=2:g/y", "", "parent: a b"},
		{"one for each value, in the order of the nodes", "rack", "a=2 b=1 c=2 d=3 e=1", "", "2: a c | 1: b e | 3: d"},
		{"nodes without the label are left out", "rack", "a b=1 c", "", "1: b"},
		{"an empty value is a value", "rack", "a= b=1 c=", "", ": a c | 1: b"},
		{"no node has the label", "rack", "a b", "", ""},
		{"no nodes", "rack", "", "a=1", ""},
		{"only the parent's nodes", "rack", "a=1", "b=1 c=2", "1: a"},
		{"the rack of those that are placed", "rack", "a=1 b=2:g/x c=2 d=3", "", "2: b c"},
		{"also where they are outside", "rack", "a=1 b=2", "c=2:g/x d=2:g/y", "2: b"},
		{"which the parent may not have", "rack", "a=1", "c=2:g/x", ""},
		{"others' members do not count", "rack", "a=1:h/x b=2", "", "1: a | 2: b"},
		{"members in two racks", "rack", "a=1 b=2", "c=1:g/x d=2:g/y", failed + "more than 1 domain found for group: 1, 2"},
		{"a member on a node without the label", "rack", "a=1", "c:g/x", failed + "no topology domain found for workload ns/x"},
		{"an empty value gives way to another", "rack", "a=1 b=", "c=:g/x d=1:g/y", "1: a"},
		{"but not the other way round", "rack", "a=1 b=", "c=1:g/x d=:g/y", failed + "more than 1 domain found for group: 1, "},
		{"an empty value alone", "rack", "a=1 b=", "c=:g/x", ": b"},
	} {
		parent, others := nodes(c.parent), nodes(c.others)
		s := extpointstest.NewGroupSituation(&extpoints.GroupInfo{Group: &model.Group{ID: "g", TopologyKey: c.key}})
		s.View.NodeInfos = append(parent, others...)
		s.View.Number()
		got, status := (&TopologyPlacementGenerator{}).GeneratePlacements(s.State(), s.Group, &extpoints.Placement{Name: "parent", Nodes: parent})
		text := show(got)
		if !status.IsSuccess() {
			text = status.String()
		}
		if text != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, text, c.want)
		}
	}
}

// The members of a group of groups are those of all groups below it.
func TestGroupOfGroups(t *testing.T) {
	child := func(id, parent string, composite bool) *extpoints.GroupInfo {
		return &extpoints.GroupInfo{Group: &model.Group{ID: id, Parent: parent, Composite: composite}}
	}
	for _, c := range []struct{ nodes, want string }{
		{"a=1 b=2", "1: a | 2: b"},
		{"a=1 b=2:low/x", "2: b"},
		{"a=1:g/x b=2:low/y", "Error: cannot determine domain for already scheduled workloads: more than 1 domain found for group: 1, 2"},
		{"a=1:other/x b=2", "1: a | 2: b"},
	} {
		top, mid := child("top", "", true), child("mid", "top", true)
		top.TopologyKey = "rack"
		mid.Children = []*extpoints.GroupInfo{child("low", "mid", false)}
		top.Children = []*extpoints.GroupInfo{child("g", "top", false), mid}
		s := extpointstest.NewGroupSituation(top, nodes(c.nodes)...)
		got, status := (&TopologyPlacementGenerator{}).GeneratePlacements(s.State(), top, s.All())
		text := show(got)
		if !status.IsSuccess() {
			text = status.String()
		}
		if text != c.want {
			t.Errorf("%s: %s\nwant %s", c.nodes, text, c.want)
		}
	}
}

// gone is a view in which a member is on a node that is not there.
type gone struct{ extpoints.ClusterView }

func (g gone) Groups() extpoints.Groups { return goneMember{g.ClusterView.Groups()} }

type goneMember struct{ extpoints.Groups }

func (goneMember) Placed(string) []extpoints.PlacedMember {
	return []extpoints.PlacedMember{{WorkloadInfo: &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "x"}}, Node: "gone"}}
}

func TestMemberOnANodeThatIsGone(t *testing.T) {
	s := extpointstest.NewGroupSituation(&extpoints.GroupInfo{Group: &model.Group{ID: "g", TopologyKey: "rack"}}, nodes("a=1")...)
	state := extpoints.NewCycle(extpoints.CycleOptions{View: gone{s.View}}).State()
	_, status := (&TopologyPlacementGenerator{}).GeneratePlacements(state, s.Group, s.All())
	const want = `Error: cannot determine domain for already scheduled workloads: getting node for workload x: nodeinfo not found for node name "gone"`
	if status.String() != want {
		t.Errorf("%v\nwant %s", status, want)
	}
}

// Placements can be appended to without one reaching into another.
func TestPlacementsAreApart(t *testing.T) {
	s := extpointstest.NewGroupSituation(&extpoints.GroupInfo{Group: &model.Group{ID: "g", TopologyKey: "rack"}}, nodes("a=1 b=2 c=2")...)
	got, _ := (&TopologyPlacementGenerator{}).GeneratePlacements(s.State(), s.Group, s.All())
	_ = append(got[0].Nodes, s.View.NodeInfos[0])
	if text := show(got); text != "1: a | 2: b c" {
		t.Error(text)
	}
}

func BenchmarkGeneratePlacements(b *testing.B) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "n%d=%d ", i, i%50)
	}
	s := extpointstest.NewGroupSituation(&extpoints.GroupInfo{Group: &model.Group{ID: "g", TopologyKey: "rack"}}, nodes(text.String())...)
	state, all := s.State(), s.All()
	b.ReportAllocs()
	for b.Loop() {
		(&TopologyPlacementGenerator{}).GeneratePlacements(state, s.Group, all)
	}
}
