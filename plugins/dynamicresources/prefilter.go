package dynamicresources

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

// PreEnqueue holds the workload back while one of its claims is missing.
func (p *DynamicResources) PreEnqueue(w *model.Workload) *extpoints.Status {
	if len(w.DeviceClaims) == 0 {
		return nil
	}
	if _, err := claimsOf(p.handle.View().Devices(), w); err != nil {
		return rejection(err.Error())
	}
	return nil
}

var inUse = rejection("device claim in use")

// PreFilter looks up the claims and prepares the search for devices. It skips
// workloads that need none.
func (p *DynamicResources) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	if len(w.DeviceClaims) == 0 && len(w.Requests.Scalars) == 0 {
		return nil, skip
	}
	devices := s.View().Devices()
	claims, err := claimsOf(devices, w.Workload)
	if err != nil {
		return nil, rejection(err.Error())
	}
	st := &state{claims: claims, resources: resourcesOf(devices, w.Workload)}
	if len(claims) == 0 && st.resources == nil {
		return nil, skip
	}
	if remembers, ok := p.allocator.(allocator.Forgetter); ok {
		remembers.Forget(s.View().Nodes())
	}
	var open []*model.DeviceClaim
	for i := range claims {
		c := &claims[i]
		if c.Allocation == nil {
			if status := checkClasses(devices, c.DeviceClaim); status != nil {
				return nil, status
			}
			open = append(open, c.DeviceClaim)
			continue
		}
		if len(c.ReservedFor) >= model.MaxClaimConsumers && !reservedFor(c.DeviceClaim, w.Workload) {
			return nil, inUse
		}
		c.broken = p.broken(c.DeviceClaim, s.Now())
	}
	if len(open) > 0 {
		st.search = p.allocator.Prepare(devices, open)
	}
	if st.resources != nil {
		st.resources.prepare(p.allocator, devices, open)
	}
	stateKey.Set(s, st)
	return nil, nil
}

// checkClasses rejects a claim that asks for a class that does not exist.
func checkClasses(devices extpoints.Devices, c *model.DeviceClaim) *extpoints.Status {
	for i := range c.Requests {
		r := &c.Requests[i]
		if len(r.Alternatives) == 0 {
			return rejection(fmt.Sprintf("device claim %s, request %s: unknown request type", c.DisplayName(), r.Name))
		}
		for j := range r.Alternatives {
			d := &r.Alternatives[j]
			name := r.Name
			if r.Prioritized {
				name += "/" + d.Name
			}
			if d.Class == "" {
				return extpoints.AsStatus(fmt.Errorf("request %s: unsupported request type", name))
			}
			if devices.Class(d.Class) == nil {
				return rejection(fmt.Sprintf("request %s: device class %s does not exist", name, d.Class))
			}
		}
	}
	return nil
}
