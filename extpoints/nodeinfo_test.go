package extpoints

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func TestPortSetConflicts(t *testing.T) {
	port := func(ip string, protocol model.Protocol, number int32) model.HostPort {
		return model.HostPort{IP: ip, Protocol: protocol, Port: number}
	}
	type list = []model.HostPort
	for _, c := range []struct {
		name string
		used list
		port model.HostPort
		want bool
	}{
		{"nothing used", nil, port("", "", 80), false},
		{"port 0", list{port("", "", 80)}, port("", "", 0), false},
		{"a negative port", list{port("", "", 80)}, port("", "", -1), false},
		{"the same", list{port("10.0.0.1", "TCP", 80)}, port("10.0.0.1", "TCP", 80), true},
		{"another port", list{port("10.0.0.1", "TCP", 80)}, port("10.0.0.1", "TCP", 81), false},
		{"another protocol", list{port("10.0.0.1", "TCP", 80)}, port("10.0.0.1", "UDP", 80), false},
		{"another address", list{port("10.0.0.1", "TCP", 80)}, port("10.0.0.2", "TCP", 80), false},
		{"all addresses are wanted", list{port("10.0.0.1", "TCP", 80)}, port("0.0.0.0", "TCP", 80), true},
		{"all addresses are used", list{port("0.0.0.0", "TCP", 80)}, port("10.0.0.1", "TCP", 80), true},
		{"all addresses, another protocol", list{port("0.0.0.0", "TCP", 80)}, port("10.0.0.1", "UDP", 80), false},
		{"empty means all addresses and TCP", list{port("", "", 80)}, port("10.0.0.1", "TCP", 80), true},
		{"one of several", list{port("10.0.0.1", "TCP", 80), port("10.0.0.2", "UDP", 53)}, port("", "UDP", 53), true},
		{"one that cannot be used", list{port("", "", 0)}, port("", "", 0), false},
	} {
		var used PortSet
		for i := range c.used {
			used.add(&c.used[i])
		}
		if got := used.Conflicts(&c.port); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Each of those that hold a port holds it; in kube-scheduler the first to go frees it.
func TestPortIsHeldByEach(t *testing.T) {
	p, same := model.HostPort{Port: 80}, model.HostPort{IP: model.AllAddresses, Protocol: model.TCP, Port: 80}
	with := func(id string, port model.HostPort) *WorkloadInfo {
		return &WorkloadInfo{Workload: &model.Workload{ID: id, Ports: []model.HostPort{port}}}
	}
	for _, firstFrees := range []bool{false, true} {
		n := NewNodeInfo(&model.Node{})
		n.FirstFreesPort = firstFrees
		n.AddWorkload(with("a", p))
		n.AddWorkload(with("b", same))
		n.RemoveWorkload("a")
		if n.Ports.Conflicts(&p) == firstFrees {
			t.Errorf("first frees %v: after the first has gone %v", firstFrees, n.Ports)
		}
		n.RemoveWorkload("b")
		if len(n.Ports) != 0 || n.Ports.Conflicts(&p) {
			t.Errorf("first frees %v: after both have gone %v", firstFrees, n.Ports)
		}
	}
}

// TestNodeInfoSums adds and removes workloads at random and compares the sums
// with those of a node that is made anew each time.
func TestNodeInfoSums(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	node := &model.Node{Name: "n", Devices: make([]model.Device, 3)}
	info := NewNodeInfo(node)
	var copied NodeInfo // the same memory all the time
	for step := range 2000 {
		before, wanted := info, describe(info)
		info = info.Clone()
		if len(info.Workloads) > 0 && r.IntN(2) == 0 {
			gone := info.Workloads[r.IntN(len(info.Workloads))]
			if !info.RemoveWorkload(gone.ID) || info.RemoveWorkload(gone.ID) {
				t.Fatalf("seed %d step %d: removing %s", seed, step, gone.ID)
			}
		} else {
			info.AddWorkload(randomInfo(r, fmt.Sprintf("w%d", step)))
		}
		if describe(before) != wanted {
			t.Fatalf("seed %d step %d: the original of a clone changed\n%s\n%s", seed, step, wanted, describe(before))
		}
		fresh := NewNodeInfo(node)
		for _, w := range info.Workloads {
			fresh.AddWorkload(w)
		}
		if got, want := describe(info), describe(fresh); got != want {
			t.Fatalf("seed %d step %d:\n%s\n%s", seed, step, got, want)
		}
		info.SetNode(node)
		if got, want := describe(info), describe(fresh); got != want {
			t.Fatalf("seed %d step %d, after SetNode:\n%s\n%s", seed, step, got, want)
		}
		info.CopyTo(&copied)
		if got, want := describe(&copied), describe(fresh); got != want {
			t.Fatalf("seed %d step %d, copied:\n%s\n%s", seed, step, got, want)
		}
		copied.AddWorkload(randomInfo(r, "more"))
		for _, w := range info.Workloads {
			copied.RemoveWorkload(w.ID)
		}
		if got, want := describe(info), describe(fresh); got != want {
			t.Fatalf("seed %d step %d, the original of a copy changed:\n%s\n%s", seed, step, want, got)
		}
	}
}

// randomInfo makes a workload whose ports nobody else has.
func randomInfo(r *rand.Rand, id string) *WorkloadInfo {
	w := &model.Workload{ID: id, Requests: model.Resources{CPU: r.Int64N(3), Memory: r.Int64N(3), EphemeralStorage: r.Int64N(3)}}
	if r.IntN(2) == 0 {
		w.Requests.Scalars = []model.Scalar{{Name: []string{"a", "b"}[r.IntN(2)], Amount: 1 + r.Int64N(3)}}
	}
	if r.IntN(3) == 0 {
		w.Affinity = &model.WorkloadAffinity{}
	}
	if r.IntN(3) == 0 {
		w.AntiAffinity = &model.WorkloadAffinity{Required: make([]model.AffinityTerm, r.IntN(2))}
	}
	if r.IntN(3) == 0 {
		w.Ports = []model.HostPort{{IP: id, Port: 80}}
	}
	info := &WorkloadInfo{Workload: w}
	if r.IntN(2) == 0 {
		info.Shares = []model.DeviceShare{{Device: r.IntN(4), Share: 10}} // the last is not there
	}
	return info
}

// describe spells out the sums in a form that does not depend on order.
func describe(n *NodeInfo) string {
	ids := func(list []*WorkloadInfo) (ids []string) {
		for _, w := range list {
			ids = append(ids, w.ID)
		}
		slices.Sort(ids)
		return ids
	}
	var ports []string
	for _, p := range n.Ports {
		ports = append(ports, fmt.Sprint(p))
	}
	slices.Sort(ports)
	return fmt.Sprint(ids(n.Workloads), ids(n.WithAffinity), ids(n.WithRequiredAntiAffinity),
		n.Requested.CPU, n.Requested.Memory, n.Requested.EphemeralStorage, n.Requested.Scalar("a"), n.Requested.Scalar("b"),
		n.EstimatedCPU, n.EstimatedMemory, ports, n.DeviceFree)
}

// Removing moves the last one into the gap.
func TestRemoveWorkloadOrder(t *testing.T) {
	n := NewNodeInfo(&model.Node{})
	for _, id := range []string{"a", "b", "c", "d"} {
		n.AddWorkload(&WorkloadInfo{Workload: &model.Workload{ID: id}})
	}
	n.RemoveWorkload("b")
	var got []string
	for _, w := range n.Workloads {
		got = append(got, w.ID)
	}
	if !slices.Equal(got, []string{"a", "d", "c"}) || n.RemoveWorkload("b") {
		t.Error(got)
	}
}

// A sum at the limit says nothing of what it is made of any more; what is left
// when the absurd amount goes must be right again.
func TestRequestedIsRightAfterAnAbsurdAmount(t *testing.T) {
	n := NewNodeInfo(&model.Node{Name: "n"})
	small := &WorkloadInfo{Workload: &model.Workload{ID: "small", Requests: model.Resources{CPU: 7}.With("gpu", 2)}}
	absurd := &WorkloadInfo{Workload: &model.Workload{ID: "absurd", Requests: model.Resources{CPU: math.MaxInt64}.With("gpu", math.MaxInt64)}}
	n.AddWorkload(small)
	n.AddWorkload(absurd)
	n.RemoveWorkload("absurd")
	if n.Requested.CPU != 7 || n.Requested.Get("gpu") != 2 {
		t.Errorf("%+v is requested", n.Requested)
	}
}

// The estimated load stops at the largest amount, as requests do.
func TestEstimatedLoadNearTheLimit(t *testing.T) {
	n := NewNodeInfo(&model.Node{Name: "n"})
	of := func(id string, cpu, memory int64) *WorkloadInfo {
		return &WorkloadInfo{Workload: &model.Workload{ID: id, Estimate: &model.Resources{CPU: cpu, Memory: memory}}}
	}
	want := func(cpu, memory int64) {
		t.Helper()
		if n.EstimatedCPU != cpu || n.EstimatedMemory != memory {
			t.Errorf("%d and %d, want %d and %d", n.EstimatedCPU, n.EstimatedMemory, cpu, memory)
		}
	}
	n.AddWorkload(of("a", math.MaxInt64, 1))
	n.AddWorkload(of("b", math.MaxInt64, 2))
	n.AddWorkload(of("c", 3, 4))
	want(math.MaxInt64, 7)
	n.RemoveWorkload("a")
	want(math.MaxInt64, 6)
	n.RemoveWorkload("b")
	want(3, 4)
	n.RemoveWorkload("c")
	want(0, 0)
}
