package pluginlevel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/plugins"
)

// addSigned adds a pod to those whose signatures are compared, and others that
// differ from it a little, or in nothing that matters.
func (c *comparison) addSigned(p *v1.Pod) {
	c.signed = append(c.signed, p, c.ChangePod(p), c.ChangePod(p), reordered(p))
	renamed := p.DeepCopy()
	renamed.Name, renamed.UID = p.Name+"-2", p.UID+"-2"
	c.signed = append(c.signed, renamed)
}

// reordered has some lists of the pod the other way round.
func reordered(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	slices.Reverse(p.Spec.Tolerations)
	slices.Reverse(p.Spec.InitContainers)
	slices.Reverse(p.Spec.TopologySpreadConstraints)
	for i := range p.Spec.Containers {
		slices.Reverse(p.Spec.Containers[i].Ports)
	}
	return p
}

// compareSignatures checks that two pods have the same signature on one side if,
// and only if, they have on the other. What it looks like is each side's affair.
func (c *comparison) compareSignatures() {
	for _, p := range c.pairs {
		ref, ok := p.reference.(fwk.SignPlugin)
		if !ok {
			continue
		}
		var refs, subs []string
		for i, pod := range c.signed {
			unsigned := fmt.Sprint("not signed, so like no other: ", i)
			refText, ok := c.sign(ref, pod)
			if !ok {
				refText = unsigned
			}
			subText, ok := p.subject.sign(c.workload(pod))
			if !ok {
				subText = unsigned
			}
			for j := range refs {
				c.compareSigned(p, j, i, [2]string{refs[j], refText}, [2]string{subs[j], subText})
			}
			refs, subs = append(refs, refText), append(subs, subText)
		}
	}
}

// compareSigned compares what each side says of two pods.
func (c *comparison) compareSigned(p *pair, i, j int, refs, subs [2]string) {
	ref, sub := refs[0] == refs[1], subs[0] == subs[1]
	where := p.name + " Sign"
	switch {
	case ref && !sub:
		where += " for pods that only the subject tells apart"
	case !ref && sub:
		where += " for pods that only the reference tells apart" + c.alike(p, c.signed[i], c.signed[j])
	}
	c.report.Compare(where, fmt.Sprint(ref), fmt.Sprint(sub), func() string {
		return fmt.Sprintf("reference %v; subject %v; %s; %s", refs, subs, c.detail(p, c.signed[i], nil)(), twin.Describe(c.signed[j], nil))
	})
}

// alike says of two pods that only the reference tells apart that it does so by
// what makes no difference to the plugin.
func (c *comparison) alike(p *pair, a, b *v1.Pod) string {
	if p.subject.Name() == plugins.PodTopologySpread {
		wa, wb := c.workload(a), c.workload(b)
		if wa.OwnerSelector == nil && wb.OwnerSelector == nil && len(wa.Spread)+len(wb.Spread) == 0 {
			return ", although no constraint applies to them"
		}
		return ""
	}
	if p.subject.Name() == plugins.DynamicResources {
		if c.usesNoClaim(a) && c.usesNoClaim(b) {
			return ", although they get no claims"
		}
		return ""
	}
	point := p.reference.(fwk.SignPlugin)
	signA, okA := c.sign(point, c.plainly(a))
	signB, okB := c.sign(point, c.plainly(b))
	if okA && okB && signA == signB {
		return ", by how the same is written"
	}
	return ""
}

// usesNoClaim reports whether the pod's status says of all its claims to devices
// that there will be none.
func (c *comparison) usesNoClaim(p *v1.Pod) bool { return len(c.workload(p).DeviceClaims) == 0 }

// plainly is the pod with defaults filled in and lists in order, and without the
// host ports of containers that end before the pod runs, volumes that no plugin
// looks at, and tolerations that tolerate nothing.
func (c *comparison) plainly(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	p.Spec.Tolerations = slices.DeleteFunc(p.Spec.Tolerations, func(t v1.Toleration) bool {
		return !c.Compares() && (t.Operator == v1.TolerationOpGt || t.Operator == v1.TolerationOpLt)
	})
	p.Spec.Volumes = slices.DeleteFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.EmptyDir != nil || v.CSI != nil })
	for i := range p.Spec.Tolerations {
		if t := &p.Spec.Tolerations[i]; t.Operator == "" {
			t.Operator = v1.TolerationOpEqual
		}
	}
	slices.SortFunc(p.Spec.Tolerations, func(a, b v1.Toleration) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value),
			strings.Compare(string(a.Effect), string(b.Effect)), strings.Compare(string(a.Operator), string(b.Operator)))
	})
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy == nil {
			c.Ports = nil
		}
	}
	return p
}

// sign is the reference's part of a signature as one text; not ok where it cannot
// sign.
func (c *comparison) sign(p fwk.SignPlugin, pod *v1.Pod) (text string, ok bool) {
	fragments, status := p.SignPod(c.Twin.Reference.Context, pod)
	if !status.IsSuccess() {
		return "", false
	}
	return twin.JSON(fragments), true
}
