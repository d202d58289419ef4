package convert

import (
	"errors"
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"github.com/berth-project/berth/model"
)

var resourceClaimsPath = specPath.Child("resourceClaims")

// DeviceClaimID is the identity of a resource claim as a device claim:
// namespace/name.
func DeviceClaimID(namespace, name string) string { return namespace + "/" + name }

// DeviceClaimRefs are the claims that the pod uses, for
// [model.Workload].DeviceClaims. A claim that is to be made of a template has no
// ID while the pod's status does not name it, and is left out where the status
// says that there will be none.
//
// group is the pod group that the pod is a member of, nil for none or while it
// is not known. The claims that the group has under the same name, and means the
// same by, are reserved for the group. [Pod] knows no group: who keeps the
// workload of a member must ask here when the group comes, for nothing that a pod
// says itself tells the two apart. That the pod is a member of another group is
// an error.
//
// The error, a [*model.ValidationError], lists the claims that cannot be
// translated; the others are there even so.
//
// Rules: k8s.io/dynamic-resource-allocation resourceclaim/resourceclaim.go (Name,
// BindTo), v0.37.1.
func DeviceClaimRefs(p *v1.Pod, group *schedulingv1beta1.PodGroup) ([]model.DeviceClaimRef, error) {
	var c problems
	refs := c.claimRefs(p, group)
	return refs, c.err("pod", p.Namespace+"/"+p.Name)
}

func (p *problems) claimRefs(pod *v1.Pod, group *schedulingv1beta1.PodGroup) []model.DeviceClaimRef {
	var refs []model.DeviceClaimRef
	for i := range pod.Spec.ResourceClaims {
		claim := &pod.Spec.ResourceClaims[i]
		at := resourceClaimsPath.Index(i)
		name, generated, err := resourceclaim.Name(pod, claim)
		ref, used := p.claimRef(at, pod.Namespace, resolved{claim.Name, name, generated, err})
		if !used {
			continue
		}
		reserved, err := resourceclaim.BindTo(pod, group, claim)
		if err != nil {
			p.report(at, "%s", err)
			continue
		}
		ref.OfGroup = reserved.Resource == podGroupsResource
		refs = p.addRef(refs, at, ref)
	}
	return refs
}

// groupClaimRefs are the claims that all members of the group share.
//
// Rules: k8s.io/dynamic-resource-allocation resourceclaim/resourceclaim.go
// (NameFromPodGroup), v0.37.1.
func (p *problems) groupClaimRefs(g *schedulingv1beta1.PodGroup) []model.DeviceClaimRef {
	var refs []model.DeviceClaimRef
	for i := range g.Spec.ResourceClaims {
		claim := &g.Spec.ResourceClaims[i]
		at := resourceClaimsPath.Index(i)
		name, generated, err := resourceclaim.NameFromPodGroup(g, claim)
		if ref, used := p.claimRef(at, g.Namespace, resolved{claim.Name, name, generated, err}); used {
			ref.OfGroup = true
			refs = p.addRef(refs, at, ref)
		}
	}
	return refs
}

// resolved is what the helpers of the reference make of the name that a pod or a
// group has for a claim.
type resolved struct {
	local     string
	name      *string // of the claim; nil: there is none
	generated bool
	err       error
}

// claimRef is the use of a claim, where there is one.
func (p *problems) claimRef(at *field.Path, namespace string, r resolved) (_ model.DeviceClaimRef, used bool) {
	ref := model.DeviceClaimRef{Name: p.text(at.Child("name"), r.local), Generated: r.generated}
	switch {
	case ref.Name == "":
		p.report(at.Child("name"), "must not be empty")
		return ref, false
	case errors.Is(r.err, resourceclaim.ErrClaimNotFound):
		ref.Generated = true
	case r.err != nil:
		p.report(at, "names neither a claim nor a template")
		return ref, false
	case r.name == nil:
		return ref, false
	default:
		ref.ID = p.text(at, DeviceClaimID(namespace, *r.name))
	}
	return ref, true
}

func (p *problems) addRef(refs []model.DeviceClaimRef, at *field.Path, ref model.DeviceClaimRef) []model.DeviceClaimRef {
	if slices.ContainsFunc(refs, func(r model.DeviceClaimRef) bool { return r.Name == ref.Name }) {
		p.report(at.Child("name"), "%q is listed twice", ref.Name)
		return refs
	}
	return append(refs, ref)
}
