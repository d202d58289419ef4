package explain

import (
	"cmp"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
)

// owner is an object of which a controller makes pods, as far as that matters here.
type owner struct {
	name       string
	template   *v1.PodTemplateSpec
	count      int32                      // so many pods at once
	countField string                     // of the spec, for messages
	first      int                        // the number of the first pod
	taken      map[int]bool               // the numbers of those that are there
	last       string                     // what the last one is named, with its number; empty where it has none
	suspended  bool                       // no pods are made before that is changed
	selector   any                        // what selects its pods; nil where they are not spread by that
	claims     []v1.PersistentVolumeClaim // of each pod, as templates
	// controller is what owns the pods, and owners has it if pods are spread by its selector.
	controller metav1.OwnerReference
	owners     convert.Owners
	// identify gives the pod with the number what the template does not have.
	identify func(p *v1.Pod, number int)
}

// newHash stands for the hash of a Deployment's template, which its controller makes, where the
// cluster has no pods of the Deployment that show one.
const newHash = "new"

// leaveOut has only those pods made that are missing.
func (w *owner) leaveOut(there inCluster) {
	if w.count > 0 {
		w.count, w.taken = max(0, w.count-int32(there.pods)), there.indexes
	}
}

// numberFrom is the first number of a pod from n on.
func (w *owner) numberFrom(n int) int {
	for w.taken[n] {
		n++
	}
	return n
}

// pod is the pod with the number.
//
// Rules, also for those below: kube-controller-manager pkg/controller (controller_utils.go,
// deployment/sync.go, statefulset/stateful_set_utils.go, job/job_controller.go,
// job/indexed_job_utils.go), 1.37.1.
func (w *owner) pod(namespace string, number int) *v1.Pod {
	t := w.template.DeepCopy()
	p := &v1.Pod{Spec: t.Spec, ObjectMeta: metav1.ObjectMeta{
		GenerateName: w.name + "-", Namespace: namespace, Labels: t.Labels, Annotations: t.Annotations,
		OwnerReferences: []metav1.OwnerReference{w.controller},
	}}
	if w.identify != nil {
		w.identify(p, number)
	}
	return p
}

// ofDeployment: pods are made by way of a replica set, that of the pods which are there.
func ofDeployment(x *appsv1.Deployment, thatIsThere string) *owner {
	name := cmp.Or(thatIsThere, newHash)
	hash := map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: name}
	s := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: x.Namespace, Name: x.Name + "-" + name}}
	s.Spec = appsv1.ReplicaSetSpec{Replicas: x.Spec.Replicas, Selector: x.Spec.Selector.DeepCopy(), Template: x.Spec.Template}
	s.Spec.Template.Labels = merged(x.Spec.Template.Labels, hash)
	if s.Spec.Selector != nil {
		s.Spec.Selector.MatchLabels = merged(x.Spec.Selector.MatchLabels, hash)
	}
	w := ofReplicaSet(s)
	w.name, w.suspended = x.Name, x.Spec.Paused
	return w
}

func ofReplicaSet(x *appsv1.ReplicaSet) *owner {
	return &owner{
		name: x.Name, template: &x.Spec.Template, count: ptr.Deref(x.Spec.Replicas, 1), countField: "replicas",
		controller: controlledBy(appsv1.SchemeGroupVersion, "ReplicaSet", x.Name), selector: x.Spec.Selector,
		owners: convert.Owners{ReplicaSets: []*appsv1.ReplicaSet{x}},
	}
}

func ofReplicationController(x *v1.ReplicationController) *owner {
	if len(x.Spec.Selector) == 0 {
		x.Spec.Selector = x.Spec.Template.Labels
	}
	return &owner{
		name: x.Name, template: x.Spec.Template, count: ptr.Deref(x.Spec.Replicas, 1), countField: "replicas",
		controller: controlledBy(v1.SchemeGroupVersion, "ReplicationController", x.Name), selector: x.Spec.Selector,
		owners: convert.Owners{ReplicationControllers: []*v1.ReplicationController{x}},
	}
}

func ofStatefulSet(x *appsv1.StatefulSet) *owner {
	w := &owner{
		name: x.Name, template: &x.Spec.Template, count: ptr.Deref(x.Spec.Replicas, 1), countField: "replicas",
		controller: controlledBy(appsv1.SchemeGroupVersion, "StatefulSet", x.Name), selector: x.Spec.Selector,
		owners: convert.Owners{StatefulSets: []*appsv1.StatefulSet{x}},
		claims: x.Spec.VolumeClaimTemplates,
		identify: func(p *v1.Pod, number int) {
			p.Name = numbered(x.Name, number)
			p.Labels = merged(p.Labels, map[string]string{appsv1.StatefulSetPodNameLabel: p.Name, appsv1.PodIndexLabel: strconv.Itoa(number)})
			claimVolumes(p, x)
		},
	}
	if x.Spec.Ordinals != nil {
		w.first = int(x.Spec.Ordinals.Start)
	}
	if w.count > 0 {
		w.last = numbered(x.Name, w.first+int(w.count)-1)
	}
	return w
}

func numbered(name string, number int) string { return name + "-" + strconv.Itoa(number) }

// claimVolumes gives the pod of a stateful set its own claims, which take the place of volumes of
// the same name.
func claimVolumes(p *v1.Pod, x *appsv1.StatefulSet) {
	var list []v1.Volume
	claimed := map[string]bool{}
	for i := range x.Spec.VolumeClaimTemplates {
		c := &x.Spec.VolumeClaimTemplates[i]
		if claimed[c.Name] {
			continue
		}
		claimed[c.Name] = true
		list = append(list, v1.Volume{Name: c.Name, VolumeSource: v1.VolumeSource{
			PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(c, p.Name)},
		}})
	}
	for _, v := range p.Spec.Volumes {
		if !claimed[v.Name] {
			list = append(list, v)
		}
	}
	p.Spec.Volumes = list
}

// ofCronJob is its next job.
func ofCronJob(x *batchv1.CronJob) *owner {
	w := ofJob(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: x.Name}, Spec: x.Spec.JobTemplate.Spec})
	w.suspended = w.suspended || ptr.Deref(x.Spec.Suspend, false)
	return w
}

// ofJob has the pods with which a job begins.
func ofJob(x *batchv1.Job) *owner {
	w := &owner{
		name: x.Name, template: &x.Spec.Template, count: ptr.Deref(x.Spec.Parallelism, 1), countField: "parallelism",
		suspended:  ptr.Deref(x.Spec.Suspend, false),
		controller: controlledBy(batchv1.SchemeGroupVersion, "Job", x.Name),
		identify: func(p *v1.Pod, number int) {
			own := map[string]string{"job-name": x.Name, batchv1.JobNameLabel: x.Name}
			if isIndexed(&x.Spec) {
				identifyIndex(p, x.Name, number)
				own[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(number)
			}
			p.Labels = merged(p.Labels, own)
		},
	}
	most := ptr.Deref(x.Spec.Completions, -1) // a negative one is refused
	if most >= 0 {
		w.count = min(w.count, most)
	}
	if isIndexed(&x.Spec) && most > 0 {
		w.last = numbered(x.Name, int(most)-1)
	}
	return w
}

// identifyIndex says of a pod which index of a job it has.
//
// Rule: kube-controller-manager pkg/controller/job/indexed_job_utils.go (podGenerateNameWithIndex), 1.37.1.
func identifyIndex(p *v1.Pod, job string, index int) {
	end := "-" + strconv.Itoa(index) + "-"
	p.GenerateName = job[:min(len(job), maxPrefix-len(end))] + end
	p.Annotations = merged(p.Annotations, map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)})
}

func isIndexed(s *batchv1.JobSpec) bool {
	return ptr.Deref(s.CompletionMode, "") == batchv1.IndexedCompletion
}

// controlledBy refers to the controller of a pod.
func controlledBy(version schema.GroupVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: version.String(), Kind: kind, Name: name, Controller: ptr.To(true)}
}

// merged has what both have, and where both have it the other's.
func merged(labels, other map[string]string) map[string]string {
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, other)
	return all
}
