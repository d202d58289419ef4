package dynamicresources

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// Claims that are missing keep the workload out of the queue, and once it is in
// reject it before any node is looked at.
func TestClaimsMustBeThere(t *testing.T) {
	own := func(change func(*model.DeviceClaim)) *model.DeviceClaim {
		return one("c", func(c *model.DeviceClaim) { c.Name, c.Owner = "claim", "w" }, change)
	}
	generated := using("c")
	generated.DeviceClaims[0].Generated = true
	notYet := using("")
	notYet.DeviceClaims[0].Generated = true
	ofGroup := using("c")
	ofGroup.Group, ofGroup.DeviceClaims = "g", []model.DeviceClaimRef{{Name: "c", ID: "c", Generated: true, OfGroup: true}}
	ungrouped := ofGroup.Clone()
	ungrouped.DeviceClaims[0].OfGroup = false
	tests := []struct {
		name  string
		w     *model.Workload
		claim *model.DeviceClaim
		want  string
	}{
		{"it is there", using("c"), own(func(c *model.DeviceClaim) {}), ""},
		{"no claim", using("c"), nil, `could not find device claim "c"`},
		{"not made yet", notYet, nil, `workload "ns/w": device claim not created yet`},
		{"on its way out", using("c"), own(func(c *model.DeviceClaim) { c.Deleting = true }), `device claim "claim" is being deleted`},
		{"made for it", generated, own(func(c *model.DeviceClaim) {}), ""},
		{"made for another", generated, own(func(c *model.DeviceClaim) { c.Owner = "v" }), "device claim ns/claim was not created for workload ns/w (workload is not owner)"},
		{"made for nobody", generated, own(func(c *model.DeviceClaim) { c.Owner = "" }), "device claim ns/claim was not created for workload ns/w (workload is not owner)"},
		{"shared with another", using("c"), own(func(c *model.DeviceClaim) { c.Owner = "v" }), ""},
		{"in another namespace", generated, own(func(c *model.DeviceClaim) { c.Namespace = "other" }), "device claim other/claim is not in the same namespace as workload ns/w"},
		{"made for its group", ofGroup, own(func(c *model.DeviceClaim) { c.Owner, c.OwnerGroup = "", "g" }), ""},
		{"made for another group", ofGroup, own(func(c *model.DeviceClaim) { c.Owner, c.OwnerGroup = "", "h" }), "device claim ns/claim was not created for workload ns/w (neither workload nor group g is the owner)"},
		{"made for its group, but used as its own", ungrouped, own(func(c *model.DeviceClaim) { c.Owner, c.OwnerGroup = "", "g" }), "device claim ns/claim was not created for workload ns/w (workload is not owner)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := situation(tt.w)
			if tt.claim != nil {
				s.View.Put(tt.claim)
			}
			p := newPlugin(t, nil, s.View)
			_, status := p.PreFilter(s.State(), s.Workload)
			for point, status := range map[string]*extpoints.Status{"PreEnqueue": p.PreEnqueue(tt.w), "PreFilter": status} {
				if status.Message() != tt.want || tt.want != "" && status.Code() != extpoints.UnschedulableAndUnresolvable || tt.want == "" && !status.IsSuccess() {
					t.Errorf("%s says %v, want %q", point, status, tt.want)
				}
			}
		})
	}
}

func TestPreFilter(t *testing.T) {
	full := func(c *model.DeviceClaim) {
		for i := range model.MaxClaimConsumers {
			reserved(fmt.Sprintf("w%d", i))(c)
		}
	}
	tests := []struct {
		name   string
		w      *model.Workload
		claims []model.Object
		want   string
	}{
		{"no claims", using(), nil, "Skip"},
		{"a claim to be served", using("c"), []model.Object{one("c")}, "Success"},
		{"a claim that others use", using("c"), []model.Object{one("c", given("n1", "d0"), reserved("v"))}, "Success"},
		{"a claim that too many use", using("c"), []model.Object{one("c", given("n1", "d0"), full)}, "UnschedulableAndUnresolvable: device claim in use"},
		{"a claim that it is among too many to use", using("c"), []model.Object{one("c", given("n1", "d0"), reserved("w"), full)}, "Success"},
		{"a class that does not exist", using("c"), []model.Object{modeltest.DeviceClaim("c").Request("r", "none", 1).Build()}, "UnschedulableAndUnresolvable: request r: device class none does not exist"},
		{"a class of an alternative that does not exist", using("c"),
			[]model.Object{modeltest.DeviceClaim("c").FirstOf("r", modeltest.Demand("a", "gpu", 1), modeltest.Demand("b", "none", 1)).Build()},
			"UnschedulableAndUnresolvable: request r/b: device class none does not exist"},
		{"such a class of a claim that has its devices", using("c"), []model.Object{one("c", given("n1", "d0"), func(c *model.DeviceClaim) { c.Requests[0].Alternatives[0].Class = "none" })}, "Success"},
		{"no class", using("c"), []model.Object{modeltest.DeviceClaim("c").Request("r", "", 1).Build()}, "Error: request r: unsupported request type"},
		{"no alternatives", using("c"), []model.Object{modeltest.DeviceClaim("c").FirstOf("r").Build()}, "UnschedulableAndUnresolvable: device claim c, request r: unknown request type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := situation(tt.w, tt.claims...)
			if _, status := newPlugin(t, nil, s.View).PreFilter(s.State(), s.Workload); status.String() != tt.want {
				t.Errorf("got %v, want %s", status, tt.want)
			}
		})
	}
}

// withConditions gives a claim a device of n1 with conditions, of which those
// named are true.
func withConditions(since time.Duration, holds ...string) func(*model.DeviceClaim) {
	return func(c *model.DeviceClaim) {
		given("n1", "d0")(c)
		d := &c.Allocation.Devices[0]
		d.BindingConditions, d.BindingFailures = []string{"Attached", "Ready"}, []string{"Broken"}
		c.Allocation.At = extpointstest.Now.Add(-since)
		c.Conditions = []model.DeviceConditions{{DeviceID: d.DeviceID, True: holds}}
	}
}

func TestFilter(t *testing.T) {
	const (
		ok      = "Success"
		full    = "UnschedulableAndUnresolvable: cannot allocate all claims"
		far     = "UnschedulableAndUnresolvable: device claim not available on the node"
		invalid = "UnschedulableAndUnresolvable: invalid resource pools were encountered"
	)
	broken := modeltest.DeviceSlice(driver, "n2").Node("n2").Device("d").Device("d").Build()
	tests := []struct {
		name    string
		w       *model.Workload
		objects []model.Object
		n1, n2  string
	}{
		{"one node has a device", using("c"), []model.Object{one("c"), slice("n1", 1)}, ok, full},
		{"the device is given away", using("c"), []model.Object{one("c"), slice("n1", 1), one("o", given("n1", "d0"))}, full, full},
		{"the claim has a device", using("c"), []model.Object{one("c", given("n1", "d0")), slice("n1", 1)}, ok, far},
		{"it has one from everywhere", using("c"), []model.Object{one("c", given("n1", "d0"), func(c *model.DeviceClaim) { c.Allocation.Nodes = nil })}, ok, ok},
		{"one claim has a device, one has none yet", using("c", "e"), []model.Object{one("c", given("n2", "d0")), one("e"), slice("n1", 1), slice("n2", 2)}, far, ok},
		{"no device is worse than a device elsewhere", using("c", "e"), []model.Object{one("c", given("n1", "d0")), one("e"), slice("n1", 2)}, ok, full},
		{"a claim named twice is one claim", using("c", "c"), []model.Object{one("c"), slice("n1", 1)}, ok, full},
		{"a pool contradicts itself", using("c"), []model.Object{one("c"), slice("n1", 1), broken}, ok, invalid},
		{"conditions are not true yet", using("c"), []model.Object{one("c", withConditions(time.Minute, "Ready"))}, ok, far},
		{"conditions are true", using("c"), []model.Object{one("c", withConditions(time.Hour, "Ready", "Attached"))}, ok, far},
		{"conditions take too long", using("c"), []model.Object{one("c", withConditions(time.Hour, "Ready"))}, far, far},
		{"nothing is known of conditions, too long", using("c"), []model.Object{one("c", withConditions(time.Hour), func(c *model.DeviceClaim) { c.Conditions = nil })}, far, far},
		{"conditions since who knows when", using("c"), []model.Object{one("c", withConditions(0), func(c *model.DeviceClaim) { c.Allocation.At = time.Time{} })}, ok, far},
		{"a failure is true", using("c"), []model.Object{one("c", withConditions(0, "Ready", "Attached", "Broken"))}, far, far},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := situation(tt.w, tt.objects...)
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

// What keeps conditions waiting is an argument.
func TestBindingTimeout(t *testing.T) {
	s := situation(using("c"), one("c", withConditions(time.Minute)))
	for timeout, want := range map[time.Duration]bool{time.Second: false, time.Minute: true, time.Hour: true} {
		p, state := newPlugin(t, Args{BindingTimeout: timeout}, s.View), s.State()
		p.PreFilter(state, s.Workload)
		if got := p.Filter(state, s.Workload, s.View.NodeInfos[0]); got.IsSuccess() != want {
			t.Errorf("%v: %v", timeout, got)
		}
	}
}

// A search without end is given up, and the workload is tried again.
func TestFilterGivesUp(t *testing.T) {
	claim := modeltest.DeviceClaim("c").Request("r", "gpu", 10).Match("root").Build()
	i := 0
	s := situation(using("c"), claim, slice("n1", 19, func(d *model.SliceDevice) {
		modeltest.Attribute("root", i/9)(d) // one too few of the first
		if i < 17 {
			i++
		}
	}))
	p, state := newPlugin(t, Args{MaxSteps: 1000}, s.View), s.State()
	p.PreFilter(state, s.Workload)
	got := p.Filter(state, s.Workload, s.View.NodeInfos[0])
	if got.String() != "Error: node n1: timed out trying to allocate devices" {
		t.Errorf("got %v", got)
	}
	patient := newPlugin(t, nil, s.View)
	patient.PreFilter(state, s.Workload)
	if got := patient.Filter(state, s.Workload, s.View.NodeInfos[0]); !got.IsSuccess() {
		t.Errorf("with more patience: %v", got)
	}
}

// Other errors are about the claim, and stop the cycle.
func TestFilterFails(t *testing.T) {
	claim := one("c", func(c *model.DeviceClaim) {
		c.Requests[0].Alternatives[0].Selectors = []model.DeviceSelector{{Expression: "true"}}
	})
	s := situation(using("c"), claim, slice("n1", 1))
	p, state := newPlugin(t, nil, s.View), s.State()
	p.PreFilter(state, s.Workload)
	if got := p.Filter(state, s.Workload, s.View.NodeInfos[0]); got.String() != "Error: claim ns/c: selector #0: there is no evaluator for expressions" {
		t.Errorf("got %v", got)
	}
}

func TestScore(t *testing.T) {
	large := func(d *model.SliceDevice) { modeltest.Capacity("memory", 80, nil)(d) }
	big := modeltest.DeviceClass("big", model.DeviceRequirement{Capacity: "memory", Operator: model.CompareExists})
	first := func(id string) *model.DeviceClaim {
		return modeltest.DeviceClaim(id).FirstOf("r", modeltest.Demand("big", "big", 1), modeltest.Demand("two", "gpu", 2), modeltest.Demand("one", "gpu", 1)).Build()
	}
	had := first("c")
	had.Allocation = &model.Allocation{Devices: []model.AllocatedDevice{{Request: "r/two"}, {Request: "r/two"}}}
	tests := []struct {
		name    string
		w       *model.Workload
		objects []model.Object
		want    []int64
	}{
		{"the first, and the second alternative", using("c"), []model.Object{first("c"), slice("n1", 1, large), slice("n2", 2)}, []int64{8, 7}},
		{"the third alternative", using("c"), []model.Object{first("c"), slice("n1", 1), slice("n2", 1, large)}, []int64{6, 8}},
		{"two claims", using("c", "e"), []model.Object{first("c"), first("e"), slice("n1", 3), slice("n2", 2, large)}, []int64{13, 16}},
		{"a claim from before counts beside a new one", using("c", "e"), []model.Object{had, first("e"), slice("n1", 1), slice("n2", 1, large)}, []int64{13, 15}},
		{"a claim from before does not count alone", using("c"), []model.Object{had, slice("n1", 1)}, []int64{0, 0}},
		{"no alternatives", using("c"), []model.Object{one("c"), slice("n1", 1), slice("n2", 1)}, []int64{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := situation(tt.w, append(tt.objects, big)...)
			p, state := newPlugin(t, nil, s.View), s.State()
			p.PreFilter(state, s.Workload)
			var got []int64
			for _, n := range s.View.NodeInfos {
				score, status := p.Score(state, s.Workload, n)
				if !status.IsSuccess() {
					t.Errorf("%s: %v", n.Node.Name, status)
				}
				got = append(got, score)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	scores := []int64{16, 8, 0}
	if status := (&DynamicResources{}).NormalizeScore(nil, nil, nil, scores); status != nil || !slices.Equal(scores, []int64{100, 50, 0}) {
		t.Errorf("normalized: %v, %v", scores, status)
	}
}

func TestSign(t *testing.T) {
	s := situation(using("c"))
	class := modeltest.DeviceClass("x")
	class.Resource = "example.com/gpu"
	s.View.Put(class)
	p := newPlugin(t, nil, s.View)
	served, other := using(), using()
	served.Requests.Set("example.com/gpu", 1)
	other.Requests.Set("example.com/fpga", 1)
	for _, tt := range []struct {
		w    *model.Workload
		want string
	}{
		{using("c"), "Unschedulable: workloads with device claims are not signable"},
		{served, "Unschedulable: signature disabled when scalar resources of device classes are used in the cluster"},
		{other, "Success"},
		{using(), "Success"},
	} {
		if _, status := p.Sign(tt.w); status.String() != tt.want {
			t.Errorf("got %v, want %s", status, tt.want)
		}
	}
}

func TestArgs(t *testing.T) {
	for _, tt := range []struct {
		args any
		want string
	}{
		{nil, ""},
		{Args{BindingTimeout: time.Second, MaxSteps: 1}, ""},
		{&Args{BindingTimeout: time.Millisecond, MaxSteps: -1}, `arguments of plugin "DynamicResources": bindingTimeout: 1ms is less than a second; maxSteps: -1 is less than 0`},
		{Args{Allocator: Args{}.WithDefaults().Allocator, MaxSteps: 1, Evaluator: evaluator{}}, `arguments of plugin "DynamicResources": maxSteps: is for the allocator that is replaced; evaluator: is for the allocator that is replaced`},
	} {
		_, err := extpoints.FactoryOf(New)(tt.args, extpointstest.NewHandle())
		if got := fmt.Sprint(err); tt.want == "" && err != nil || tt.want != "" && got != tt.want {
			t.Errorf("%+v: %v", tt.args, err)
		}
	}
}

// evaluator knows one expression.
type evaluator struct{}

func (evaluator) Evaluate(expression, driver string, d *model.SliceDevice) (bool, error) {
	return expression == "name is "+d.Name, nil
}

func TestExpressions(t *testing.T) {
	claim := one("c", func(c *model.DeviceClaim) {
		c.Requests[0].Alternatives[0].Selectors = []model.DeviceSelector{{Expression: "name is d1"}}
	})
	s := situation(using("c"), claim, slice("n1", 1), slice("n2", 2))
	p, state := newPlugin(t, Args{Evaluator: evaluator{}}, s.View), s.State()
	p.PreFilter(state, s.Workload)
	for i, want := range []bool{false, true} {
		if got := p.Filter(state, s.Workload, s.View.NodeInfos[i]); got.IsSuccess() != want {
			t.Errorf("n%d: %v", i+1, got)
		}
	}
}
