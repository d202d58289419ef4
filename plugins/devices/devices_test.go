package devices_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/devices"
	"github.com/berth-project/berth/plugins/helper"
)

func newPlugin(t testing.TB) *devices.Devices {
	t.Helper()
	p, err := devices.New(extpoints.NoArgs{}, extpointstest.NewHandle())
	require.NoError(t, err)
	return p
}

// ask makes a request for count devices of a class, or for a share of one where
// count is 1, of the given models.
func ask(class string, count, share int64, models ...string) model.DeviceRequest {
	return model.DeviceRequest{Class: class, Count: count, Share: share, Models: models}
}

func workload(id string, requests ...model.DeviceRequest) *extpoints.WorkloadInfo {
	return &extpoints.WorkloadInfo{Workload: &model.Workload{ID: id, Devices: requests}}
}

// node makes a node with a gpu for each of models.
func node(models ...string) *extpoints.NodeInfo {
	n := &model.Node{Name: "n"}
	for _, m := range models {
		n.Devices = append(n.Devices, model.Device{Class: "gpu", Model: m})
	}
	return extpoints.NewNodeInfo(n)
}

// used makes it so that of device i only free[i] is left.
func used(n *extpoints.NodeInfo, free ...int64) *extpoints.NodeInfo {
	w := workload("used")
	for i, f := range free {
		if f < model.WholeDevice {
			w.Shares = append(w.Shares, model.DeviceShare{Device: i, Share: model.WholeDevice - f})
		}
	}
	n.AddWorkload(w)
	return n
}

func cycle(nodes ...*extpoints.NodeInfo) *extpoints.CycleState {
	return extpoints.NewCycle(extpoints.CycleOptions{View: extpointstest.NewView(nodes...), Seed: 1}).State()
}

// filter runs PreFilter and Filter.
func filter(t testing.TB, s *extpoints.CycleState, w *extpoints.WorkloadInfo, n *extpoints.NodeInfo) *extpoints.Status {
	t.Helper()
	p := newPlugin(t)
	result, status := p.PreFilter(s, w)
	require.Nil(t, result)
	require.True(t, status.IsSuccess() || status.Code() == extpoints.Skip, status)
	return p.Filter(s, w, n)
}

func TestName(t *testing.T) { require.Equal(t, "Devices", newPlugin(t).Name()) }

func TestPreFilterSkipsWithoutRequests(t *testing.T) {
	p, s := newPlugin(t), cycle()
	_, status := p.PreFilter(s, workload("w"))
	require.True(t, status.Code() == extpoints.Skip)
	require.Nil(t, p.Filter(s, workload("w"), node("A")))
	_, status = p.PreFilter(s, workload("w", ask("gpu", 1, 1000)))
	require.True(t, status.IsSuccess())
}

func TestFilter(t *testing.T) {
	mixed := func() *extpoints.NodeInfo { return node("A", "A", "B") }
	const (
		none  = "UnschedulableAndUnresolvable: node(s) had no gpu devices"
		wrong = "UnschedulableAndUnresolvable: node(s) had no gpu devices of the requested model"
		never = "UnschedulableAndUnresolvable: node(s) had too few devices for all requests together"
		short = "Unschedulable: Insufficient gpu devices"
	)
	tests := []struct {
		name     string
		node     *extpoints.NodeInfo
		requests []model.DeviceRequest
		want     string
	}{
		{"whole", mixed(), []model.DeviceRequest{ask("gpu", 3, 1000)}, "Success"},
		{"too many", mixed(), []model.DeviceRequest{ask("gpu", 4, 1000)}, "UnschedulableAndUnresolvable: node(s) had too few gpu devices"},
		{"no devices", node(), []model.DeviceRequest{ask("gpu", 1, 1)}, none},
		{"other class", mixed(), []model.DeviceRequest{ask("fpga", 1, 1000)}, "UnschedulableAndUnresolvable: node(s) had no fpga devices"},
		{"model", mixed(), []model.DeviceRequest{ask("gpu", 1, 1000, "C", "B")}, "Success"},
		{"other model", mixed(), []model.DeviceRequest{ask("gpu", 1, 1000, "C")}, wrong},
		{"too few of the model", mixed(), []model.DeviceRequest{ask("gpu", 3, 1000, "A")},
			"UnschedulableAndUnresolvable: node(s) had too few gpu devices of the requested model"},
		{"occupied", used(mixed(), 999, 1000, 0), []model.DeviceRequest{ask("gpu", 2, 1000)}, short},
		{"one is free", used(mixed(), 999, 1000, 0), []model.DeviceRequest{ask("gpu", 1, 1000)}, "Success"},
		{"share fits exactly", used(mixed(), 300, 299, 0), []model.DeviceRequest{ask("gpu", 1, 300)}, "Success"},
		{"share does not fit", used(mixed(), 300, 299, 0), []model.DeviceRequest{ask("gpu", 1, 301)}, short},
		{"share of the wrong device", used(mixed(), 300, 299, 0), []model.DeviceRequest{ask("gpu", 1, 100, "B")}, short},
		{"requests share a device", used(mixed(), 600, 0, 0), []model.DeviceRequest{ask("gpu", 1, 300), ask("gpu", 1, 300)}, "Success"},
		{"but not beyond its capacity", used(mixed(), 600, 0, 0), []model.DeviceRequest{ask("gpu", 1, 300), ask("gpu", 1, 301)}, short},
		{"the greedy choice would fail", node("B", "A"), []model.DeviceRequest{ask("gpu", 1, 1000), ask("gpu", 1, 1000, "B")}, "Success"},
		{"never together", mixed(), []model.DeviceRequest{ask("gpu", 2, 1000), ask("gpu", 2, 1000)}, never},
		{"never together, and occupied", used(mixed(), 0, 0, 0), []model.DeviceRequest{ask("gpu", 2, 1000), ask("gpu", 2, 1000)}, never},
		{"all shortages are named", used(mixed(), 0, 0, 0), []model.DeviceRequest{ask("gpu", 1, 1000), ask("gpu", 1, 1), ask("fpga", 1, 1)},
			"UnschedulableAndUnresolvable: Insufficient gpu devices, node(s) had no fpga devices"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want, filter(t, cycle(), workload("w", tt.requests...), tt.node).String())
		})
	}
}

func TestFilterLeavesRoomForClaims(t *testing.T) {
	w := workload("w", ask("gpu", 1, 1000))
	n := node("A", "B")
	n.AddWorkload(workload("nominated", ask("gpu", 1, 600, "B"), ask("fpga", 9, 1000)))
	require.Nil(t, filter(t, cycle(), w, n), "the claim can have the other device")
	require.Equal(t, extpoints.Unschedulable, filter(t, cycle(), workload("w", ask("gpu", 1, 1000, "B")), n).Code())
	require.Equal(t, extpoints.Unschedulable, filter(t, cycle(), workload("w", ask("gpu", 2, 1000)), n).Code())
	require.Nil(t, filter(t, cycle(), workload("w", ask("gpu", 1, 400, "B")), n))
	require.True(t, n.RemoveWorkload("nominated"))
	require.Nil(t, filter(t, cycle(), workload("w", ask("gpu", 2, 1000)), n))
}

// wishes is a chooser of fixed devices, by request.
type wishes [][]int

func (c wishes) ChooseDevices(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ *extpoints.NodeInfo, request int, _ []int64) []int {
	return c[request]
}

func TestReserve(t *testing.T) {
	type request = model.DeviceRequest
	tests := []struct {
		name     string
		node     *extpoints.NodeInfo
		requests []request
		chooser  helper.DeviceChooser
		want     []int // the devices of the shares
	}{
		{"nothing", node("A"), nil, nil, nil},
		{"lowest whole", used(node("A", "A", "A"), 999), []request{ask("gpu", 2, 1000)}, nil, []int{1, 2}},
		{"tightest share", used(node("A", "A", "A", "A"), 700, 500, 499, 500), []request{ask("gpu", 1, 500)}, nil, []int{1}},
		{"of the model", used(node("A", "B", "B"), 700, 1000, 900), []request{ask("gpu", 1, 500, "B")}, nil, []int{2}},
		{"requests in order", used(node("A", "A", "A"), 700), []request{ask("gpu", 1, 200), ask("gpu", 1, 1000), ask("gpu", 1, 600)}, nil, []int{0, 1, 2}},
		{"not the greedy choice", node("B", "A"), []request{ask("gpu", 1, 1000), ask("gpu", 1, 1000, "B")}, nil, []int{1, 0}},
		{"wish", node("A", "A", "A"), []request{ask("gpu", 1, 500), ask("gpu", 1, 1000)}, wishes{{2}, {1}}, []int{2, 1}},
		{"no wish", node("A", "A", "A"), []request{ask("gpu", 1, 500), ask("gpu", 1, 1000)}, wishes{nil, nil}, []int{0, 1}},
		{"wish in the way is taken back", node("A", "B"), []request{ask("gpu", 1, 600), ask("gpu", 1, 800, "B"), ask("gpu", 1, 100)},
			wishes{{1}, nil, nil}, []int{0, 1, 1}},
		{"wish in the way", node("A", "B"), []request{ask("gpu", 1, 1000), ask("gpu", 1, 1, "B")}, wishes{{1}, nil}, []int{0, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, w := cycle(tt.node), workload("w", tt.requests...)
			require.Nil(t, filter(t, s, w, tt.node))
			if tt.chooser != nil {
				helper.DeviceChooserKey.Set(s, tt.chooser)
			}
			b := &model.Binding{Workload: "w", Node: "n"}
			require.Nil(t, newPlugin(t).Reserve(s, w, b))
			var got []int
			for _, share := range b.Devices {
				got = append(got, share.Device)
			}
			require.Equal(t, tt.want, got)
			newPlugin(t).Unreserve(s, w, b)
			require.Empty(t, b.Devices)
		})
	}
}

func TestReserveRefusesWrongWishes(t *testing.T) {
	n := used(node("A", "B"), 500)
	for _, wish := range [][]int{{}, {0}, {1, 0}, {-1}, {2}} {
		s, w := cycle(n), workload("w", ask("gpu", 1, 501))
		helper.DeviceChooserKey.Set(s, helper.DeviceChooser(wishes{wish}))
		status := newPlugin(t).Reserve(s, w, &model.Binding{Node: "n"})
		require.Equal(t, extpoints.Error, status.Code(), wish)
	}
	s, w := cycle(node("A", "A")), workload("w", ask("gpu", 2, 1000))
	helper.DeviceChooserKey.Set(s, helper.DeviceChooser(wishes{{0, 0}}))
	require.Equal(t, extpoints.Error, newPlugin(t).Reserve(s, w, &model.Binding{Node: "n"}).Code())
}

func TestReserveWithoutRoom(t *testing.T) {
	p := newPlugin(t)
	s := cycle(used(node("A"), 0))
	require.Equal(t, "Unschedulable: Insufficient gpu devices",
		p.Reserve(s, workload("w", ask("gpu", 1, 1000)), &model.Binding{Node: "n"}).String())
	require.Equal(t, extpoints.Error, p.Reserve(s, workload("w", ask("gpu", 1, 1)), &model.Binding{Node: "gone"}).Code())
}

func TestReserveLeavesRoomForNominated(t *testing.T) {
	n := node("A", "B")
	waiting := workload("waiting", ask("gpu", 1, 1000, "A"))
	waiting.Priority = 5
	reserve := func(priority int32) int {
		view := extpointstest.NewView(n)
		w := workload("w", ask("gpu", 1, 1000))
		w.Priority = priority
		view.Nominating = map[string][]*extpoints.WorkloadInfo{"n": {waiting, w}} // itself does not count
		s := extpoints.NewCycle(extpoints.CycleOptions{View: view, Seed: 1}).State()
		b := &model.Binding{Node: "n"}
		require.Nil(t, newPlugin(t).Reserve(s, w, b))
		return b.Devices[0].Device
	}
	require.Equal(t, 1, reserve(5), "device 0 is for the one that waits")
	require.Equal(t, 0, reserve(6), "which a more important workload may displace")
	n = used(n, 1000, 0)
	require.Equal(t, 0, reserve(5), "and which cannot be helped where there is no other")
}

func TestHints(t *testing.T) {
	w := workload("w", ask("gpu", 2, 1000, "A")).Workload
	other := func(requests ...model.DeviceRequest) *extpoints.WorkloadInfo { return workload("other", requests...) }
	holding := other()
	holding.Shares = []model.DeviceShare{{Device: 0, Share: 1}}
	bare := func(models ...string) *model.Node { return node(models...).Node }
	tests := []struct {
		name   string
		on     model.ObjectKind
		action extpoints.Action
		change extpoints.Event
		want   extpoints.Hint
	}{
		{"a gpu is given back", extpoints.AssignedWorkload, extpoints.Delete,
			extpoints.Event{OldWorkload: other(ask("gpu", 1, 100))}, extpoints.HintQueue},
		{"another device is given back", extpoints.AssignedWorkload, extpoints.Delete,
			extpoints.Event{OldWorkload: other(ask("fpga", 1, 100))}, extpoints.HintSkip},
		{"no device is given back", extpoints.AssignedWorkload, extpoints.Delete, extpoints.Event{OldWorkload: other()}, extpoints.HintSkip},
		{"an unknown device is given back", extpoints.AssignedWorkload, extpoints.Delete, extpoints.Event{OldWorkload: holding}, extpoints.HintQueue},
		{"less is held", extpoints.AssignedWorkload, extpoints.Update,
			extpoints.Event{OldWorkload: other(ask("gpu", 1, 100)), NewWorkload: other(ask("gpu", 1, 50))}, extpoints.HintQueue},
		{"a label changes", extpoints.AssignedWorkload, extpoints.UpdateWorkloadLabel,
			extpoints.Event{OldWorkload: other(ask("gpu", 1, 100)), NewWorkload: other(ask("gpu", 1, 100))}, extpoints.HintSkip},
		{"asks for less", extpoints.TargetWorkload, extpoints.UpdateWorkloadScaleDown,
			extpoints.Event{OldWorkload: workload("w", w.Devices...), NewWorkload: workload("w")}, extpoints.HintQueue},
		{"asks for the same", extpoints.TargetWorkload, extpoints.UpdateWorkloadLabel,
			extpoints.Event{OldWorkload: workload("w", w.Devices...), NewWorkload: workload("w", w.Devices...)}, extpoints.HintSkip},
		{"a node that would do", extpoints.NodeResource, extpoints.Add, extpoints.Event{NewNode: bare("A", "B", "A")}, extpoints.HintQueue},
		{"a node of the wrong model", extpoints.NodeResource, extpoints.Add, extpoints.Event{NewNode: bare("A", "B")}, extpoints.HintSkip},
		{"a node gets devices", extpoints.NodeResource, extpoints.UpdateNodeDevices,
			extpoints.Event{OldNode: bare(), NewNode: bare("A", "A")}, extpoints.HintQueue},
	}
	registered, err := newPlugin(t).EventsToRegister()
	require.NoError(t, err)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.change.ClusterEvent = extpoints.ClusterEvent{Resource: tt.on, Action: tt.action}
			i := slices.IndexFunc(registered, func(r extpoints.EventHint) bool { return r.Event.Matches(tt.change.ClusterEvent) })
			require.GreaterOrEqual(t, i, 0, "not registered")
			got, err := registered[i].Hint(w, &tt.change)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
	for _, r := range registered {
		hint, err := r.Hint(w, &extpoints.Event{})
		require.Error(t, err, "a change of nothing")
		require.Equal(t, extpoints.HintQueue, hint)
	}
}

func TestSign(t *testing.T) {
	sign := func(requests ...model.DeviceRequest) string {
		fragments, status := newPlugin(t).Sign(workload("w", requests...).Workload)
		require.True(t, status.IsSuccess())
		require.Len(t, fragments, 1)
		return fragments[0].Key + "=" + fragments[0].Value
	}
	base := sign(ask("gpu", 1, 500, "A", "B"))
	require.Equal(t, base, sign(ask("gpu", 1, 500, "B", "A")), "the order of models has no meaning")
	others := []string{
		sign(), sign(ask("gpu", 1, 500)), sign(ask("gpu", 1, 501, "A", "B")), sign(ask("fpga", 1, 500, "A", "B")),
		sign(ask("gpu", 2, 500, "A", "B")), sign(ask("gpu", 1, 500, `A" "B`)), sign(ask("gpu", 1, 500, "A"), ask("gpu", 1, 500, "B")),
	}
	for _, other := range others {
		require.NotEqual(t, base, other)
	}
}

// TestManyDevices has more of them than a search may take back choices.
func TestManyDevices(t *testing.T) {
	n := node(slices.Repeat([]string{"A"}, 10000)...)
	w := workload("w", ask("gpu", 9000, 1000))
	s := cycle(n)
	require.Nil(t, filter(t, s, w, n))
	b := &model.Binding{Node: "n"}
	require.Nil(t, newPlugin(t).Reserve(s, w, b))
	require.Len(t, b.Devices, 9000)
}
