package allocator

import (
	"fmt"
	"slices"

	"github.com/berth-project/berth/model"
)

// allocations returns the solution that was found.
func (r *run) allocations(seed uint64) ([]*model.Allocation, error) {
	list := make([]*model.Allocation, len(r.claims))
	for i, c := range r.claims {
		nodes, err := r.nodes(i)
		if err != nil {
			return nil, err
		}
		a := &model.Allocation{Nodes: nodes, Config: r.config(i), Devices: make([]model.AllocatedDevice, 0, len(r.taken[i]))}
		for j := range r.taken[i] {
			a.Devices = append(a.Devices, r.given(&r.taken[i][j], shareSeed{seed, c.ID, j}))
		}
		list[i] = a
	}
	return list, nil
}

// given returns what the claim is told about a device.
func (r *run) given(t *taken, s shareSeed) model.AllocatedDevice {
	device := r.device(t.candidate)
	given := model.AllocatedDevice{
		DeviceID:          device.id,
		Request:           t.demand.ref,
		AdminAccess:       t.demand.admin,
		Tolerations:       t.demand.Tolerations,
		BindingConditions: device.BindingConditions,
		BindingFailures:   device.BindingFailures,
	}
	if !given.AdminAccess && len(r.node.pools[t.pool].stocks) > 0 {
		given.Drawn = device.drawn
	}
	if !device.Shared {
		return given
	}
	given.Share = s.id()
	if len(t.consumed) > 0 {
		given.Consumed = make(map[string]int64, len(t.consumed))
		for i, amount := range t.consumed {
			given.Consumed[device.capacities[i].name] = amount
		}
	}
	return given
}

// nodes says from where the devices of the claim can be used, nil for
// everywhere. (createNodeSelector.)
func (r *run) nodes(claim int) (*model.NodeTerms, error) {
	var term model.NodeTerm
	for _, t := range r.taken[claim] {
		d := r.device(t.candidate)
		name, nodes := d.slice.Node, d.slice.Nodes
		if d.slice.PerDevice {
			name, nodes = d.Node, d.Nodes
		}
		if name != "" || d.BindsToNode {
			here := model.Requirement{Key: model.FieldName, Operator: model.In, Values: []string{r.model.Name}}
			return &model.NodeTerms{Terms: []model.NodeTerm{{Fields: []model.Requirement{here}}}}, nil
		}
		switch {
		case nodes == nil || len(nodes.Terms) == 0:
		case len(nodes.Terms) == 1:
			term.Fields = addRequirements(term.Fields, nodes.Terms[0].Fields)
			term.Labels = addRequirements(term.Labels, nodes.Terms[0].Labels)
		default:
			return nil, fmt.Errorf("create node terms for claim %s: unsupported device slice with %d node terms", r.claims[claim].Name, len(nodes.Terms))
		}
	}
	if len(term.Fields) == 0 && len(term.Labels) == 0 {
		return nil, nil
	}
	return &model.NodeTerms{Terms: []model.NodeTerm{term}}, nil
}

// addRequirements adds those that are not in the list yet; the order of values
// has no meaning.
func addRequirements(list, more []model.Requirement) []model.Requirement {
	for _, r := range more {
		known := slices.ContainsFunc(list, func(o model.Requirement) bool {
			return o.Key == r.Key && o.Operator == r.Operator && sameSet(o.Values, r.Values)
		})
		if !known {
			list = append(list, r)
		}
	}
	return list
}

func sameSet(a, b []string) bool {
	within := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(v string) bool { return !slices.Contains(b, v) })
	}
	return within(a, b) && within(b, a)
}

// config collects the configuration of the claim and of the classes that its
// devices are of. What is for all requests names none.
func (r *run) config(claim int) []model.AllocatedConfig {
	c := r.claims[claim]
	var list []model.AllocatedConfig
	type span struct{ start, end int }
	of := map[string]span{} // by class, in list
	for i := range c.requests {
		d := r.demandOf(claim, i)
		if at, known := of[d.class.Name]; known {
			for j := at.start; j < at.end; j++ {
				list[j].Requests = append(list[j].Requests, d.ref)
			}
			continue
		}
		start := len(list)
		for _, config := range d.class.Config {
			config.Requests = []string{d.ref}
			list = append(list, model.AllocatedConfig{FromClass: true, DeviceConfig: config})
		}
		of[d.class.Name] = span{start, len(list)}
	}
	for _, config := range c.Config {
		if len(config.Requests) == 0 || r.concernsAny(claim, config.Requests) {
			list = append(list, model.AllocatedConfig{DeviceConfig: config})
		}
	}
	for i := range list {
		if len(list[i].Requests) > 0 && r.concernsAll(claim, list[i].Requests) {
			list[i].Requests = nil
		}
	}
	return list
}

// demandOf is the alternative that was chosen for the request.
func (r *run) demandOf(claim, request int) *demand {
	return r.claims[claim].requests[request].alternatives[r.chosen[claim][request]]
}

// names reports whether the list has the request, or the alternative that was
// chosen for it.
func (r *run) names(list []string, claim, request int) bool {
	return slices.Contains(list, r.claims[claim].requests[request].Name) || slices.Contains(list, r.demandOf(claim, request).ref)
}

func (r *run) concernsAny(claim int, names []string) bool {
	for i := range r.claims[claim].requests {
		if r.names(names, claim, i) {
			return true
		}
	}
	return false
}

func (r *run) concernsAll(claim int, names []string) bool {
	for i := range r.claims[claim].requests {
		if !r.names(names, claim, i) {
			return false
		}
	}
	return true
}

// shareSeed is what the ID of a share is derived from: the cycle, the claim, and
// which of the claim's devices it is.
type shareSeed struct {
	seed   uint64
	claim  string
	number int
}

// id returns a name in the form of a UUID, because Kubernetes wants one. (Two
// FNV-1a hashes, their bits mixed by the finalizer of SplitMix64.)
func (s shareSeed) id() string {
	half := func(basis uint64) uint64 {
		const prime = 0x100000001b3
		h := basis
		for shift := 0; shift < 64; shift += 8 {
			h = (h ^ s.seed>>shift&0xff) * prime
		}
		for i := range len(s.claim) {
			h = (h ^ uint64(s.claim[i])) * prime
		}
		h = (h ^ uint64(s.number)) * prime
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		return h ^ h>>31
	}
	high, low := half(0xcbf29ce484222325), half(0x9e3779b97f4a7c15)
	high = high&^0xf000 | 0x8000 // version 8: made in a way of one's own
	low = low&^(3<<62) | 2<<62   // variant of RFC 9562
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", high>>32, high>>16&0xffff, high&0xffff, low>>48, low&(1<<48-1))
}
