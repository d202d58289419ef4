package dynamicresources

import (
	"fmt"
	"slices"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// claimsOf looks up the claims of the workload, each once. The error says why
// the workload cannot be scheduled as long as they are as they are.
// (foreachPodResourceClaim.)
func claimsOf(devices extpoints.Devices, w *model.Workload) ([]claim, error) {
	if len(w.DeviceClaims) == 0 {
		return nil, nil
	}
	claims := make([]claim, 0, len(w.DeviceClaims))
	for i := range w.DeviceClaims {
		ref := &w.DeviceClaims[i]
		if ref.ID == "" {
			return nil, fmt.Errorf("workload %q: device claim not created yet", w.DisplayName())
		}
		c := devices.Claim(ref.ID)
		if c == nil {
			return nil, fmt.Errorf("could not find device claim %q", ref.ID)
		}
		if c.Deleting {
			return nil, fmt.Errorf("device claim %q is being deleted", nameOf(c))
		}
		if ref.Generated {
			if err := madeFor(c, w, ref); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(claims, func(o claim) bool { return o.ID == c.ID }) {
			continue
		}
		consumer := model.Consumer{Workload: w.ID}
		if ref.OfGroup && w.Group != "" {
			consumer = model.Consumer{Group: w.Group}
		}
		claims = append(claims, claim{DeviceClaim: c, consumer: consumer})
	}
	return claims, nil
}

// nameOf is the claim's name without its namespace.
func nameOf(c *model.DeviceClaim) string {
	if c.Name == "" {
		return c.ID
	}
	return c.Name
}

// madeFor reports, as an error, where the claim was not made for the workload,
// or for its group where the claim is the group's.
// (k8s.io/dynamic-resource-allocation resourceclaim/resourceclaim.go IsForPod,
// 0.37.1.)
func madeFor(c *model.DeviceClaim, w *model.Workload, ref *model.DeviceClaimRef) error {
	switch {
	case c.Namespace != w.Namespace:
		return fmt.Errorf("device claim %s is not in the same namespace as workload %s", c.DisplayName(), w.DisplayName())
	case c.Owner == w.ID:
		return nil
	case !ref.OfGroup || w.Group == "":
		return fmt.Errorf("device claim %s was not created for workload %s (workload is not owner)", c.DisplayName(), w.DisplayName())
	case c.OwnerGroup != w.Group:
		return fmt.Errorf("device claim %s was not created for workload %s (neither workload nor group %s is the owner)", c.DisplayName(), w.DisplayName(), w.Group)
	}
	return nil
}

// reservedFor reports whether the claim is reserved for the workload, or for its
// group.
func reservedFor(c *model.DeviceClaim, w *model.Workload) bool {
	return c.Reserved(model.Consumer{Workload: w.ID}) || w.Group != "" && c.Reserved(model.Consumer{Group: w.Group})
}

// readiness says how far the binding conditions of a claim's devices are.
type readiness uint8

const (
	ready   readiness = iota // all are true, or there are none
	waiting                  // some are not true yet
	ruined                   // a failure is
)

// readinessOf looks at the devices in their order. (isClaimReadyForBinding.)
func readinessOf(c *model.DeviceClaim) readiness {
	for i := range c.Allocation.Devices {
		d := &c.Allocation.Devices[i]
		if len(d.BindingConditions) == 0 {
			continue
		}
		at := slices.IndexFunc(c.Conditions, func(o model.DeviceConditions) bool { return o.DeviceID == d.DeviceID })
		if at < 0 {
			return waiting
		}
		holds := func(condition string) bool { return slices.Contains(c.Conditions[at].True, condition) }
		if slices.ContainsFunc(d.BindingFailures, holds) {
			return ruined
		}
		for _, condition := range d.BindingConditions {
			if !holds(condition) {
				return waiting
			}
		}
	}
	return ready
}

// broken reports whether the devices of the claim will not become ready: one has
// failed, or they take too long.
func (p *DynamicResources) broken(c *model.DeviceClaim, now time.Time) bool {
	switch readinessOf(c) {
	case ruined:
		return true
	case waiting:
		return !c.Allocation.At.IsZero() && c.Allocation.At.Add(p.timeout).Before(now)
	}
	return false
}

// hasConditions reports whether some device has binding conditions.
func hasConditions(a *model.Allocation) bool {
	return slices.ContainsFunc(a.Devices, func(d model.AllocatedDevice) bool { return len(d.BindingConditions) > 0 })
}
