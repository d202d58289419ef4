package explain

import (
	"encoding/json"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
)

// owned are an owner and the IDs of its pods.
type owned struct {
	result api.SimulatedOwner
	pods   []string
}

// owner translates the pods that the object's controller would make. A problem of the first one's is
// that of all, and is reported once.
func (t *translation) owner(o *object) {
	before := len(t.problems.list)
	m := o.object.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta) // which all have
	t.named(o.at, o.kind, t.namespaceOf(m), m)
	spec := place{object: o.at.object, within: "spec"}
	var w *owner
	switch x := o.object.(type) {
	case *appsv1.Deployment:
		t.checkSelector(spec, x.Spec.Selector, &x.Spec.Template)
		w = ofDeployment(x)
	case *appsv1.ReplicaSet:
		t.checkSelector(spec, x.Spec.Selector, &x.Spec.Template)
		w = ofReplicaSet(x)
	case *appsv1.StatefulSet:
		t.checkSelector(spec, x.Spec.Selector, &x.Spec.Template)
		w = ofStatefulSet(x)
	case *v1.ReplicationController:
		if x.Spec.Template == nil {
			t.problems.add(spec.field("template"), "is missing")
			return
		}
		w = ofReplicationController(x)
	case *batchv1.Job:
		t.checkJob(spec, &x.Spec)
		w = ofJob(x)
	case *batchv1.CronJob:
		spec.within = "spec.jobTemplate.spec"
		t.checkJob(spec, &x.Spec.JobTemplate.Spec)
		w = ofCronJob(x)
	}
	made := owned{result: api.SimulatedOwner{
		Namespace: m.Namespace, Kind: o.kind, Name: m.Name,
		InCluster: t.ownedIn(m.Namespace)[o.kind+"/"+m.Name], Suspended: w.suspended,
	}}
	template := place{object: spec.object, within: spec.within + ".template"}
	for i := range t.allowed(spec, w) {
		made.pods = append(made.pods, t.pod(template, w.pod(m.Namespace, i), w.owners))
		if len(t.problems.list) > before {
			return
		}
	}
	t.request.owners = append(t.request.owners, made)
}

// allowed is how many pods the owner may have. Where it would have too many or fewer than none that
// is a problem, and one pod shows what else is wrong.
func (t *translation) allowed(spec place, w *owner) int {
	n, size := int(w.count), sizeOf(w.template)
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

// sizeOf is the length of the template in JSON.
func sizeOf(template *v1.PodTemplateSpec) int {
	text, err := json.Marshal(template)
	if err != nil {
		return 0 // it has been read from JSON
	}
	return len(text)
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

// checkJob reports what keeps it open which pods a job would have.
func (t *translation) checkJob(spec place, s *batchv1.JobSpec) {
	if s.Completions != nil && *s.Completions < 0 {
		t.problems.add(spec.field("completions"), "is %d: it must not be negative", *s.Completions)
	}
	if isIndexed(s) && s.Completions == nil {
		t.problems.add(spec.field("completions"), "is missing, and an indexed job must have it")
	}
	if s.ManagedBy != nil && *s.ManagedBy != batchv1.JobControllerName {
		t.problems.add(spec.field("managedBy"), "is %q: which pods that would make is not known here", *s.ManagedBy)
	}
	if s.Scheduling != nil {
		t.problems.add(spec.field("scheduling"), "is not simulated: name a PodGroup in template.spec.schedulingGroup")
	}
}

// ownedIn counts the pods on nodes by what owns them, kind and name. Those of a StatefulSet are not
// among them: a simulation tells by their names that they are there.
func (t *translation) ownedIn(namespace string) map[string]int {
	if known := t.owned[namespace]; known != nil {
		return known
	}
	counts := map[string]int{}
	t.owned[namespace] = counts
	pods, _ := t.h.o.Pods.Pods(namespace).List(labels.Everything()) // of what is in memory
	for _, p := range pods {
		c := metav1.GetControllerOfNoCopy(p)
		if c == nil || c.Kind == "StatefulSet" || !isOnNode(p) {
			continue
		}
		counts[c.Kind+"/"+c.Name]++
		if deployment, of := strings.CutSuffix(c.Name, "-"+p.Labels[appsv1.DefaultDeploymentUniqueLabelKey]); of && c.Kind == "ReplicaSet" {
			counts["Deployment/"+deployment]++
		}
	}
	return counts
}
