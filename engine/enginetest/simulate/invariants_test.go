package simulate

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

// sound is a state in which nothing is wrong: of eight workloads one is in
// every phase, and one waits on permit.
func sound() *observed {
	o := &observed{
		at: simEpoch, nodes: map[string]*model.Node{}, rows: map[string]model.WorkloadRecord{},
		positions: map[string]queue.Position{}, waiting: map[string]bool{}, tasks: map[string]int{}, abandoned: map[string]int{},
		book: map[string]*booked{}, forced: map[string]bool{}, disputed: map[nodePort]bool{},
	}
	o.nodes["n1"] = &model.Node{
		Name: "n1", Allocatable: model.Resources{CPU: 600}, MaxWorkloads: 6,
		Devices: []model.Device{{Class: "gpu"}, {Class: "gpu"}},
	}
	add := func(id string, phase model.Phase, b booked) {
		w := &model.Workload{ID: id, Requests: model.Resources{CPU: 100}, Limit: time.Minute, Queue: "q", Principal: "ann"}
		row := model.WorkloadRecord{Workload: w, Phase: phase, CreateIndex: uint64(len(o.ids) + 1), ModifyIndex: 10}
		if phase.TakesRoom() {
			row.Node, row.PlacedAt = "n1", simEpoch
		}
		b.spec = w
		o.ids, o.rows[id], o.book[id] = append(o.ids, id), row, &b
	}
	add("a-pending", model.Pending, booked{})
	add("b-assumed", model.Assumed, booked{})
	add("c-waiting", model.Assumed, booked{})
	add("d-bound", model.Bound, booked{node: "n1", known: true, unreported: true})
	add("e-confirmed", model.Confirmed, booked{node: "n1", known: true})
	add("f-leaving", model.Terminating, booked{node: "n1", known: true, leaving: true})
	add("g-finished", model.Finished, booked{ended: true})
	o.positions["a-pending"] = queue.Position{ID: "a-pending", Place: queue.Backoff, BackoffExpiration: simEpoch.Add(time.Second)}
	o.positions["b-assumed"] = queue.Position{ID: "b-assumed", Place: queue.Binding}
	o.positions["c-waiting"] = queue.Position{ID: "c-waiting", Place: queue.Permit}
	o.counts = queue.Counts{Backoff: 1, Binding: 1, Permit: 1, Events: 3}
	o.waiting["c-waiting"] = true
	o.tasks["b-assumed"] = 1
	o.queues = map[string]*model.Queue{"q": {Name: "q"}, "other": {Name: "other"}}
	o.principals = map[string]*model.Principal{"ann": {Name: "ann"}}
	o.limits = map[string]*model.Limit{"l": {Name: "l", Queue: "q", Scope: model.LimitEachPrincipal, Measure: model.LimitRunning, Amount: 5}}
	o.lists = []listed{{what: "Pending", got: []string{"a-pending"}, want: []string{"a-pending"}}}
	o.dense = denseOf(o)
	return o
}

// fakeView is a view of some nodes.
type fakeView struct {
	extpoints.ClusterView
	infos     []*extpoints.NodeInfo
	nominated map[string][]*extpoints.WorkloadInfo
}

func (v *fakeView) Nodes() extpoints.Nodes { return fakeNodes{v} }

func (v *fakeView) Nominated(node string) []*extpoints.WorkloadInfo { return v.nominated[node] }

type fakeNodes struct{ *fakeView }

func (n fakeNodes) Len() int                                        { return len(n.infos) }
func (n fakeNodes) At(i int) *extpoints.NodeInfo                    { return n.infos[i] }
func (n fakeNodes) WithAffinity() []*extpoints.NodeInfo             { return nil }
func (n fakeNodes) WithRequiredAntiAffinity() []*extpoints.NodeInfo { return nil }
func (n fakeNodes) Get(name string) *extpoints.NodeInfo {
	for _, info := range n.infos {
		if info.Node.Name == name {
			return info
		}
	}
	return nil
}

// denseOf is the view that goes with the rows.
func denseOf(o *observed) *fakeView {
	v := &fakeView{nominated: map[string][]*extpoints.WorkloadInfo{}}
	for _, n := range o.nodes {
		info := extpoints.NewNodeInfo(n)
		for _, id := range o.ids {
			if row := o.rows[id]; row.Node == n.Name {
				info.AddWorkload(&extpoints.WorkloadInfo{Workload: row.Workload, Shares: row.Shares, Terminating: row.Phase == model.Terminating})
			}
		}
		v.infos = append(v.infos, info)
	}
	return v
}

// edit changes a row.
func (o *observed) edit(id string, change func(*model.WorkloadRecord)) {
	row := o.rows[id]
	w := *row.Workload
	row.Workload = &w
	change(&row)
	o.rows[id] = row
	o.book[id].spec = row.Workload
}

func TestSoundStateHasNoProblems(t *testing.T) {
	if p := checkAll(sound(), sound()); len(p) > 0 {
		t.Fatal(strings.Join(p, "\n"))
	}
}

// Each case breaks one thing after a sound state; the checkers must say so.
func TestCheckersFindWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(before, o *observed)
	}{
		{"lost by the queue", "its place is None", func(_, o *observed) { delete(o.positions, "a-pending") }},
		{"queued and bound", "d-bound is Bound", func(_, o *observed) { o.positions["d-bound"] = queue.Position{Place: queue.Active} }},
		{"queued while a binding is called off", "and 1 that were called off", func(_, o *observed) { o.abandoned["a-pending"] = 1 }},
		{"seen to wait for no binding", "its place is OldBinding", func(_, o *observed) { o.positions["a-pending"] = queue.Position{Place: queue.OldBinding} }},
		{"to be tried without a profile", `its place is Backoff, of profile "gone"`, func(_, o *observed) { o.rows["a-pending"].Profile = goneProfile }},
		{"being bound and not seen", "its place is None", func(_, o *observed) { delete(o.positions, "b-assumed") }},
		{"assumed and in no task", "in 0 places", func(_, o *observed) { delete(o.tasks, "b-assumed") }},
		{"assumed and in two tasks", "in 2 places", func(_, o *observed) { o.tasks["b-assumed"] = 2 }},
		{"waits and has a task", "in 2 places", func(_, o *observed) { o.tasks["c-waiting"] = 1 }},
		{"two bindings at once", "under way at once", func(_, o *observed) { o.abandoned["b-assumed"] = 1 }},
		{"bound with a task", "could go on with it", func(_, o *observed) { o.tasks["d-bound"] = 1 }},
		{"on permit for nothing", "waits on permit: false", func(_, o *observed) { delete(o.waiting, "c-waiting") }},
		{"gone and queued", "is gone, and still", func(_, o *observed) { o.positions["x"] = queue.Position{Place: queue.Active} }},
		{"gone and waiting", "still waits on permit", func(_, o *observed) { o.waiting["x"] = true }},
		{"wrong count", "the queue counts", func(_, o *observed) { o.counts.Active++ }},
		{"events for nobody", "remembered for nobody", func(_, o *observed) { o.counts.Permit = 0 }},

		{"an illegal move", "moved from Finished to Pending", func(before, o *observed) {
			before.edit("a-pending", func(w *model.WorkloadRecord) { w.Phase = model.Finished })
		}},
		{"came as finished", "came as Finished", func(before, _ *observed) { delete(before.rows, "g-finished") }},
		{"a record that goes back", "went back from 12 to 10", func(before, _ *observed) {
			before.edit("d-bound", func(w *model.WorkloadRecord) { w.ModifyIndex = 12 })
		}},
		{"pending on a node", `is Pending on node "n1"`, func(_, o *observed) {
			o.edit("a-pending", func(w *model.WorkloadRecord) { w.Node = "n1" })
		}},
		{"devices without a node", "is on no node and holds", func(_, o *observed) {
			o.edit("a-pending", func(w *model.WorkloadRecord) { w.Shares = []model.DeviceShare{{Share: 1}} })
		}},
		{"nominated though placed", "still nominated", func(_, o *observed) {
			o.edit("d-bound", func(w *model.WorkloadRecord) { w.Nominated = "n1" })
		}},

		{"not in the book", "knows nothing of it", func(_, o *observed) { delete(o.book, "d-bound") }},
		{"not on record", "it is lost", func(_, o *observed) { o.book["x"] = &booked{} }},
		{"an old version", "another version", func(_, o *observed) { o.book["d-bound"].spec = &model.Workload{} }},
		{"bound elsewhere", `Bound on "n1", and in the book`, func(_, o *observed) { o.book["d-bound"].node = "n2" }},
		{"pending though it is known to run", "is on record as Pending", func(_, o *observed) {
			*o.book["a-pending"] = booked{spec: o.book["a-pending"].spec, node: "n1", known: true}
		}},
		{"leaves of its own accord", "is on record as Terminating", func(_, o *observed) { o.book["f-leaving"].leaving = false }},

		{"over cpu", "too little cpu", func(_, o *observed) {
			o.edit("d-bound", func(w *model.WorkloadRecord) { w.Requests.CPU = 300 })
		}},
		{"too many workloads", "too little workloads", func(before, o *observed) {
			o.nodes["n1"] = &model.Node{Name: "n1", Allocatable: model.Resources{CPU: 600}, MaxWorkloads: 4}
		}},
		{"a device given twice", "too little device 0", func(_, o *observed) {
			share := []model.DeviceShare{{Share: 600}}
			o.edit("d-bound", func(w *model.WorkloadRecord) { w.Shares = share })
			o.edit("e-confirmed", func(w *model.WorkloadRecord) { w.Shares = share })
		}},
		{"a port given twice", "too little port", func(_, o *observed) {
			o.edit("d-bound", func(w *model.WorkloadRecord) { w.Ports = []model.HostPort{{Port: 80}} })
			o.edit("e-confirmed", func(w *model.WorkloadRecord) { w.Ports = []model.HostPort{{Port: 80, IP: "10.0.0.1"}} })
		}},
		{"put on a full node", "b-assumed was put on n1, which has too little cpu", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.forced["n1"] = true
			o.edit("d-bound", func(w *model.WorkloadRecord) { w.Requests.CPU = 300 })
		}},
		{"put on no node", "which is not there", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.edit("b-assumed", func(w *model.WorkloadRecord) { w.Node = "n9" })
		}},
		{"put without its devices", "asks for 2 device shares", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.edit("b-assumed", func(w *model.WorkloadRecord) {
				w.Workload.Devices = []model.DeviceRequest{{Class: "gpu", Count: 2, Share: 1000}}
			})
		}},
		{"put on a device that is taken", "which has none left", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.forced["n1"] = true
			o.edit("d-bound", func(w *model.WorkloadRecord) { w.Shares = []model.DeviceShare{{Share: 600}} })
			o.edit("b-assumed", func(w *model.WorkloadRecord) {
				w.Workload.Devices = []model.DeviceRequest{{Class: "gpu", Count: 1, Share: 500}}
				w.Shares = []model.DeviceShare{{Share: 500}}
			})
		}},

		{"put beyond a quota", "queue q uses 500 cpu, by its max at most 400", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.queues["q"].Max = map[string]int64{model.CPU: 400}
		}},
		{"put beyond what may be borrowed", "by its borrow at most 300", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.queues["q"].Guaranteed, o.queues["q"].Borrow = map[string]int64{model.CPU: 200}, map[string]int64{model.CPU: 100}
		}},
		{"put where another queue keeps what it is guaranteed", "500 cpu are used and 200 kept by other queues, of 600", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.queues["other"].Guaranteed, o.queues["other"].Lend = map[string]int64{model.CPU: 200}, map[string]int64{model.CPU: 0}
		}},
		{"put beyond a limit", `limit l of "ann" (Running) has 5, at most 4`, func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.limits["l"].Amount = 4
		}},
		{"put beyond a limit on a resource", `limit l of "" (Resource) has 500, at most 450`, func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.limits["l"] = &model.Limit{Name: "l", Principal: "ann", Scope: model.LimitSubtree, Measure: model.LimitResource, Resource: model.CPU, Amount: 450}
		}},
		{"put though it is too large", "by limit l each at most 99", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			o.limits["l"] = &model.Limit{Name: "l", Queue: "q", Scope: model.LimitEachWorkload, Measure: model.LimitResource, Resource: model.CPU, Amount: 99}
		}},
		{"put beyond what may be used over time", "1000 resource-seconds are used and 30000 may be, of 30500", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			spendOf(o, &model.Limit{Amount: 30500}, 1001.002)
		}},
		{"put though all of it is used", "1000 resource-seconds are used, of 1000", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			spendOf(o, &model.Limit{Amount: 1000, Breach: model.LimitStop}, 1001.002)
		}},
		{"put without an end", "has no time limit", func(before, o *observed) {
			delete(before.rows, "b-assumed")
			spendOf(o, &model.Limit{Amount: 1 << 40}, 0)
			o.edit("b-assumed", func(w *model.WorkloadRecord) { w.Workload.Limit = 0 })
		}},

		{"rejected by nobody", "nothing has rejected it", func(_, o *observed) {
			o.positions["a-pending"] = queue.Position{Place: queue.Unschedulable}
		}},
		{"gated without a word", "does not say why", func(_, o *observed) {
			o.positions["a-pending"] = queue.Position{Place: queue.Gated, GatingPlugin: "x", Gate: extpoints.NewStatus(extpoints.Unschedulable)}
		}},
		{"backs off without an end", "nobody knows until when", func(_, o *observed) {
			o.positions["a-pending"] = queue.Position{Place: queue.Backoff}
		}},
		{"held back by one that has gone", "which does not wait", func(_, o *observed) { o.hold(queue.Held{Workload: "x"}) }},
		{"held back by a quota that has room", "and the queue uses 500", func(_, o *observed) {
			o.queues["q"].Max = map[string]int64{model.CPU: 600}
			o.hold(queue.Held{Workload: "a-pending", Queue: "q", Quota: queue.QuotaMax, Resource: model.CPU})
		}},
		{"held back by a limit that has room", `limit "l" would not be exceeded: 5 and 1`, func(_, o *observed) {
			o.limits["l"].Amount = 6
			o.hold(queue.Held{Workload: "a-pending", Queue: "q", Principal: "ann", Limit: "l"})
		}},

		{"a wrong list", "are listed as", func(_, o *observed) { o.lists[0].got = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := sound(), sound()
			c.spoil(before, after)
			if p := checkAll(before, after); !strings.Contains(strings.Join(p, "\n"), c.want) {
				t.Fatalf("found %q, want %q", p, c.want)
			}
		})
	}
}

// Who loses the room that is kept for it waits for no event.
func TestCheckRoomLost(t *testing.T) {
	for _, c := range []struct {
		name  string
		lost  bool
		spoil func(before, o *observed)
	}{
		{"nothing happens", false, func(_, _ *observed) {}},
		{"the node is gone", true, func(_, o *observed) { o.nodes = nil }},
		{"the node comes", false, func(before, _ *observed) { before.nodes = nil }},
		{"the node is closed", true, func(_, o *observed) { o.nodes["n1"] = &model.Node{Name: "n1", Unschedulable: true} }},
		{"the node is smaller", true, func(_, o *observed) { o.nodes["n1"] = &model.Node{Name: "n1"} }},
		{"the nomination is taken back", true, func(_, o *observed) {
			o.edit("a-pending", func(w *model.WorkloadRecord) { w.Nominated = "" })
		}},
		{"it is to be tried again", false, func(_, o *observed) {
			o.nodes, o.positions["a-pending"] = nil, queue.Position{Place: queue.Backoff}
		}},
		{"it was tried", false, func(_, o *observed) {
			o.nodes, o.positions["a-pending"] = nil, queue.Position{Place: queue.Unschedulable, Attempts: 1}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := sound(), sound()
			for _, o := range []*observed{before, after} {
				o.edit("a-pending", func(w *model.WorkloadRecord) { w.Nominated = "n1" })
				o.positions["a-pending"] = queue.Position{Place: queue.Unschedulable}
			}
			c.spoil(before, after)
			if p := checkRoomLost(before, after); len(p) > 0 != c.lost {
				t.Fatalf("found %q", p)
			}
		})
	}
}

// hold has a-pending be active and held back.
func (o *observed) hold(h queue.Held) {
	o.positions["a-pending"] = queue.Position{ID: "a-pending", Place: queue.Active, Standing: &queue.Standing{Held: &h}}
	o.counts.Backoff, o.counts.Active = 0, 1
}

// spendOf makes it a limit on what is used over time, of which so much is used.
func spendOf(o *observed, l *model.Limit, used float64) {
	l.Name, l.Queue, l.Scope, l.Measure, l.Resource = "l", "q", model.LimitSubtree, model.LimitResourceSeconds, model.CPU
	o.limits["l"] = l
	o.spent = map[gauge]spent{{limit: "l"}: {l, used}}
}

// A quota or a limit that is less than what runs is no fault of the engine's, as long as that gets no more. Nor is
// one that holds back what would exceed it.
func TestQuotasBelowWhatRunsAreNoProblem(t *testing.T) {
	before, after := sound(), sound()
	after.queues["q"].Max = map[string]int64{model.CPU: 100}
	after.limits["l"].Amount = 1
	if p := checkAll(before, after); len(p) > 0 {
		t.Fatal(p)
	}
	for _, h := range []queue.Held{
		{Workload: "a-pending", Queue: "q", Quota: queue.QuotaMax, Resource: model.CPU},
		{Workload: "a-pending", Queue: "q", Principal: "ann", Limit: "l"},
	} {
		after.hold(h)
		if p := checkAll(before, after); len(p) > 0 {
			t.Fatal(p)
		}
	}
}

// What is spent is what was used between two states, and decays.
func TestSpentIsWhatWasUsed(t *testing.T) {
	before, after := sound(), sound()
	l := &model.Limit{HalfLife: 10 * time.Second}
	spendOf(before, l, 800)
	for id, row := range before.rows {
		after.rows[id] = row
	}
	after.limits["l"], after.at = l, before.at.Add(10*time.Second)
	delete(before.rows, "b-assumed") // of which nobody knows since when it is there
	if got := after.spend(before)[gauge{limit: "l"}].used; got != 400+4*100*10/2 {
		t.Fatalf("%v are spent", got)
	}
	after.limits["l"] = &model.Limit{}
	if got := after.spend(before); len(got) > 0 {
		t.Fatalf("of a limit that was said anew %v are spent", got)
	}
}

// What an input has forced on a node is no fault of the engine's.
func TestForcedRoomIsNoProblem(t *testing.T) {
	before, after := sound(), sound()
	after.forced["n1"] = true
	after.edit("d-bound", func(w *model.WorkloadRecord) { w.Requests.CPU = 300 })
	if p := checkRoom(before, after); len(p) > 0 {
		t.Fatal(p)
	}
	later := sound()
	later.rows = after.rows
	if p := checkRoom(after, later); len(p) > 0 {
		t.Fatalf("it was so before: %v", p)
	}
}

// Each case breaks one thing in the view.
func TestCheckDenseFindsWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name, want string
		spoil      func(o *observed, v *fakeView)
	}{
		{"no view at all", "no view of them", func(o *observed, _ *fakeView) { o.dense = nil }},
		{"a node too few", "the view has 0 nodes", func(_ *observed, v *fakeView) { v.infos = nil }},
		{"an old node", "another version of node", func(_ *observed, v *fakeView) { v.infos[0].Node = v.infos[0].Node.Clone() }},
		{"an old workload", "is another in the view", func(_ *observed, v *fakeView) {
			v.infos[0].Workloads[0] = &extpoints.WorkloadInfo{Workload: v.infos[0].Workloads[0].Clone()}
		}},
		{"a workload too few", "on n1 are", func(_ *observed, v *fakeView) { v.infos[0].RemoveWorkload("d-bound") }},
		{"a wrong sum", "is in use in the view", func(_ *observed, v *fakeView) { v.infos[0].Requested.CPU++ }},
		{"a wrong estimate", "is in use in the view", func(_ *observed, v *fakeView) { v.infos[0].EstimatedMemory++ }},
		{"a wrong list of affinity", "with affinity", func(_ *observed, v *fakeView) { v.infos[0].WithAffinity = v.infos[0].Workloads }},
		{"a lost device", "of device 1 of n1", func(_ *observed, v *fakeView) { v.infos[0].DeviceFree[1]-- }},
		{"a port too many", "by nobody on record", func(_ *observed, v *fakeView) {
			v.infos[0].Ports = extpoints.PortSet{{IP: model.AllAddresses, Protocol: model.TCP, Port: 80}}
		}},
		{"a port too few", "is free in the view", func(o *observed, v *fakeView) {
			o.edit("d-bound", func(w *model.WorkloadRecord) { w.Ports = []model.HostPort{{Port: 80}} })
		}},
		{"a nomination too many", "nominated to n1", func(_ *observed, v *fakeView) { v.nominated["n1"] = v.infos[0].Workloads[:1] }},
		{"a nomination too few", "nominated to n1", func(o *observed, _ *fakeView) {
			o.edit("a-pending", func(w *model.WorkloadRecord) { w.Nominated = "n1" })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := sound()
			c.spoil(o, o.dense.(*fakeView))
			if p := checkDense(o); !strings.Contains(strings.Join(p, "\n"), c.want) {
				t.Fatalf("found %q, want %q", p, c.want)
			}
		})
	}
}
