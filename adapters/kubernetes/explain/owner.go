package explain

import (
	"context"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// owned are an owner and the IDs of its pods.
type owned struct {
	result api.SimulatedOwner
	pods   []string
}

// owner translates the pods that the object's controller would make. A problem of the first one's is
// that of all, and is reported once.
func (t *translation) owner(ctx context.Context, o *object) error {
	before, m := t.problems.count, metaOf(o.object)
	if c := metav1.GetControllerOf(m); c != nil && t.names.taken[nameKey(c.Kind, t.namespaceOf(m), c.Name)] {
		return nil // its pods are those of its own controller
	}
	t.named(o.at, o.kind, t.namespaceOf(m), m)
	there := t.ownedIn(m.Namespace)[o.kind+"/"+m.Name]
	if o.kind == "StatefulSet" {
		there = inCluster{} // by its name each pod tells whether it is there
	}
	spec, w := t.ownerOf(o, there)
	if w == nil {
		return nil
	}
	t.problems.checkLastName(o.at, o.kind, m.Name, w.last)
	if o.kind != "CronJob" {
		w.leaveOut(there)
	}
	made := owned{result: api.SimulatedOwner{
		Namespace: m.Namespace, Kind: o.kind, Name: m.Name, InCluster: there.pods, Suspended: w.suspended,
	}}
	template := place{object: spec.object, within: spec.within + ".template"}
	number := w.first
	for range t.allowed(spec, m.Namespace, w) {
		if err := ctx.Err(); err != nil {
			return err
		}
		number = w.numberFrom(number)
		p := w.pod(m.Namespace, number)
		number++
		made.pods = append(made.pods, t.pod(template, p, w.owners))
		t.claims(spec, w.claims, p.Namespace, p.Name)
		if t.problems.count > before {
			return nil
		}
	}
	t.request.owners = append(t.request.owners, made)
	return nil
}

// ownerOf checks the object, and is what it is as an owner, and where its fields are. It is nil where
// there is no template.
func (t *translation) ownerOf(o *object, there inCluster) (spec place, w *owner) {
	spec = place{object: o.at.object, within: "spec"}
	switch x := o.object.(type) {
	case *appsv1.Deployment:
		t.checkSelector(spec, x.Spec.Selector, &x.Spec.Template)
		w = ofDeployment(x, there.hash)
	case *appsv1.ReplicaSet:
		t.checkSelector(spec, x.Spec.Selector, &x.Spec.Template)
		w = ofReplicaSet(x)
	case *appsv1.StatefulSet:
		t.checkSet(spec, &x.Spec)
		w = ofStatefulSet(x)
	case *v1.ReplicationController:
		if x.Spec.Template == nil {
			t.problems.add(spec.field("template"), "is missing")
			return spec, nil
		}
		w = ofReplicationController(x)
		t.checkSelector(spec, &metav1.LabelSelector{MatchLabels: x.Spec.Selector}, x.Spec.Template)
	case *batchv1.Job:
		t.checkJob(spec, &x.Spec)
		w = ofJob(x)
	case *batchv1.CronJob:
		spec.within = "spec.jobTemplate.spec"
		t.checkJob(spec, &x.Spec.JobTemplate.Spec)
		w = ofCronJob(x)
	}
	return spec, w
}

// allowed is how many pods the owner may have. Where it would have too many or fewer than none that
// is a problem, and one pod shows what else is wrong.
func (t *translation) allowed(spec place, namespace string, w *owner) int {
	n, size := int(w.count), w.size(namespace)
	at := spec.field(w.countField)
	switch {
	case n < 0:
		t.problems.add(at, "is %d: it must not be negative", n)
	case n > t.left:
		t.problems.add(at, "makes it %d pods: a simulation has at most %d, and the others leave room for %d", n, maxPods, t.left)
	case n*size > t.bytesLeft:
		t.problems.add(at, "makes it %d pods of %d bytes: those that are made of templates have at most %d bytes, and the others leave room for %d",
			n, size, maxMade, t.bytesLeft)
	default:
		t.left, t.bytesLeft = t.left-n, t.bytesLeft-n*size
		return n
	}
	return 1
}

// size is the length in JSON of all that is made for one pod: itself, its claims, and what selects
// those like it; and what claims take besides.
func (w *owner) size(namespace string) int {
	text, err := json.Marshal([]any{w.pod(namespace, w.first), w.claims, w.selector})
	if err != nil {
		return 0 // it has been read from JSON
	}
	return len(text) + claimSize*len(w.claims)
}

// checkSelector reports a selector that the API server would not take.
func (t *translation) checkSelector(spec place, s *metav1.LabelSelector, template *v1.PodTemplateSpec) {
	at := spec.field("selector")
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		t.problems.add(at, "is missing")
		return
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	switch {
	case err != nil:
		t.problems.add(at, "%s", err)
	case !selector.Matches(labels.Set(template.Labels)):
		t.problems.add(at, "does not select the pods of the template by their labels")
	}
}

// checkSet reports what the API server would not take of a stateful set.
func (t *translation) checkSet(spec place, s *appsv1.StatefulSetSpec) {
	t.checkSelector(spec, s.Selector, &s.Template)
	if s.Ordinals != nil && s.Ordinals.Start < 0 {
		t.problems.add(spec.field("ordinals.start"), "is %d: it must not be negative", s.Ordinals.Start)
	}
	t.checkClaims(spec, s.VolumeClaimTemplates)
}

// checkJob reports what keeps it open which pods a job would have.
//
// Rule: kube-apiserver pkg/apis/batch/v1/defaults.go (SetDefaults_Job), 1.37.1: without both numbers
// both are 1.
func (t *translation) checkJob(spec place, s *batchv1.JobSpec) {
	if s.Completions != nil && *s.Completions < 0 {
		t.problems.add(spec.field("completions"), "is %d: it must not be negative", *s.Completions)
	}
	if isIndexed(s) && s.Completions == nil && s.Parallelism != nil {
		t.problems.add(spec.field("completions"), "is missing, and an indexed job with parallelism must have it")
	}
	if mode := ptr.Deref(s.CompletionMode, batchv1.NonIndexedCompletion); mode != batchv1.NonIndexedCompletion && mode != batchv1.IndexedCompletion {
		t.problems.add(spec.field("completionMode"), "is %q: it is %q or %q", mode, batchv1.NonIndexedCompletion, batchv1.IndexedCompletion)
	}
	if manager := ptr.Deref(s.ManagedBy, batchv1.JobControllerName); manager != batchv1.JobControllerName {
		t.problems.add(spec.field("managedBy"), "is %q: which pods that would make is not known here", manager)
	}
	if s.Scheduling != nil {
		t.problems.add(spec.field("scheduling"), "is not simulated: name a PodGroup in template.spec.schedulingGroup")
	}
}
