package dynamicresources

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// decide runs the points up to Reserve for the node n1.
func decide(t *testing.T, s *extpointstest.Situation) (*model.Binding, *extpoints.Status) {
	t.Helper()
	p, state := newPlugin(t, nil, s.View), s.State()
	if _, status := p.PreFilter(state, s.Workload); status.Code() == extpoints.Skip {
		t.Fatal("skipped")
	}
	b := &model.Binding{Workload: s.Workload.ID, Node: "n1", Decided: model.Objects{&model.VolumeClaim{ID: "somebody else's"}}}
	return b, p.Reserve(state, s.Workload, b)
}

func TestReserve(t *testing.T) {
	w := model.Consumer{Workload: "w"}
	inGroup := using("c")
	inGroup.Group, inGroup.DeviceClaims[0].OfGroup = "g", true
	allocated := func(name string) *model.Allocation {
		return &model.Allocation{Nodes: onNode("n1"), Devices: []model.AllocatedDevice{device("n1", name)}}
	}
	with := func(c *model.DeviceClaim, a *model.Allocation, by ...model.Consumer) *model.DeviceClaim {
		c.Allocation, c.ReservedFor = a, by
		return c
	}
	conditions := one("c", withConditions(time.Minute), reserved("w"))
	fresh := allocated("d0")
	fresh.At, fresh.Devices[0].BindingConditions = extpointstest.Now, []string{"Attached"}
	tests := []struct {
		name    string
		w       *model.Workload
		objects []model.Object
		want    []*model.DeviceClaim
	}{
		{"a device is given", using("c"), []model.Object{one("c"), slice("n1", 1)}, []*model.DeviceClaim{with(one("c"), allocated("d0"), w)}},
		{"two claims are given different ones", using("c", "e"), []model.Object{one("c"), one("e"), slice("n1", 2)},
			[]*model.DeviceClaim{with(one("c"), allocated("d0"), w), with(one("e"), allocated("d1"), w)}},
		{"one has a device, one is given another", using("c", "e"), []model.Object{one("c", given("n1", "d0"), reserved("v")), one("e"), slice("n1", 2)},
			[]*model.DeviceClaim{with(one("c"), allocated("d0"), model.Consumer{Workload: "v"}, w), with(one("e"), allocated("d1"), w)}},
		{"nothing is new", using("c"), []model.Object{one("c", given("n1", "d0"), reserved("w"))}, nil},
		{"conditions are waited for once more", using("c"), []model.Object{conditions}, []*model.DeviceClaim{conditions}},
		{"conditions begin now", using("c"), []model.Object{one("c"), slice("n1", 1, func(d *model.SliceDevice) { d.BindingConditions = []string{"Attached"} })},
			[]*model.DeviceClaim{with(one("c"), fresh, w)}},
		{"the group's claim", inGroup, []model.Object{one("c"), slice("n1", 1)}, []*model.DeviceClaim{with(one("c"), allocated("d0"), model.Consumer{Group: "g"})}},
		{"the group's claim, for another member", inGroup, []model.Object{with(one("c"), allocated("d0"), model.Consumer{Group: "g"})},
			[]*model.DeviceClaim{with(one("c"), allocated("d0"), model.Consumer{Group: "g"})}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, status := decide(t, situation(tt.w, tt.objects...))
			if !status.IsSuccess() {
				t.Fatal(status)
			}
			if len(b.Decided) != 1+len(tt.want) {
				t.Fatalf("decided %d objects, want %d", len(b.Decided)-1, len(tt.want))
			}
			for i, want := range tt.want {
				if got := b.Decided[i+1]; !reflect.DeepEqual(got, model.Object(want)) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			}
			(&DynamicResources{}).Unreserve(nil, nil, b)
			if len(b.Decided) != 1 || model.RefOf(b.Decided[0]).Kind != model.VolumeClaimKind {
				t.Errorf("after Unreserve: %+v", b.Decided)
			}
		})
	}
}

// One workload watches a device and uses another that draws on the same counters. It is
// kube-scheduler that lets it wait.
func TestAdminAccessByCompat(t *testing.T) {
	card := slice("n1", 2, modeltest.Consumes("card", "slots", 4))
	card.SliceCount = 2
	slots := modeltest.DeviceSlice(card.Driver, card.Pool).Node("n1").Part("counters", card.Generation, 2).Counter("card", "slots", 4).Build()
	watch := one("c")
	watch.Requests[0].Alternatives[0].AdminAccess = true
	for compat, want := range map[extpoints.Compat]string{extpoints.Improved: "Success", extpoints.KubeScheduler137: "UnschedulableAndUnresolvable: cannot allocate all claims"} {
		h := extpointstest.NewHandle()
		h.Mode = compat
		p, err := New(Args{}, h)
		if err != nil {
			t.Fatal(err)
		}
		s := situation(using("c", "e"), watch, one("e"), card, slots)
		state := s.State()
		p.PreFilter(state, s.Workload)
		if got := p.Filter(state, s.Workload, s.View.NodeInfos[0]); got.String() != want {
			t.Errorf("%v: %v, want %s", compat, got, want)
		}
	}
}

func TestReserveChangesNoClaim(t *testing.T) {
	c := one("c", given("n1", "d0"), reserved("v"))
	c.ReservedFor = append(make([]model.Consumer, 0, 8), c.ReservedFor...)
	if _, status := decide(t, situation(using("c"), c)); !status.IsSuccess() {
		t.Fatal(status)
	}
	if more := c.ReservedFor[:2]; more[1] != (model.Consumer{}) || len(c.ReservedFor) != 1 {
		t.Errorf("the claim of the view is reserved for %v", more)
	}
}

func TestReserveFails(t *testing.T) {
	if _, status := decide(t, situation(using("c"), one("c"))); status.String() != "Error: claim allocation not found for node" {
		t.Errorf("no device: %v", status)
	}
	s := situation(using("c"), one("c"))
	s.View.NodeInfos = s.View.NodeInfos[1:]
	if _, status := decide(t, s); status.Code() != extpoints.Error {
		t.Errorf("no node: %v", status)
	}
}

// binder is an orchestrator that wants to know of claims.
type binder struct {
	extpointstest.Orchestrator
	bind func(ctx context.Context, b model.Binding) error
}

func (o *binder) BindDevices(ctx context.Context, w *model.Workload, b model.Binding) error {
	if w.ID != b.Workload {
		return errors.New("another workload")
	}
	return o.bind(ctx, b)
}

func TestPreBind(t *testing.T) {
	s := situation(using("c"), one("c"), slice("n1", 1))
	b, _ := decide(t, s)
	h := extpointstest.NewHandle()
	var told []model.Binding
	o := &binder{bind: func(_ context.Context, b model.Binding) error { told = append(told, b); return nil }}
	h.World = o
	made, err := New(Args{BindingTimeout: time.Second}, h)
	if err != nil {
		t.Fatal(err)
	}
	p := made
	if flight, status := p.PreBindPreFlight(nil, nil, b); !flight.AllowParallel || !status.IsSuccess() {
		t.Errorf("PreBindPreFlight: %v, %v", flight, status)
	}
	if status := p.PreBind(context.Background(), nil, s.Workload, b); !status.IsSuccess() || len(told) != 1 || !reflect.DeepEqual(told[0], *b) {
		t.Errorf("PreBind: %v, told %v", status, told)
	}
	refused := errors.New("refused")
	o.bind = func(context.Context, model.Binding) error { return refused }
	if status := p.PreBind(context.Background(), nil, s.Workload, b); !errors.Is(status.AsError(), refused) {
		t.Errorf("refused: %v", status)
	}
	// Out of time: by its own limit, and by that of the caller.
	o.bind = func(ctx context.Context, _ model.Binding) error {
		if _, limited := ctx.Deadline(); !limited {
			return errors.New("no deadline")
		}
		return context.DeadlineExceeded
	}
	if status := p.PreBind(context.Background(), nil, s.Workload, b); !errors.Is(status.AsError(), ErrBindingTimeout) || status.Message() != "device binding timeout: context deadline exceeded" {
		t.Errorf("timeout: %v", status)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if status := p.PreBind(ended, nil, s.Workload, b); status.IsSuccess() || errors.Is(status.AsError(), ErrBindingTimeout) {
		t.Errorf("cancelled: %v", status)
	}
}

func TestPreBindIsSkipped(t *testing.T) {
	s := situation(using("c"), one("c", given("n1", "d0"), reserved("w")))
	nothing, _ := decide(t, s)
	h := extpointstest.NewHandle()
	h.World = &binder{bind: func(context.Context, model.Binding) error { return errors.New("not asked for") }}
	wants, _ := New(Args{}, h)
	something, _ := decide(t, situation(using("c"), one("c"), slice("n1", 1)))
	for name, tt := range map[string]struct {
		p extpoints.Plugin
		b *model.Binding
	}{
		"nothing is decided":                 {wants, nothing},
		"the orchestrator does not want it":  {newPlugin(t, nil, nil), something},
		"there is no orchestrator to ask at": {&DynamicResources{}, something},
	} {
		p := tt.p.(*DynamicResources)
		if flight, status := p.PreBindPreFlight(nil, nil, tt.b); !flight.AllowParallel || status.Code() != extpoints.Skip {
			t.Errorf("%s: %v, %v", name, flight, status)
		}
		if status := p.PreBind(context.Background(), nil, s.Workload, tt.b); !status.IsSuccess() {
			t.Errorf("%s: %v", name, status)
		}
	}
}

// statuses are those of Filter.
type statuses map[string]*extpoints.Status

func (l statuses) Get(node string) *extpoints.Status { return l[node] }

func (l statuses) WithCode(c extpoints.Code) []*extpoints.NodeInfo {
	var nodes []*extpoints.NodeInfo
	for _, name := range []string{"n1", "n2"} {
		if l[name].Code() == c {
			nodes = append(nodes, extpoints.NewNodeInfo(&model.Node{Name: name}))
		}
	}
	return nodes
}

func TestPostFilter(t *testing.T) {
	far := []*extpoints.Status{rejection("something else"), claimUnavailable.WithPlugin(Name)}
	tests := []struct {
		name     string
		w        *model.Workload
		objects  []model.Object
		statuses []*extpoints.Status
		want     string
		gives    string
	}{
		{"nobody has it reserved", using("c"), []model.Object{one("c", given("n1", "d0"))}, far, "Unschedulable: deallocation of device claim completed", "c"},
		{"only the workload has", using("c"), []model.Object{one("c", given("n1", "d0"), reserved("w"))}, far, "Unschedulable: deallocation of device claim completed", "c"},
		{"another has", using("c"), []model.Object{one("c", given("n1", "d0"), reserved("v"))}, far, "Unschedulable", ""},
		{"another has too", using("c"), []model.Object{one("c", given("n1", "d0"), reserved("w", "v"))}, far, "Unschedulable", ""},
		{"only one is given up", using("a", "b", "c"), []model.Object{one("a", given("n1", "d0"), reserved("v")), one("b", given("n1", "d1")), one("c", given("n1", "d2"))}, far, "Unschedulable: deallocation of device claim completed", "b"},
		{"it can be used where the others were in the way", using("c"), []model.Object{one("c", given("n2", "d0"))}, far, "Unschedulable", ""},
		{"it was not the claim's fault", using("c"), []model.Object{one("c", given("n1", "d0"))}, []*extpoints.Status{far[0], far[0]}, "Unschedulable", ""},
		{"it has nothing to give up", using("c"), []model.Object{one("c")}, []*extpoints.Status{cannotAllocate, cannotAllocate}, "Unschedulable", ""},
		{"no claims", using(), nil, far, "Unschedulable", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := situation(tt.w, tt.objects...)
			p, cycle := newPlugin(t, nil, s.View), s.Cycle()
			p.PreFilter(cycle.State(), s.Workload)
			result, status := p.PostFilter(cycle.State(), s.Workload, statuses{"n1": tt.statuses[0], "n2": tt.statuses[1]})
			if got := strings.Join(cycle.Requests().Deallocations, " "); result != nil || status.String() != tt.want || got != tt.gives {
				t.Errorf("%v, %v, gives up %q; want %s and %q", result, status, got, tt.want, tt.gives)
			}
		})
	}
}

func TestGroupPostFilter(t *testing.T) {
	const (
		nothing = "Unschedulable"
		done    = "Unschedulable: deallocation and deletion of device claims completed"
	)
	member := func(id string, claims ...string) *extpoints.WorkloadInfo {
		w := using(claims...)
		w.ID, w.Group = id, "g"
		return &extpoints.WorkloadInfo{Workload: w}
	}
	sharing := func(id string) *extpoints.WorkloadInfo {
		w := member(id, "s")
		w.DeviceClaims[0].OfGroup = true
		return w
	}
	group := func(change func(*model.Group)) *model.Group {
		g := &model.Group{ID: "g", Policy: model.Gang, MinCount: 2, DeviceClaims: []model.DeviceClaimRef{{Name: "s", ID: "s"}}}
		change(g)
		return g
	}
	plain := group(func(*model.Group) {})
	byGroup := func(c *model.DeviceClaim) { c.ReservedFor = []model.Consumer{{Group: "g"}} }
	everywhere := func(c *model.DeviceClaim) { c.Allocation.Nodes = nil }
	tests := []struct {
		name    string
		g       *model.Group
		members []*extpoints.WorkloadInfo
		objects []model.Object
		placed  bool
		want    string
		gives   string
	}{
		{"each member gives one up", plain, []*extpoints.WorkloadInfo{member("a", "ca"), member("b", "cb")},
			[]model.Object{one("ca", given("n1", "d0")), one("cb", given("n2", "d0"), reserved("b"))}, false, done, "ca cb"},
		{"a member has nothing to give up", plain, []*extpoints.WorkloadInfo{member("a", "ca"), member("b")},
			[]model.Object{one("ca", given("n1", "d0"))}, false, done, "ca"},
		{"the group's claim is given up", plain, []*extpoints.WorkloadInfo{sharing("a"), sharing("b")},
			[]model.Object{one("s", given("n1", "d0"), byGroup)}, false, "Unschedulable: deallocation of group device claim completed", "s"},
		{"not while a member uses it", plain, []*extpoints.WorkloadInfo{sharing("a"), sharing("b")},
			[]model.Object{one("s", given("n1", "d0"), byGroup)}, true, done, ""},
		{"others have it reserved, who keep it", plain, []*extpoints.WorkloadInfo{sharing("a"), sharing("b")},
			[]model.Object{one("s", given("n1", "d0"), byGroup, reserved("v"))}, false, "UnschedulableAndUnresolvable: device claim unreserved for group", "s for g"},
		{"the group's claim, which is in nobody's way", plain, []*extpoints.WorkloadInfo{sharing("a"), sharing("b")},
			[]model.Object{one("s", given("n1", "d0"), byGroup, everywhere)}, false, "UnschedulableAndUnresolvable: device claim unreserved for group", "s for g"},
		{"a member without claims is left out too", plain, []*extpoints.WorkloadInfo{member("a")},
			[]model.Object{one("s", given("n1", "d0"), byGroup)}, false, "UnschedulableAndUnresolvable: device claim unreserved for group", "s for g"},
		{"a group of groups", group(func(g *model.Group) { g.Composite = true }), []*extpoints.WorkloadInfo{member("a", "ca")},
			[]model.Object{one("ca", given("n1", "d0"))}, false, nothing, ""},
		{"bound to a topology", group(func(g *model.Group) { g.TopologyKey = "rack" }), []*extpoints.WorkloadInfo{member("a", "ca")},
			[]model.Object{one("ca", given("n1", "d0"))}, false, nothing, ""},
		{"where another claim gets no device, Filter does not say which are in the way", plain,
			[]*extpoints.WorkloadInfo{member("a", "ca", "e")}, []model.Object{one("ca", given("n1", "d0")), one("e")}, false, done, ""},
		{"a member whose claim is gone", plain, []*extpoints.WorkloadInfo{member("a", "gone"), member("b", "cb")},
			[]model.Object{one("cb", given("n2", "d0"))}, false, done, "cb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := situation(using(), tt.objects...)
			s.View.GroupList = []*model.Group{tt.g}
			if tt.placed {
				s.View.NodeInfos[0].AddWorkload(member("placed", "s"))
			}
			cycle := s.Cycle()
			p, info := newPlugin(t, nil, s.View), &extpoints.GroupInfo{Group: tt.g, Members: tt.members}
			trial := extpointstest.NewGroupTrial(s.View, info, nil)
			trial.Refusals = refusals(p, s, tt.members)
			result, status := p.GroupPostFilter(cycle.State(), info, trial)
			gives := cycle.Requests().Deallocations
			for _, r := range cycle.Requests().Withdrawals {
				gives = append(gives, r.Claim+" for "+r.By.Group)
			}
			if got := strings.Join(gives, " "); result != nil || status.String() != tt.want || got != tt.gives {
				t.Errorf("%v, %v, gives up %q; want %s and %q", result, status, got, tt.want, tt.gives)
			}
		})
	}
}

// refusals are the nodes that Filter rejects, by workload, without the workloads
// that PreFilter rejects.
func refusals(p *DynamicResources, s *extpointstest.Situation, list []*extpoints.WorkloadInfo) map[string][]extpoints.Refusal {
	by := map[string][]extpoints.Refusal{}
	for _, w := range list {
		own := s.State()
		if _, status := p.PreFilter(own, w); !status.IsSuccess() && status.Code() != extpoints.Skip {
			continue
		}
		by[w.ID] = nil
		for _, n := range s.View.NodeInfos {
			if st := p.Filter(own, w, n); st != nil {
				by[w.ID] = append(by[w.ID], extpoints.Refusal{Node: n.Node, Status: st})
			}
		}
	}
	return by
}

func TestClaimHint(t *testing.T) {
	const queue, skip = extpoints.HintQueue, extpoints.HintSkip
	own, other := one("c", given("n1", "d0")), one("o", given("n1", "d0"))
	free := func(c *model.DeviceClaim) *model.DeviceClaim {
		f := *c
		f.Allocation, f.ReservedFor = nil, nil
		return &f
	}
	with := func(c *model.DeviceClaim, change func(*model.DeviceClaim)) *model.DeviceClaim {
		f := *c
		change(&f)
		return &f
	}
	tests := []struct {
		name     string
		old, new *model.DeviceClaim
		want     extpoints.Hint
	}{
		{"its own comes", nil, own, queue},
		{"another comes", nil, other, skip},
		{"another is given up", other, free(other), queue},
		{"another is given devices", free(other), other, skip},
		{"its own is given devices", free(own), own, queue},
		{"its own is reserved", own, with(own, reserved("v")), queue},
		{"conditions of its own become true", own, with(own, func(c *model.DeviceClaim) { c.Conditions = []model.DeviceConditions{{True: []string{"Ready"}}} }), queue},
		{"something else changes", own, with(own, func(c *model.DeviceClaim) { c.Config = []model.DeviceConfig{{}} }), skip},
		{"another of the same ID", own, with(own, func(c *model.DeviceClaim) { c.UID = "2"; reserved("v")(c) }), skip},
		{"another goes, with its devices", other, nil, queue},
		{"another goes, without devices", free(other), nil, skip},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := situation(using("c"), own)
			change := &extpoints.Event{}
			if tt.old != nil {
				change.OldObject = tt.old
			}
			if tt.new != nil {
				change.NewObject = tt.new
			}
			if got, err := newPlugin(t, nil, s.View).afterClaimChange(s.Workload.Workload, change); got != tt.want || err != nil {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	p := newPlugin(t, nil, situation(using("c")).View)
	if got, err := p.afterClaimChange(using("c"), &extpoints.Event{OldObject: other, NewObject: free(other)}); got != skip || err != nil {
		t.Errorf("while its own is missing: %v, %v", got, err)
	}
	if got, err := p.afterClaimChange(using("c"), &extpoints.Event{}); got != queue || err == nil {
		t.Errorf("no claim: %v, %v", got, err)
	}
}

func TestClaimsMadeHint(t *testing.T) {
	s := situation(using("c"), one("c"))
	p := newPlugin(t, nil, s.View)
	change := func(w *model.Workload) *extpoints.Event {
		return &extpoints.Event{OldWorkload: s.Workload, NewWorkload: &extpoints.WorkloadInfo{Workload: w}}
	}
	for w, want := range map[*model.Workload]extpoints.Hint{using("c"): extpoints.HintQueue, using("c", "missing"): extpoints.HintSkip} {
		if got, err := p.afterClaimsMade(nil, change(w)); got != want || err != nil {
			t.Errorf("%d claims: %v, %v", len(w.DeviceClaims), got, err)
		}
	}
	if got, err := p.afterClaimsMade(nil, &extpoints.Event{}); got != extpoints.HintQueue || err == nil {
		t.Errorf("no workload: %v, %v", got, err)
	}
}

func TestEvents(t *testing.T) {
	hints, err := newPlugin(t, nil, nil).EventsToRegister()
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		resource model.ObjectKind
		action   extpoints.Action
		always   bool
	}{
		{extpoints.NodeResource, extpoints.Add | extpoints.UpdateNodeLabel | extpoints.UpdateNodeAllocatable, true},
		{model.DeviceClaimKind, extpoints.AllActions, false},
		{extpoints.TargetWorkload, extpoints.UpdateWorkloadDeviceClaims, false},
		{model.DeviceClassKind, extpoints.AllActions, true},
		{model.DeviceSliceKind, extpoints.AllActions, true},
	}
	if len(hints) != len(want) {
		t.Fatalf("%d events, want %d", len(hints), len(want))
	}
	for i, w := range want {
		if h := hints[i]; h.Event.Resource != w.resource || h.Event.Action != w.action || (h.Hint == nil) != w.always {
			t.Errorf("event %d is %+v, want %+v", i, h, w)
		}
	}
}
