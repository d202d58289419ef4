package dynamicresources

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

const gpus = "example.com/gpu"

// asking is a workload that requests scalars, given as name and amount.
func asking(scalars ...any) *model.Workload {
	w := using()
	for i := 0; i < len(scalars); i += 2 {
		w.Requests.Set(scalars[i].(string), int64(scalars[i+1].(int)))
	}
	return w
}

// served is a situation in which the class gpu stands for gpus. Node n1 offers
// some itself.
func served(w *model.Workload, offered int64, objects ...model.Object) *extpointstest.Situation {
	s := situation(w, objects...)
	class := modeltest.DeviceClass("gpu")
	class.Resource = gpus
	s.View.Put(class)
	s.View.NodeInfos[0] = extpointstest.NodeWith(modeltest.Node("n1").Resource(gpus, offered).Build())
	return s
}

func TestResources(t *testing.T) {
	const (
		ok    = "Success"
		full  = "UnschedulableAndUnresolvable: cannot allocate all claims"
		unfit = "UnschedulableAndUnresolvable: cannot fit resource"
		stale = "UnschedulableAndUnresolvable: cannot schedule device claim for scalar resources"
	)
	own := asking(gpus, 1)
	own.DeviceClaims = using("c").DeviceClaims
	tests := []struct {
		name    string
		w       *model.Workload
		offered int64
		objects []model.Object
		n1, n2  string
	}{
		{"a node offers the scalar, the other has no device", asking(gpus, 1), 1, nil, ok, full},
		{"a node offers the scalar, the other has devices", asking(gpus, 2), 2, []model.Object{slice("n2", 2)}, ok, ok},
		{"too few devices", asking(gpus, 3), 3, []model.Object{slice("n2", 2)}, ok, full},
		{"none of the scalar is offered", asking(gpus, 1), 0, []model.Object{slice("n1", 1)}, ok, full},
		{"by the name of the class", asking(model.DeviceClassResource+"gpu", 1), 1, []model.Object{slice("n1", 1)}, ok, full},
		{"a scalar that nothing stands for, besides", asking(gpus, 1, "example.com/other", 1), 1, []model.Object{slice("n2", 1)}, unfit, unfit},
		{"a scalar that Kubernetes knows, besides", asking(gpus, 1, "hugepages-2Mi", 1), 1, []model.Object{slice("n2", 1)}, ok, ok},
		{"a claim besides, on the devices of the node", own, 1, []model.Object{one("c"), slice("n1", 1), slice("n2", 1)}, ok, full},
		{"a claim of an earlier attempt", asking(gpus, 1), 1, []model.Object{&model.DeviceClaim{ID: model.ResourceClaimID("w"), ForResources: true}, slice("n2", 1)}, stale, stale},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := served(tt.w, tt.offered, tt.objects...)
			p, state := newPlugin(t, nil, s.View), s.State()
			if _, status := p.PreFilter(state, s.Workload); !status.IsSuccess() {
				t.Fatal(status)
			}
			for i, want := range []string{tt.n1, tt.n2} {
				if got := p.Filter(state, s.Workload, s.View.NodeInfos[i]); got.String() != want {
					t.Errorf("n%d: got %v, want %s", i+1, got, want)
				}
			}
		})
	}
}

func TestNoResources(t *testing.T) {
	for name, w := range map[string]*model.Workload{"another scalar": asking("example.com/other", 1), "none of it": asking(gpus, 0), "another class": asking(model.DeviceClassResource+"x", 1)} {
		s := served(w, 0)
		if _, status := newPlugin(t, nil, s.View).PreFilter(s.State(), s.Workload); status.Code() != extpoints.Skip {
			t.Errorf("%s: %v", name, status)
		}
	}
}

// The claim for the resources is made when the node is chosen.
func TestReserveResources(t *testing.T) {
	w := asking(gpus, 2)
	w.Name = "job"
	w.DeviceClaims = using("c").DeviceClaims
	b, status := decide(t, served(w, 0, one("c"), slice("n1", 3)))
	if !status.IsSuccess() || len(b.Decided) != 3 {
		t.Fatalf("%v, %d decided", status, len(b.Decided))
	}
	want := &model.DeviceClaim{
		ID: "w-extended-resources", Namespace: "ns", Name: "job-extended-resources", Owner: "w", ForResources: true,
		Requests: []model.ClaimRequest{{Name: "container-0-request-0", Alternatives: []model.DeviceDemand{{Class: "gpu", Count: 2}}}},
		Uses:     []model.ResourceUse{{Container: "job", Resource: gpus, Request: "container-0-request-0"}},
		Allocation: &model.Allocation{Nodes: onNode("n1"), Devices: []model.AllocatedDevice{
			{DeviceID: device("n1", "d1").DeviceID, Request: "container-0-request-0"}, {DeviceID: device("n1", "d2").DeviceID, Request: "container-0-request-0"},
		}},
		ReservedFor: []model.Consumer{{Workload: "w"}},
	}
	if !reflect.DeepEqual(b.Decided[2], model.Object(want)) {
		t.Errorf("got  %+v\nwant %+v", b.Decided[2], want)
	}
	if problems := want.Validate(); problems != nil {
		t.Error(problems)
	}
	// Nothing is made where the node offers the scalar.
	b, status = decide(t, served(asking(gpus, 2), 2, slice("n1", 3)))
	if !status.IsSuccess() || len(b.Decided) != 1 {
		t.Errorf("%v, %d decided", status, len(b.Decided))
	}
}

func TestPostFilterResources(t *testing.T) {
	s := served(asking(gpus, 1), 0, &model.DeviceClaim{ID: model.ResourceClaimID("w"), ForResources: true})
	p, cycle := newPlugin(t, nil, s.View), s.Cycle()
	p.PreFilter(cycle.State(), s.Workload)
	_, status := p.PostFilter(cycle.State(), s.Workload, statuses{"n1": staleClaim, "n2": staleClaim})
	if got := cycle.Requests().Deallocations; status.String() != "Unschedulable: deletion of device claim completed" || !slices.Equal(got, []string{"w-extended-resources"}) {
		t.Errorf("%v, gives up %v", status, got)
	}
}

// Which requests there are for which containers. (The cases of kube-scheduler
// plugins/dynamicresources/extendeddynamicresources_test.go
// TestCreateRequestsAndMappings, 1.37.1, and some besides.)
func TestRequestsOfContainers(t *testing.T) {
	container := func(name string, amount int64, more ...string) model.Container {
		c := model.Container{Name: name}
		c.Requests.Set(gpus, amount)
		for _, m := range more {
			c.Requests.Set(m, 1)
		}
		return c
	}
	startup := func(c model.Container) model.Container {
		c.Startup = true
		return c
	}
	tests := []struct {
		name       string
		containers []model.Container
		requests   string
		uses       string
	}{
		{"one", []model.Container{container("a", 2)}, "container-0-request-0:2", "a:container-0-request-0"},
		{"one, among other resources", []model.Container{container("a", 1, model.CPU, model.Memory, "example.com/a")}, "container-0-request-2:1", "a:container-0-request-2"},
		{"two", []model.Container{container("a", 1), container("b", 2)}, "container-0-request-0:1 container-1-request-0:2", "a:container-0-request-0 b:container-1-request-0"},
		{"one of two", []model.Container{{Name: "a"}, container("b", 1)}, "container-1-request-0:1", "b:container-1-request-0"},
		{"one of two asks for none", []model.Container{container("a", 0), container("b", 1)}, "container-1-request-0:1", "b:container-1-request-0"},
		{"at the start less than later", []model.Container{startup(container("i", 1)), container("a", 2)}, "container-1-request-0:2", "a:container-1-request-0 i:container-1-request-0"},
		{"at the start more than later", []model.Container{startup(container("i", 3)), container("a", 2)}, "container-0-request-0:1 container-1-request-0:2",
			"a:container-1-request-0 i:container-1-request-0 i:container-0-request-0"},
		{"several at the start share", []model.Container{startup(container("i", 1)), startup(container("j", 3)), startup(container("k", 2))}, "container-1-request-0:3",
			"i:container-1-request-0 j:container-1-request-0 k:container-1-request-0"},
		{"at the start with two later", []model.Container{startup(container("i", 2)), container("a", 1), container("b", 1)}, "container-1-request-0:1 container-2-request-0:1",
			"a:container-1-request-0 b:container-2-request-0 i:container-1-request-0 i:container-2-request-0"},
		{"no more of those later than it needs", []model.Container{startup(container("i", 1)), container("a", 1), container("b", 1)}, "container-1-request-0:1 container-2-request-0:1",
			"a:container-1-request-0 b:container-2-request-0 i:container-1-request-0"},
		{"one from before stays with its own", []model.Container{container("side", 1), startup(container("i", 1)), {Name: "a"}}, "container-0-request-0:1 container-1-request-0:1",
			"side:container-0-request-0 i:container-1-request-0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := asking(gpus, 1)
			w.Containers = tt.containers
			s := served(w, 0)
			r := resourcesOf(s.View.Devices(), w)
			r.prepare(newPlugin(t, nil, s.View).allocator, s.View.Devices(), nil)
			v, status := r.on(s.View.NodeInfos[0].Node)
			if v == nil {
				t.Fatal(status)
			}
			var requests, uses []string
			for _, q := range v.claim.Requests {
				requests = append(requests, fmt.Sprintf("%s:%d", q.Name, q.Alternatives[0].Count))
			}
			for _, u := range v.claim.Uses {
				uses = append(uses, u.Container+":"+u.Request)
			}
			if got := strings.Join(requests, " "); got != tt.requests {
				t.Errorf("requests %s, want %s", got, tt.requests)
			}
			if got := strings.Join(uses, " "); got != tt.uses {
				t.Errorf("uses %s, want %s", got, tt.uses)
			}
		})
	}
}

// Each node is asked for what it does not offer itself.
func TestResourcesDifferFromNodeToNode(t *testing.T) {
	w := asking(gpus, 1, "example.com/nic", 2)
	w.Containers = []model.Container{{Name: "a", Requests: w.Requests}}
	s := served(w, 1)
	nic := modeltest.DeviceClass("nic")
	nic.Resource = "example.com/nic"
	s.View.Put(nic)
	s.View.NodeInfos = append(s.View.NodeInfos, extpointstest.NodeWith(modeltest.Node("n3").Resource(gpus, 1).Resource("example.com/nic", 2).Build()))
	p, state := newPlugin(t, nil, s.View), s.State()
	p.PreFilter(state, s.Workload)
	st, _ := stateKey.Get(state)
	for i, want := range []string{"nic:2", "gpu:1 nic:2", ""} {
		var got []string
		v, status := st.resources.on(s.View.NodeInfos[i].Node)
		if status != nil {
			t.Error(status)
		}
		if v != nil {
			for _, q := range v.claim.Requests {
				got = append(got, fmt.Sprintf("%s:%d", q.Alternatives[0].Class, q.Alternatives[0].Count))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("n%d: %q, want %q", i+1, got, want)
		}
	}
	if a, _ := st.resources.on(s.View.NodeInfos[0].Node); a == nil {
		t.Error("no variant")
	} else if b, _ := st.resources.on(s.View.NodeInfos[0].Node); a != b {
		t.Error("the same question has two answers")
	}
}

// Containers that ask for nothing leave nothing to make.
func TestResourcesOfNoContainer(t *testing.T) {
	w := asking(gpus, 1)
	w.Containers = []model.Container{{Name: "a"}}
	s := served(w, 0)
	p, state := newPlugin(t, nil, s.View), s.State()
	p.PreFilter(state, s.Workload)
	if got := p.Filter(state, s.Workload, s.View.NodeInfos[0]); !got.IsSuccess() {
		t.Errorf("%v", got)
	}
	b := &model.Binding{Workload: "w", Node: "n1"}
	if status := p.Reserve(state, s.Workload, b); !status.IsSuccess() || len(b.Decided) != 0 {
		t.Errorf("%v, %d decided", status, len(b.Decided))
	}
}
