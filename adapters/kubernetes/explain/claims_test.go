package explain_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/explain"
	"github.com/berth-project/berth/adapters/kubernetes/explain/api"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// storageClass makes volumes on one node, when it is known that a pod goes there.
func storageClass(node string, created int64, annotations map[string]string) *storagev1.StorageClass {
	return &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: "on-" + node, Annotations: annotations, CreationTimestamp: metav1.NewTime(time.Unix(created, 0))},
		Provisioner: "disk.example.com", VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
		AllowedTopologies: []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: v1.LabelHostname, Values: []string{node}}}}},
	}
}

// Pods of a StatefulSet have the claims that its controller would make, of the class that these would
// get. Claims that are there stay as they are.
func TestClaimsOfStatefulSets(t *testing.T) {
	now := storageClass("a", 0, nil)
	now.Name, now.VolumeBindingMode = "at-once", new(storagev1.VolumeBindingImmediate)
	classes := []*storagev1.StorageClass{
		storageClass("a", 1, nil), storageClass("b", 1, map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}),
		storageClass("c", 2, map[string]string{"storageclass.beta.kubernetes.io/is-default-class": "true"}), now,
	}
	known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, class := range classes {
		if err := known.Add(class); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, templates, want string }{
		{"a class", "[{metadata: {name: data}, spec: {storageClassName: on-a, accessModes: [ReadWriteOnce]}}]", "db-0 a, db-1 a"},
		{"a class in the old way", `[{metadata: {name: data, annotations: {volume.beta.kubernetes.io/storage-class: on-b}}}]`, "db-0 b, db-1 b"},
		{"the newest default", "[{metadata: {name: data}}]", "db-0 c, db-1 c"},
		{"the last of one name", "[{metadata: {name: data}, spec: {storageClassName: on-a}}, {metadata: {name: data}, spec: {storageClassName: on-b}}]", "db-0 b, db-1 b"},
		{"one that is there", "[{metadata: {name: old}, spec: {storageClassName: on-a}}]", "db-0 c, db-1 a"},
		{"no class", "[{metadata: {name: data}, spec: {storageClassName: ''}}]", "db-0 Unplaced, db-1 Unplaced"},
		{"a class that does not wait", "[{metadata: {name: data}, spec: {storageClassName: at-once}}]", "db-0 Unplaced, db-1 Unplaced"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, explain.Options{StorageClasses: storagelisters.NewStorageClassLister(known)})
			for _, name := range []string{"a", "b", "c"} {
				w.node(name, "4")
			}
			for _, class := range classes {
				m, err := convert.StorageClass(class)
				if err != nil {
					t.Fatal(err)
				}
				w.apply(engine.PutObject(m))
			}
			w.apply(engine.PutObject(&model.VolumeClaim{ID: "default/old-db-0", Namespace: "default", Name: "old-db-0", Class: "on-c"}))
			w.unchanged(func() {
				if got := outcomes(simulation[api.Simulation](w, owner("apps/v1", "StatefulSet", "db", "replicas: 2; "+selects+"; volumeClaimTemplates: "+c.templates, ""))); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		})
	}
}
