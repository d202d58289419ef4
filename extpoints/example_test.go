package extpoints_test

import (
	"fmt"
	"strconv"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// quiet is a plugin: it keeps workloads away from nodes that are too busy.
type quiet struct{ most int }

// How many a workload tolerates is found out once, in PreFilter, and used for
// every node, in Filter.
var tolerated = extpoints.NewStateKey[int]("Quiet/tolerated")

// A status never changes, so one value does for all nodes.
var tooBusy = extpoints.NewStatus(extpoints.Unschedulable, "node(s) were too busy")

// quietArgs are the plugin's arguments.
type quietArgs struct{ Most int }

func newQuiet(args quietArgs, _ extpoints.Handle) (*quiet, error) {
	if args.Most < 0 {
		return nil, fmt.Errorf("Most: %d is negative", args.Most)
	}
	return &quiet{args.Most}, nil
}

func (*quiet) Name() string { return "Quiet" }

func (q *quiet) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	tolerated.Set(s, q.most+int(w.Priority))
	return nil, nil
}

func (*quiet) Filter(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	if most, _ := tolerated.Get(s); len(node.Workloads) > most {
		return tooBusy
	}
	return nil
}

// Workloads that leave a node make it quieter.
func (*quiet) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{{
		Event: extpoints.ClusterEvent{Resource: extpoints.AssignedWorkload, Action: extpoints.Delete},
	}}, nil
}

// A plugin with arguments, state from one stage to the next, and the events that may
// make it change its mind.
func Example() {
	plugin, err := newQuiet(quietArgs{Most: 1}, nil)
	if err != nil {
		fmt.Println(err)
	}
	node := extpoints.NewNodeInfo(&model.Node{Name: "n1"})
	node.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "a"}})
	node.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "b"}})

	for _, priority := range []int32{0, 1} {
		w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Priority: priority}}
		state := extpoints.NewCycle(extpoints.CycleOptions{}).State()
		plugin.PreFilter(state, w)
		fmt.Println(priority, plugin.Filter(state, w, node))
	}
	// Output:
	// 0 Unschedulable: node(s) were too busy
	// 1 Success
}

func ExampleStatus() {
	var ok *extpoints.Status // nil is Success
	fmt.Println(ok.IsSuccess(), ok)

	rejected := extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, "Too many workloads", "Insufficient cpu")
	fmt.Println(rejected.IsRejected(), rejected.WithPlugin("NodeResourcesFit"))
	// Output:
	// true Success
	// true UnschedulableAndUnresolvable(NodeResourcesFit): Too many workloads, Insufficient cpu
}

// A profile of one's own is a list to which plugins are added. What is wrong with it
// is said when an engine is made, all at once.
func ExampleUse() {
	p := extpoints.Profile{Name: "quiet"}
	extpoints.Use(&p, newQuiet, quietArgs{Most: 3})
	extpoints.Use(&p, newQuiet, quietArgs{Most: 5}, extpoints.InPlaceOf("Quiet")) // other arguments
	fmt.Println(p.Plugins[0].Name, p.Plugins[0].Args)

	extpoints.Use(&p, newQuiet, quietArgs{}, extpoints.Only("Filtre"))
	p.Remove("Loud")
	fmt.Println(p.Validate())
	// Output:
	// Quiet {5}
	// profile "quiet": remove plugin "Loud": the profile has none of the name
	// profile "quiet": plugin "Quiet": is listed twice
	// profile "quiet": plugin "Quiet": there is no point "Filtre"; the points are [PreEnqueue QueueSort PreFilter Filter PostFilter PreScore Score Reserve Permit PreBind Bind PostBind PlacementGenerate PlacementFeasible PlacementScore GroupPostFilter]
}

func ExampleClusterEvent_Matches() {
	registered := extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: extpoints.Add | extpoints.UpdateNodeTaint}
	for _, action := range []extpoints.Action{extpoints.Add, extpoints.UpdateNodeTaint, extpoints.UpdateNodeLabel} {
		incoming := extpoints.ClusterEvent{Resource: extpoints.NodeResource, Action: action}
		fmt.Println(incoming, registered.Matches(incoming))
	}
	// Output:
	// Node/Add true
	// Node/UpdateNodeTaint true
	// Node/UpdateNodeLabel false
}

// NodeLocal says that what the plugin says of a node depends on that node and on the workload's
// priority alone.
func (*quiet) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	return strconv.AppendInt(key, int64(w.Priority), 10), true
}

// With NodeLocal, what a plugin says of a node is remembered until the node changes, for all
// workloads with the same key.
func ExampleNodeLocalPlugin() {
	var plugin extpoints.NodeLocalPlugin = &quiet{most: 5}
	for _, w := range []*model.Workload{{ID: "a", Priority: 1}, {ID: "b", Priority: 1}, {ID: "c", Priority: 2}} {
		key, ok := plugin.NodeLocal(nil, &extpoints.WorkloadInfo{Workload: w}, nil)
		fmt.Println(w.ID, string(key), ok)
	}
	// Output:
	// a 1 true
	// b 1 true
	// c 2 true
}

// crowded lets no more than two workloads of a namespace onto a node, whose numbers PreFilter counts
// by slot, and scores the nodes by how many there are.
type crowded struct{}

var crowd = extpoints.NewStateKey[[]int32]("Crowded/counts")

func (crowded) Name() string { return "Crowded" }

func (crowded) FilterSlots(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, slots []int32) (accepted uint64, ok bool) {
	counts, ok := crowd.Get(s)
	for i, slot := range slots {
		if ok && counts[slot] < 2 {
			accepted |= 1 << i
		}
	}
	return accepted, ok
}

func (crowded) ScoreSlots(s *extpoints.CycleState, _ *extpoints.WorkloadInfo, slots []int32, scores []int64) *extpoints.Status {
	counts, _ := crowd.Get(s)
	for i, slot := range slots {
		scores[i] = extpoints.MaxScore / int64(1+counts[slot])
	}
	return nil
}

// With FilterSlots and ScoreSlots, a plugin that looks at other nodes is asked about many nodes at
// once, and what the other plugins say is remembered.
func ExampleSlotPlugin() {
	var plugin extpoints.SlotPlugin = crowded{}
	s := extpoints.NewCycle(extpoints.CycleOptions{}).State()
	_, ok := plugin.FilterSlots(s, nil, []int32{0, 1, 2})
	fmt.Println(ok)

	crowd.Set(s, []int32{1, 2, 0}) // as PreFilter does
	accepted, ok := plugin.FilterSlots(s, nil, []int32{0, 1, 2})
	fmt.Printf("%03b %v\n", accepted, ok)

	scores := make([]int64, 2)
	plugin.ScoreSlots(s, nil, []int32{0, 2}, scores)
	fmt.Println(scores)
	// Output:
	// false
	// 101 true
	// [50 100]
}
