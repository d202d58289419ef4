package reference

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// DescribeClaim says in words what a device claim has been given and who uses
// it. Of a device that is shared it does not say which part: that is a random
// name. The words are those of subject.DescribeClaim.
func DescribeClaim(claim *resourcev1.ResourceClaim) string {
	if claim == nil {
		return "none"
	}
	return DescribeAllocation(claim.Status.Allocation) + ", for " + consumers(claim.Status.ReservedFor)
}

// DescribeAllocation is the first part of DescribeClaim.
func DescribeAllocation(a *resourcev1.AllocationResult) string {
	if a == nil {
		return "nothing"
	}
	var words []string
	for _, d := range a.Devices.Results {
		text := fmt.Sprintf("%s %s/%s/%s", d.Request, d.Driver, d.Pool, d.Device)
		if d.AdminAccess != nil && *d.AdminAccess {
			text += " to watch"
		}
		for _, t := range d.Tolerations {
			operator := t.Operator
			if operator == "" {
				operator = resourcev1.DeviceTolerationOpEqual
			}
			text += fmt.Sprintf(" tolerating %q %s %q %q", t.Key, operator, t.Value, t.Effect)
		}
		if d.ShareID != nil {
			text += " in part"
		}
		for _, name := range slices.Sorted(maps.Keys(d.ConsumedCapacity)) {
			amount := d.ConsumedCapacity[name]
			text += fmt.Sprintf(" %s=%d", name, amount.Value())
		}
		if len(d.BindingConditions)+len(d.BindingFailureConditions) > 0 {
			text += fmt.Sprint(" awaiting ", d.BindingConditions, " and not ", d.BindingFailureConditions)
		}
		words = append(words, text)
	}
	for _, c := range a.Devices.Config {
		text := fmt.Sprint("config ", c.Requests, " from class ", c.Source == resourcev1.AllocationConfigSourceClass)
		if c.Opaque != nil {
			text += fmt.Sprint(" ", c.Opaque.Driver, " ", string(c.Opaque.Parameters.Raw))
		}
		words = append(words, text)
	}
	return strings.Join(words, ", ") + ", on " + nodes(a.NodeSelector)
}

func nodes(s *v1.NodeSelector) string {
	if s == nil {
		return "all nodes"
	}
	var terms []string
	for _, t := range s.NodeSelectorTerms {
		var words []string
		for _, r := range slices.Concat(t.MatchFields, t.MatchExpressions) {
			words = append(words, fmt.Sprint(r.Key, " ", r.Operator, " ", r.Values))
		}
		slices.Sort(words)
		terms = append(terms, strings.Join(words, " and "))
	}
	return "nodes with " + strings.Join(terms, " or ")
}

func consumers(list []resourcev1.ResourceClaimConsumerReference) string {
	names := []string{}
	for _, r := range list {
		if r.Resource == "pods" {
			names = append(names, r.Resource+" "+string(r.UID))
			continue
		}
		names = append(names, r.Resource+" "+r.Name)
	}
	slices.Sort(names)
	return fmt.Sprint(slices.Compact(names)) // an API server lets in each only once
}
