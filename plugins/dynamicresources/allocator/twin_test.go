package allocator_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// twin is the allocator without any thought for speed: it goes through all ways
// to give devices to the claims, in order, and checks each from scratch. The
// first that breaks no rule is the answer.
type twin struct {
	node   *model.Node
	slices []*model.DeviceSlice
	given  []*model.DeviceClaim // those with an allocation
	class  func(name string) *model.DeviceClass
	compat extpoints.Compat
	pools  []twinPool
}

type twinPool struct {
	id                  model.PoolID
	incomplete, invalid bool
	// all are the slices of the generation, seen those with something for the
	// node.
	all, seen []*model.DeviceSlice
}

// step is one device given to a demand.
type step struct {
	claim  *model.DeviceClaim
	req    *model.ClaimRequest
	demand *model.DeviceDemand
	slice  *model.DeviceSlice
	device *model.SliceDevice
}

func (s *step) id() model.DeviceID {
	return model.DeviceID{Driver: s.slice.Driver, Pool: s.slice.Pool, Device: s.device.Name}
}

// takes reports whether what is given in the step is taken away from others.
func (tw *twin) takes(s *step) bool {
	return !s.demand.AdminAccess || tw.compat == extpoints.KubeScheduler137
}

func (s *step) ref() string {
	if s.req.Prioritized {
		return s.req.Name + "/" + s.demand.Name
	}
	return s.req.Name
}

func reach(n *model.Node, name string, all bool, terms *model.NodeTerms) bool {
	switch {
	case name != "":
		return n.Name == name
	case all:
		return true
	}
	return terms != nil && terms.Matches(n)
}

func (tw *twin) sees(s *model.DeviceSlice) bool {
	if !s.PerDevice {
		return reach(tw.node, s.Node, s.AllNodes, s.Nodes)
	}
	return slices.ContainsFunc(s.Devices, func(d model.SliceDevice) bool { return reach(tw.node, d.Node, d.AllNodes, d.Nodes) })
}

// gather finds the pools of the node.
func (tw *twin) gather() {
	byID := map[model.PoolID]*twinPool{}
	for _, s := range tw.slices {
		if tw.sees(s) {
			id := model.PoolID{Driver: s.Driver, Pool: s.Pool}
			byID[id] = &twinPool{id: id}
		}
	}
	for id, p := range byID {
		newest := int64(-1)
		for _, s := range tw.slices {
			if (model.PoolID{Driver: s.Driver, Pool: s.Pool}) == id && tw.sees(s) {
				newest = max(newest, s.Generation)
			}
		}
		replaced := false
		for _, s := range tw.slices {
			if (model.PoolID{Driver: s.Driver, Pool: s.Pool}) != id {
				continue
			}
			replaced = replaced || s.Generation > newest
			if s.Generation == newest {
				p.all = append(p.all, s)
				if tw.sees(s) {
					p.seen = append(p.seen, s)
				}
			}
		}
		if int64(len(p.seen)) == p.seen[0].SliceCount {
			p.all = p.seen
		} else if replaced {
			continue
		}
		p.incomplete = int64(len(p.all)) != p.seen[0].SliceCount
		p.invalid = !p.incomplete && !valid(p)
		tw.pools = append(tw.pools, *p)
	}
	slices.SortFunc(tw.pools, func(a, b twinPool) int {
		return cmp.Or(cmp.Compare(conditions(&a), conditions(&b)), strings.Compare(a.id.Driver, b.id.Driver), strings.Compare(a.id.Pool, b.id.Pool))
	})
}

func conditions(p *twinPool) int {
	for _, s := range p.seen {
		if !p.incomplete && !p.invalid && slices.ContainsFunc(s.Devices, func(d model.SliceDevice) bool { return len(d.BindingConditions) > 0 }) {
			return 1
		}
	}
	return 0
}

func valid(p *twinPool) bool {
	names, sets := map[string]bool{}, map[string]map[string]int64{}
	for _, s := range p.all {
		for _, c := range s.Counters {
			if sets[c.Name] != nil {
				return false
			}
			sets[c.Name] = c.Counters
		}
	}
	for _, s := range p.all {
		for _, d := range s.Devices {
			if slices.Contains(p.seen, s) {
				if names[d.Name] {
					return false
				}
				names[d.Name] = true
			}
			for _, use := range d.Consumes {
				for name := range use.Counters {
					if _, found := sets[use.Set][name]; !found {
						return false
					}
				}
			}
		}
	}
	return true
}

// devices lists what can be tried for the demand, in order.
func (tw *twin) devices(claim *model.DeviceClaim, req *model.ClaimRequest, demand *model.DeviceDemand) []step {
	var list []step
	for i := range tw.pools {
		if tw.pools[i].incomplete || tw.pools[i].invalid {
			continue
		}
		for _, s := range tw.pools[i].seen {
			for j := range s.Devices {
				d := &s.Devices[j]
				if (!s.PerDevice || reach(tw.node, d.Node, d.AllNodes, d.Nodes)) && tw.selected(demand, s.Driver, d) {
					list = append(list, step{claim, req, demand, s, d})
				}
			}
		}
	}
	return list
}

func (tw *twin) selected(demand *model.DeviceDemand, driver string, d *model.SliceDevice) bool {
	for _, s := range slices.Concat(tw.class(demand.Class).Selectors, demand.Selectors) {
		for _, r := range s.Requirements {
			if !r.Matches(driver, d) {
				return false
			}
		}
	}
	return true
}

// solve returns the first way to serve the claims. The error is for a claim that
// can be served nowhere, or a node with invalid pools.
func (tw *twin) solve(claims []*model.DeviceClaim) ([]step, error) {
	tw.gather()
	for _, c := range claims {
		for i := range c.Requests {
			for j := range c.Requests[i].Alternatives {
				if c.Requests[i].Alternatives[j].All && slices.ContainsFunc(tw.pools, func(p twinPool) bool { return p.incomplete || p.invalid }) {
					return nil, fmt.Errorf("some pool is incomplete")
				}
			}
		}
	}
	steps, failure := tw.from(claims, 0, 0, nil)
	if failure != nil {
		return nil, failure
	}
	if steps == nil && slices.ContainsFunc(tw.pools, func(p twinPool) bool { return p.invalid }) {
		return nil, fmt.Errorf("invalid pools")
	}
	return steps, nil
}

// all lists the devices that a demand for all wants.
func (tw *twin) all(claim *model.DeviceClaim, req *model.ClaimRequest, d *model.DeviceDemand) []step {
	return slices.DeleteFunc(tw.devices(claim, req, d), func(s step) bool {
		for name, want := range amounts(s.device, d) {
			if want < 0 || want > s.device.Capacity[name].Amount {
				return true
			}
		}
		return !hasCapacities(s.device, d)
	})
}

// from goes on with a request after what was given to those before. A solution
// of no devices is an empty list, none is nil.
func (tw *twin) from(claims []*model.DeviceClaim, i, j int, before []step) ([]step, error) {
	if i == len(claims) {
		return append([]step{}, before...), nil
	}
	if j == len(claims[i].Requests) {
		return tw.from(claims, i+1, 0, before)
	}
	req := &claims[i].Requests[j]
	for k := range req.Alternatives {
		d := &req.Alternatives[k]
		if d.All {
			all := tw.all(claims[i], req, d)
			if len(all) == 0 {
				continue
			}
			with := before
			for _, s := range all {
				if broken := tw.breaks(append(slices.Clip(with), s)); broken == "constraint" {
					return nil, fmt.Errorf("a constraint and all devices")
				} else if broken != "" {
					with = nil
					break
				}
				with = append(slices.Clip(with), s)
			}
			if with == nil {
				continue
			}
			if steps, err := tw.from(claims, i, j+1, with); steps != nil || err != nil {
				return steps, err
			}
			continue
		}
		steps, err := tw.choose(claims, i, j, before, tw.devices(claims[i], req, d), d.Count)
		if steps != nil || err != nil {
			return steps, err
		}
	}
	return nil, nil
}

// choose tries all sets of n of the devices.
func (tw *twin) choose(claims []*model.DeviceClaim, i, j int, before, devices []step, n int64) ([]step, error) {
	if n == 0 {
		return tw.from(claims, i, j+1, before)
	}
	for k := range devices {
		with := append(slices.Clip(before), devices[k])
		if tw.breaks(with) != "" {
			continue
		}
		if steps, err := tw.choose(claims, i, j, with, devices[k+1:], n-1); steps != nil || err != nil {
			return steps, err
		}
	}
	return nil, nil
}

func hasCapacities(d *model.SliceDevice, demand *model.DeviceDemand) bool {
	for name := range demand.Capacity {
		if _, found := d.Capacity[name]; !found {
			return false
		}
	}
	return true
}

// amounts is what a demand takes of each capacity; -1 where it cannot be given.
func amounts(d *model.SliceDevice, demand *model.DeviceDemand) map[string]int64 {
	take := map[string]int64{}
	for name, c := range d.Capacity {
		want, asked := demand.Capacity[name]
		if !asked {
			want = c.Amount
			if c.Policy != nil && c.Policy.Default != nil {
				want = *c.Policy.Default
			}
			take[name] = want
			continue
		}
		if p := c.Policy; p != nil {
			given := int64(-1)
			for n := want; n <= 1000 && given < 0; n++ {
				ofRange := p.Min != nil && n >= *p.Min && n <= *p.Max && (n-*p.Min)%*p.Step == 0
				if ofRange || slices.Contains(p.Values, n) {
					given = n
				}
			}
			want = given
		}
		take[name] = want
	}
	return take
}

// breaks says which rule the steps break; empty for none. Only whether it is a
// constraint matters.
func (tw *twin) breaks(steps []step) string {
	last := steps[len(steps)-1]
	if slices.ContainsFunc(last.device.Taints, func(t model.Taint) bool {
		return t.Effect != model.NoEffect && len(last.demand.Tolerations) == 0
	}) {
		return "taint"
	}
	if tw.inUse(steps) {
		return "in use"
	}
	if tw.overdrawn(steps) {
		return "counters"
	}
	if constraintBroken(steps) {
		return "constraint"
	}
	if tw.overfull(steps) {
		return "capacity"
	}
	return ""
}

// others lists what claims have been given of the device.
func (tw *twin) others(id model.DeviceID) (whole, parts []model.AllocatedDevice) {
	for _, c := range tw.given {
		for _, a := range c.Allocation.Devices {
			if a.DeviceID == id && !a.AdminAccess {
				if a.Share == "" {
					whole = append(whole, a)
				} else {
					parts = append(parts, a)
				}
			}
		}
	}
	return whole, parts
}

func (tw *twin) inUse(steps []step) bool {
	for i, s := range steps {
		whole, parts := tw.others(s.id())
		if len(whole) > 0 && !s.demand.AdminAccess {
			return true
		}
		if len(parts) > 0 && !s.demand.AdminAccess && !s.device.Shared && tw.compat == extpoints.Improved {
			return true
		}
		for _, earlier := range steps[:i] {
			if earlier.id() != s.id() || s.device.Shared {
				continue
			}
			if earlier.claim == s.claim || !s.demand.AdminAccess && tw.takes(&earlier) {
				return true
			}
		}
	}
	return false
}

func (tw *twin) overdrawn(steps []step) bool {
	if last := &steps[len(steps)-1]; len(last.device.Consumes) == 0 || !tw.takes(last) {
		return false
	}
	for i := range tw.pools {
		p := &tw.pools[i]
		if tw.compat == extpoints.Improved {
			if tw.overdrawnOf(p, steps) {
				return true
			}
			continue
		}
		left := map[string]int64{}
		drawing := false
		for _, s := range p.all {
			for _, set := range s.Counters {
				for name, n := range set.Counters {
					left[set.Name+"."+name] += n
				}
			}
			for j := range s.Devices {
				d := &s.Devices[j]
				id := model.DeviceID{Driver: s.Driver, Pool: s.Pool, Device: d.Name}
				whole, parts := tw.others(id)
				times := 0
				if len(whole)+len(parts) > 0 {
					times = 1
				}
				seen := 0
				for _, st := range steps {
					if st.device == d && tw.takes(&st) {
						drawing = drawing || len(d.Consumes) > 0
						seen++
					}
				}
				switch {
				case !d.Shared:
					times += seen
				case len(parts) == 0 && seen > 0:
					times++
				}
				for _, use := range d.Consumes {
					for name, n := range use.Counters {
						left[use.Set+"."+name] -= int64(times) * n
					}
				}
			}
		}
		for _, n := range left {
			if n < 0 && drawing {
				return true
			}
		}
	}
	return false
}

// counters adds up by counter, or where most is set takes the largest.
func counters(sum map[string]int64, uses []model.CounterUse, most bool) {
	for _, use := range uses {
		for name, n := range use.Counters {
			if key := use.Set + "." + name; most {
				sum[key] = max(sum[key], n)
			} else {
				sum[key] += n
			}
		}
	}
}

// overdrawnOf reports whether a step cannot have what it draws on the counters of the pool.
func (tw *twin) overdrawnOf(p *twinPool, steps []step) bool {
	left, published := map[string]int64{}, map[string]*model.SliceDevice{}
	for _, s := range p.all {
		for _, set := range s.Counters {
			counters(left, []model.CounterUse{{Set: set.Name, Counters: set.Counters}}, false)
		}
		for j := range s.Devices {
			published[s.Devices[j].Name] = &s.Devices[j]
		}
	}
	names := map[string]bool{}
	for _, c := range tw.given {
		for _, a := range c.Allocation.Devices {
			if a.PoolID() == p.id && !a.AdminAccess {
				names[a.Device] = true
			}
		}
	}
	unknown := false
	drawn := map[string]map[string]int64{} // by device, as it is given to others
	for name := range names {
		drawn[name] = map[string]int64{}
		whole, parts := tw.others(model.DeviceID{Driver: p.id.Driver, Pool: p.id.Pool, Device: name})
		for _, a := range append(whole, parts...) {
			switch {
			case a.Drawn != nil:
				counters(drawn[name], a.Drawn.Counters, true)
			case published[name] != nil:
				counters(drawn[name], published[name].Consumes, true)
			default:
				unknown = true
			}
		}
	}
	// What others have, and then what each step adds.
	add := func(more map[string]int64) {
		for key, n := range more {
			if _, found := left[key]; found {
				left[key] -= n
			}
		}
	}
	for _, had := range drawn {
		add(had)
	}
	drawing, before := false, map[string]bool{}
	for _, st := range steps {
		if st.slice.Driver != p.id.Driver || st.slice.Pool != p.id.Pool || !tw.takes(&st) || before[st.device.Name] && st.device.Shared {
			continue
		}
		before[st.device.Name] = true
		now, more := map[string]int64{}, map[string]int64{}
		counters(now, st.device.Consumes, true)
		for key, n := range now {
			if st.device.Shared {
				n -= drawn[st.device.Name][key]
			}
			if n > 0 {
				more[key] = n
			}
		}
		_, given := drawn[st.device.Name]
		drawing = drawing || len(more) > 0 || len(now) > 0 && (!st.device.Shared || !given)
		add(more)
	}
	for _, n := range left {
		if n < 0 && drawing {
			return true
		}
	}
	return unknown && drawing
}

func (tw *twin) overfull(steps []step) bool {
	for _, s := range steps {
		if !hasCapacities(s.device, s.demand) {
			return true
		}
		for name, take := range amounts(s.device, s.demand) {
			if take < 0 {
				return true
			}
			if !tw.takes(&s) {
				if take > s.device.Capacity[name].Amount {
					return true
				}
				continue
			}
			_, parts := tw.others(s.id())
			for _, a := range parts {
				take += a.Consumed[name]
			}
			for _, o := range steps {
				if tw.takes(&o) && o.device == s.device && s.device.Shared && o != s {
					take += amounts(o.device, o.demand)[name]
				}
			}
			if take > s.device.Capacity[name].Amount {
				return true
			}
		}
	}
	return false
}

func constraintBroken(steps []step) bool {
	claim := steps[len(steps)-1].claim
	for _, k := range claim.Constraints {
		var values []model.AttributeValue
		for _, s := range steps {
			if s.claim != claim || len(k.Requests) > 0 && !slices.Contains(k.Requests, s.req.Name) && !slices.Contains(k.Requests, s.ref()) {
				continue
			}
			v, found := s.device.Attribute(s.slice.Driver, k.Match+k.Distinct)
			if !found {
				return true
			}
			for _, o := range values {
				if o.Equal(v) != (k.Match != "") {
					return true
				}
			}
			values = append(values, v)
		}
	}
	return false
}

// Claims come one or two at a time, on one node after the other, while the
// cluster fills up and changes; what one allocator gives them is what the twin
// would.
func TestAllocatorIsItsTwin(t *testing.T) {
	for name, compat := range map[string]extpoints.Compat{"improved": extpoints.Improved, "kube-scheduler": extpoints.KubeScheduler137} {
		t.Run(name, func(t *testing.T) { isItsTwin(t, compat) })
	}
}

func isItsTwin(t *testing.T, compat extpoints.Compat) {
	r := seeded(t)
	served, refused, failed := 0, 0, 0
	for round := range 4000 {
		w, a := randomWorld(r), allocator.New(allocator.Options{Compat: compat})
		if round%2 == 0 {
			w.lacks = func() bool { return r.IntN(2) == 0 }
		}
		for turn := range 5 {
			w.change(r)
			claims := []*model.DeviceClaim{modeltest.RandomDeviceClaim(r, fmt.Sprintf("c%d", turn))}
			if r.IntN(3) == 0 {
				claims = append(claims, modeltest.RandomDeviceClaim(r, fmt.Sprintf("e%d", turn)))
			}
			search := a.Prepare(w.view.Devices(), claims)
			n := w.nodes[r.IntN(len(w.nodes))]
			tw := w.twin(n)
			tw.compat = compat
			want, failure := tw.solve(claims)
			got, err := search.Allocate(n, 7)
			fits, errFits := search.Fits(n)
			if (failure == nil) != (err == nil) || (errFits == nil) != (err == nil) || fits != (got != nil) {
				t.Fatalf("round %d: error %v (asked only whether it fits: %v), want %v", round, err, errFits, failure)
			}
			if problem := tw.differ(got, want, claims); problem != "" {
				t.Fatalf("round %d: %s", round, problem)
			}
			switch {
			case err != nil:
				failed++
			case got == nil:
				refused++
			default:
				served++
				for i, c := range claims {
					w.put(c, got[i])
				}
			}
		}
	}
	t.Logf("%d served, %d refused, %d failed", served, refused, failed)
	if served < 1000 || refused < 1000 || failed < 100 {
		t.Error("that is too one-sided")
	}
}

func (tw *twin) differ(got []*model.Allocation, want []step, claims []*model.DeviceClaim) string {
	var g, w []string
	for i, a := range got {
		for _, d := range a.Devices {
			g = append(g, fmt.Sprint(claims[i].ID, " ", d.Request, " ", d.DeviceID, d.AdminAccess, d.Share != "", d.Consumed))
		}
	}
	for _, s := range want {
		var consumed map[string]int64
		if s.device.Shared && len(s.device.Capacity) > 0 && tw.takes(&s) {
			consumed = amounts(s.device, s.demand)
		}
		w = append(w, fmt.Sprint(s.claim.ID, " ", s.ref(), " ", s.id(), s.demand.AdminAccess, s.device.Shared, consumed))
	}
	if (got == nil) != (want == nil) || !slices.Equal(g, w) {
		return fmt.Sprintf("got\n%s\nwant\n%s", strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
	return ""
}
