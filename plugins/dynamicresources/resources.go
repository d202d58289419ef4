package dynamicresources

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
	"github.com/berth-project/berth/plugins/helper"
)

// resources are the scalar resources of a workload that device classes stand
// for. Which of them devices must serve differs from node to node: those that
// the node does not offer as scalars. (extendeddynamicresources.go.)
type resources struct {
	workload *model.Workload
	// stale: there is a claim of an earlier attempt, which must go first.
	stale bool
	// served are those that a class stands for, by name; others are those that
	// none does.
	served []servedResource
	others []string

	allocator allocator.Allocator
	devices   extpoints.Devices
	open      []*model.DeviceClaim // the other claims to be served
	// variants are those met so far; a new list for each new one.
	variants atomic.Pointer[[]*variant]
}

type servedResource struct{ name, class string }

// variant is the claim for some of the served resources.
type variant struct {
	key    string // which: one byte for each of served, 1 or 0
	claim  *model.DeviceClaim
	search allocator.Search // for the open claims, and then for this
}

// claimName is what messages call the claim before it is made.
const claimName = "<extended-resources>"

var (
	staleClaim    = rejection("cannot schedule device claim for scalar resources")
	cannotFit     = rejection("cannot fit resource")
	claimDeletion = extpoints.NewStatus(extpoints.Unschedulable, "deletion of device claim completed")
)

// resourcesOf returns the scalar resources of the workload, nil where no class
// stands for any.
func resourcesOf(devices extpoints.Devices, w *model.Workload) *resources {
	r := &resources{workload: w}
	for _, s := range w.Requests.Scalars {
		if s.Amount == 0 {
			continue
		}
		if class := helper.DeviceClassFor(devices, s.Name); class != nil {
			r.served = append(r.served, servedResource{s.Name, class.Name})
		} else if helper.IsExtendedResource(s.Name) {
			r.others = append(r.others, s.Name)
		}
	}
	if len(r.served) == 0 {
		return nil
	}
	slices.SortFunc(r.served, func(a, b servedResource) int { return strings.Compare(a.name, b.name) })
	r.stale = devices.Claim(model.ResourceClaimID(w.ID)) != nil
	return r
}

// prepare says how variants are to be searched for.
func (r *resources) prepare(a allocator.Allocator, devices extpoints.Devices, open []*model.DeviceClaim) {
	r.allocator, r.devices, r.open = a, devices, slices.Clip(open)
}

// on returns the variant for the node, nil where devices need not serve any of
// the resources.
func (r *resources) on(n *model.Node) (*variant, *extpoints.Status) {
	if r.stale {
		return nil, staleClaim
	}
	key := make([]byte, 0, 16)
	any := byte(0)
	for i := range r.served {
		bit := byte(0)
		if n.Allocatable.Scalar(r.served[i].name) == 0 {
			bit, any = 1, 1
		}
		key = append(key, bit)
	}
	for _, name := range r.others {
		if !slices.ContainsFunc(n.Allocatable.Scalars, func(s model.Scalar) bool { return s.Name == name }) {
			return nil, cannotFit
		}
	}
	if any == 0 {
		return nil, nil
	}
	return r.variant(key), nil
}

// variant returns that of the key; nil where no container asks for any of it.
func (r *resources) variant(key []byte) *variant {
	for {
		known := r.variants.Load()
		var list []*variant
		if known != nil {
			list = *known
		}
		for _, v := range list {
			if v.key == string(key) {
				return v.ifAny()
			}
		}
		v := r.make(string(key))
		longer := append(slices.Clip(list), v)
		if r.variants.CompareAndSwap(known, &longer) {
			return v.ifAny()
		}
	}
}

// ifAny returns nil for a claim that asks for nothing.
func (v *variant) ifAny() *variant {
	if len(v.claim.Requests) == 0 {
		return nil
	}
	return v
}

func (r *resources) make(key string) *variant {
	w := r.workload
	v := &variant{key: key, claim: &model.DeviceClaim{
		ID: model.ResourceClaimID(w.ID), Namespace: w.Namespace, Name: claimName, Owner: w.ID, ForResources: true,
	}}
	for i := range r.served {
		if key[i] == 1 {
			r.request(v.claim, r.served[i])
		}
	}
	slices.SortFunc(v.claim.Requests, func(a, b model.ClaimRequest) int { return strings.Compare(a.Name, b.Name) })
	v.search = r.allocator.Prepare(r.devices, append(r.open, v.claim))
	return v
}

// request adds what the containers ask for of the resource to the claim. A
// container that ends before others begin can have what these will have, from
// the ones after it; for what it needs beyond that there is one request, which
// all such containers use one after the other. (createRequestsAndMappings.)
func (r *resources) request(c *model.DeviceClaim, res servedResource) {
	containers := r.workload.Containers
	if len(containers) == 0 {
		containers = []model.Container{{Name: r.workload.Name, Requests: r.workload.Requests}}
	}
	long := make([]containerRequest, len(containers))
	for i := range containers {
		if !containers[i].Startup {
			long[i] = newContainerRequest(i, &containers[i], res.name)
			c.Uses = append(c.Uses, long[i].uses(res.name)...)
		}
	}
	var largest containerRequest
	var short []model.ResourceUse
	var names []string
	for i := range containers {
		if !containers[i].Startup {
			continue
		}
		q := newContainerRequest(i, &containers[i], res.name)
		for j := i; j < len(long) && q.count > 0; j++ {
			if long[j].count > 0 {
				q.count -= long[j].count
				short = append(short, model.ResourceUse{Container: q.container, Resource: res.name, Request: long[j].name})
			}
		}
		if q.count > 0 {
			short = append(short, q.uses(res.name)...)
			names = append(names, q.name)
			if largest.count < q.count {
				largest = q
			}
		}
	}
	for i := range short {
		if slices.Contains(names, short[i].Request) {
			short[i].Request = largest.name
		}
	}
	c.Uses = append(c.Uses, short...)
	for _, q := range append(long, largest) {
		if q.count > 0 {
			c.Requests = append(c.Requests, model.ClaimRequest{Name: q.name, Alternatives: []model.DeviceDemand{{Class: res.class, Count: q.count}}})
		}
	}
}

// containerRequest is how much a container asks for of a resource, under a name
// of its own. (createResourceRequestAndMappings.)
type containerRequest struct {
	container, name string
	count           int64
}

func newContainerRequest(i int, c *model.Container, resource string) containerRequest {
	names := c.Requests.Names()
	slices.Sort(names)
	at := max(slices.Index(names, resource), 0)
	return containerRequest{c.Name, fmt.Sprintf("container-%d-request-%d", i, at), c.Requests.Scalar(resource)}
}

func (q *containerRequest) uses(resource string) []model.ResourceUse {
	if q.count <= 0 {
		return nil
	}
	return []model.ResourceUse{{Container: q.container, Resource: resource, Request: q.name}}
}

// made is the claim as it is decided on: with a name, and given devices.
func (v *variant) made(w *model.Workload) *model.DeviceClaim {
	c := *v.claim
	name := w.Name
	if name == "" {
		name = w.ID
	}
	c.Name = name + "-extended-resources"
	return &c
}
