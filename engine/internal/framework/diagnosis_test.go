package framework

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// nodeList is an [extpoints.Nodes] of plain nodes.
type nodeList []*extpoints.NodeInfo

func (l nodeList) Len() int                                        { return len(l) }
func (l nodeList) At(i int) *extpoints.NodeInfo                    { return l[i] }
func (l nodeList) WithAffinity() []*extpoints.NodeInfo             { return nil }
func (l nodeList) WithRequiredAntiAffinity() []*extpoints.NodeInfo { return nil }
func (l nodeList) Get(name string) *extpoints.NodeInfo {
	for _, n := range l {
		if n.Node.Name == name {
			return n
		}
	}
	return nil
}

func nodesNamed(names ...string) nodeList {
	var l nodeList
	for _, name := range names {
		l = append(l, extpoints.NewNodeInfo(&model.Node{Name: name}))
	}
	return l
}

func rejection(code extpoints.Code, plugin string, reasons ...string) *extpoints.Status {
	return extpoints.NewStatus(code, reasons...).WithPlugin(plugin)
}

func TestDiagnosisOfNodes(t *testing.T) {
	t.Parallel()
	nodes := nodesNamed("n1", "n2", "n3", "n4")
	d := NewDiagnosis(nodes, len(nodes))
	d.Reject(nodes[2], rejection(extpoints.Unschedulable, "B", "b"))
	d.Reject(nodes[0], rejection(extpoints.Pending, "C", "c"))
	d.Reject(nodes[1], rejection(extpoints.UnschedulableAndUnresolvable, "A", "a", "b"))

	require.Equal(t, []string{"A", "B", "C"}, d.UnschedulablePlugins(), "sorted")
	require.Equal(t, []string{"C"}, d.PendingPlugins())
	require.Equal(t, map[string]int{"a": 1, "b": 2, "c": 1}, d.reasons())
	require.Len(t, d.Rejections(), 3)
	require.Equal(t, "n3", d.Rejections()[0].Node.Node.Name, "in the order in which they were looked at")
	require.Equal(t, "0/4 nodes are available: 1 a, 1 c, 2 b.", d.Message())

	require.Equal(t, extpoints.Unschedulable, d.Get("n3").Code())
	require.Equal(t, extpoints.UnschedulableAndUnresolvable, d.Get("n4").Code(), "not looked at: nobody can help there")
	require.Equal(t, []*extpoints.NodeInfo{nodes[1], nodes[3]}, d.WithCode(extpoints.UnschedulableAndUnresolvable), "in visiting order")
}

func TestDiagnosisOfANodeRejectedTwice(t *testing.T) {
	t.Parallel()
	nodes := nodesNamed("n1")
	d := NewDiagnosis(nodes, 1)
	d.Reject(nodes[0], rejection(extpoints.Unschedulable, "A", "a"))
	d.Reject(nodes[0], rejection(extpoints.Unschedulable, "B", "b"))
	require.Len(t, d.Rejections(), 1)
	require.Equal(t, "b", d.Get("n1").Message(), "the later counts")
	require.Equal(t, []string{"A", "B"}, d.UnschedulablePlugins(), "both must change their mind")
	require.Equal(t, "0/1 nodes are available: 1 b.", d.Message())
}

// Nodes are found whatever their slots are like.
func TestDiagnosisBySlot(t *testing.T) {
	t.Parallel()
	for _, slots := range [][]int32{{0, 1, 2, 3}, {3, 2, 1, 0}, {0, 0, 0, 0}, {1, 1, 90, 2}} {
		nodes := nodesNamed("n1", "n2", "n3", "n4")
		for i, n := range nodes {
			n.Slot = slots[i]
		}
		d := NewDiagnosis(nodes, len(nodes))
		for _, i := range []int{2, 0, 3} {
			d.Reject(nodes[i], rejection(extpoints.Unschedulable, "A", nodes[i].Node.Name))
		}
		for _, i := range []int{0, 2, 3} {
			require.Equal(t, nodes[i].Node.Name, d.Get(nodes[i].Node.Name).Message())
			d.Reject(nodes[i], rejection(extpoints.Pending, "A", "again"))
			require.Equal(t, "again", d.Get(nodes[i].Node.Name).Message())
		}
		require.Len(t, d.Rejections(), 3)
		require.Empty(t, d.Get("n2").Message())
		require.Empty(t, d.Get("n5").Message(), "there is no such node")
		require.Len(t, d.WithCode(extpoints.Pending), 3)
	}
}

func TestDiagnosisOfAbsentNodes(t *testing.T) {
	t.Parallel()
	nodes := nodesNamed("n1", "n2", "n3")
	d := NewDiagnosis(nodes, len(nodes))
	d.Reject(nodes[0], rejection(extpoints.Unschedulable, "A", "a"))
	d.BlamePlugins("P", "A")
	d.RejectAbsent(rejection(extpoints.UnschedulableAndUnresolvable, "", "left out"))
	require.Equal(t, "0/3 nodes are available: 1 a, 2 left out.", d.Message())
	require.Equal(t, []string{"A", "P"}, d.UnschedulablePlugins())
	require.Equal(t, "left out", d.Get("n3").Message())
}

func TestDiagnosisMessage(t *testing.T) {
	t.Parallel()
	nodes := nodesNamed("n1", "n2")
	for _, test := range []struct {
		name   string
		change func(*Diagnosis)
		want   string
	}{
		{"nothing is known", func(*Diagnosis) {}, "0/2 nodes are available:"},
		{"PreFilter's message stands for the reasons of all nodes", func(d *Diagnosis) {
			d.RejectAbsent(rejection(extpoints.Unschedulable, "A", "a"))
			d.PreFilterMessage = "a"
		}, "0/2 nodes are available: a."},
		{"PostFilter's message follows", func(d *Diagnosis) {
			d.Reject(nodes[0], rejection(extpoints.Unschedulable, "A", "a"))
			d.PostFilterMessage = "nobody to displace"
		}, "0/2 nodes are available: 1 a. nobody to displace"},
		{"both", func(d *Diagnosis) { d.PreFilterMessage, d.PostFilterMessage = "pre", "post" }, "0/2 nodes are available: pre. post"},
		{"PostFilter's alone", func(d *Diagnosis) { d.PostFilterMessage = "post" }, "0/2 nodes are available: post"},
	} {
		d := NewDiagnosis(nodes, len(nodes))
		test.change(d)
		require.Equal(t, test.want, d.Message(), test.name)
	}
}

// TestBlame: only rejections, and only those with a plugin, are to be waited
// for.
func TestBlame(t *testing.T) {
	t.Parallel()
	d := NewDiagnosis(nodesNamed(), 0)
	d.Blame(nil)
	d.Blame(rejection(extpoints.Unschedulable, "", "nobody's"))
	d.Blame(rejection(extpoints.Error, "E", "broken"))
	d.Blame(rejection(extpoints.Wait, "W"))
	require.Empty(t, d.UnschedulablePlugins())
	require.Empty(t, d.PendingPlugins())
	d.Blame(rejection(extpoints.Pending, "P"))
	d.Blame(rejection(extpoints.Pending, "P"))
	require.Equal(t, []string{"P"}, d.UnschedulablePlugins())
	require.Equal(t, []string{"P"}, d.PendingPlugins())
}

func TestPostFilterMessage(t *testing.T) {
	t.Parallel()
	require.Empty(t, PostFilterMessage(nil))
	require.Equal(t, "a, b", PostFilterMessage(extpoints.NewStatus(extpoints.Unschedulable, "a", "b")))
	require.Equal(t, "broken", PostFilterMessage(failed("PostFilter", "A", subject{}, extpoints.NewStatus(extpoints.Error, "broken"))))
}
