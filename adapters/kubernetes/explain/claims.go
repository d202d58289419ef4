package explain

import (
	"cmp"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// checkClaims reports names of claim templates that no volume can have: pods would be refused.
// There are at most so many of them as a node could have volumes.
func (t *translation) checkClaims(spec place, templates []v1.PersistentVolumeClaim) {
	if len(templates) > maxClaims {
		t.problems.add(spec.field("volumeClaimTemplates"), "has %d: a simulation takes at most %d of a set", len(templates), maxClaims)
		return
	}
	for i := range templates {
		at := claimPlace(spec, i).field("metadata.name")
		if templates[i].Name == "" {
			t.problems.add(at, "is missing")
			continue
		}
		t.problems.addEach(at, validation.IsDNS1123Label(templates[i].Name))
	}
}

// claimPlace is where a claim template stands.
func claimPlace(spec place, i int) place {
	return place{object: spec.object, within: fmt.Sprintf("%s.volumeClaimTemplates[%d]", spec.within, i)}
}

// claims makes the claims of a stateful set's pod that are not there, as its controller would. Of
// templates with one name the last counts.
func (t *translation) claims(spec place, templates []v1.PersistentVolumeClaim, namespace, pod string) {
	for i, template := range slices.Backward(templates) {
		c := &v1.PersistentVolumeClaim{Spec: template.Spec, ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: claimName(&template, pod), Annotations: template.Annotations,
		}}
		id := convert.VolumeClaimID(c.Namespace, c.Name)
		key := nameKey("PersistentVolumeClaim", c.Namespace, c.Name)
		if _, known := t.view.Object(model.ObjectRef{Kind: model.VolumeClaimKind, ID: id}); known || t.seen[key] {
			continue
		}
		t.seen[key] = true
		t.setClass(c)
		m, err := convert.VolumeClaim(c)
		t.problems.addAll(claimPlace(spec, i), err)
		t.request.add(claimPlace(spec, i), engine.PutObject(m))
	}
}

func claimName(template *v1.PersistentVolumeClaim, pod string) string {
	return template.Name + "-" + pod
}

// setClass gives a claim that names no storage class the cluster's default.
//
// Rule: kube-apiserver plugin/pkg/admission/storage/storageclass/setdefault/admission.go, 1.37.1.
func (t *translation) setClass(c *v1.PersistentVolumeClaim) {
	if c.Spec.StorageClassName == nil && !metav1.HasAnnotation(c.ObjectMeta, v1.BetaStorageClassAnnotation) {
		c.Spec.StorageClassName = t.storage()
	}
}

// defaultClass is the name of the default storage class, nil where there is none. Of several it is
// the newest, and of these the first by name.
//
// Rule: kube-apiserver pkg/volume/util/storageclass.go (GetDefaultClass), 1.37.1.
func (h *handler) defaultClass() *string {
	if h.o.StorageClasses == nil {
		return nil
	}
	list, _ := h.o.StorageClasses.List(labels.Everything()) // of what is in memory
	list = slices.DeleteFunc(list, func(c *storagev1.StorageClass) bool { return !isDefault(c) })
	if len(list) == 0 {
		return nil
	}
	first := slices.MinFunc(list, func(a, b *storagev1.StorageClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return &first.Name
}

// isDefault reports whether the class is marked as the default, in the old way or the new.
func isDefault(c *storagev1.StorageClass) bool {
	return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
		c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
}
