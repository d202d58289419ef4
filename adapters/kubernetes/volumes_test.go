package kubernetes_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"

	"github.com/berth-project/berth/model"
)

func onNodes(key string, values ...string) *v1.VolumeNodeAffinity {
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: values}},
	}}}}
}

// disk is a volume for the nodes of zone a.
func disk(name string, changes ...func(*v1.PersistentVolume)) *v1.PersistentVolume {
	v := &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: v1.PersistentVolumeSpec{NodeAffinity: onNodes("zone", "a")}}
	for _, f := range changes {
		f(v)
	}
	return v
}

// forClaim keeps a volume for a claim.
func forClaim(name, uid string) func(*v1.PersistentVolume) {
	return func(v *v1.PersistentVolume) {
		v.Spec.ClaimRef = &v1.ObjectReference{Namespace: space, Name: name, UID: types.UID(uid)}
	}
}

func wish(changes ...func(*v1.PersistentVolumeClaim)) *v1.PersistentVolumeClaim {
	c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "data", UID: "data-uid"}}
	for _, f := range changes {
		f(c)
	}
	return c
}

// bound is what the controller makes of a claim.
func bound(volume string) func(*v1.PersistentVolumeClaim) {
	return func(c *v1.PersistentVolumeClaim) {
		c.Spec.VolumeName = volume
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagehelpers.AnnBindCompleted, "yes")
	}
}

func selected(node string) func(*v1.PersistentVolumeClaim) {
	return func(c *v1.PersistentVolumeClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, storagehelpers.AnnSelectedNode, node)
	}
}

// bind has the controller bind the claim.
func bind(volume string) func(*library) {
	return func(l *library) { change(l, space, "data", bound(volume)) }
}

// The decisions: the volume is given to the claim, or one is made for it.
var (
	given = model.Objects{&model.Volume{Name: "v1", Claim: &model.ClaimIdentity{ID: space + "/data", UID: "data-uid"}}}
	made  = model.Objects{&model.VolumeClaim{ID: space + "/data", Namespace: space, Name: "data", UID: "data-uid", SelectedNode: nodeName}}
)

type volumeCase struct {
	name    string
	objects []runtime.Object
	before  func(l *library, write string) error // a write
	then    func(l *library)                     // when it waits
	err     string
	writes  []string
}

func (c *volumeCase) run(t *testing.T, decided model.Objects, check func(*testing.T, *scene)) {
	t.Run(c.name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t, c.objects...)
			if c.before != nil {
				s.before = func(write string) error { return c.before(s.library, write) }
			}
			err := s.play(func() error {
				return s.adapter.BindVolumes(t.Context(), probe(), model.Binding{Workload: podUID, Node: nodeName, Decided: decided})
			}, c.then)
			expect(t, err, c.err)
			s.expectWrites(c.writes...)
			if err == nil && check != nil {
				check(t, s)
			}
		})
	})
}

func TestGiveVolume(t *testing.T) {
	t.Parallel()
	const update = "update persistentvolumes v1"
	pair := []runtime.Object{wish(), disk("v1")}
	conflict := func(f func(*v1.PersistentVolume)) func(*library, string) error {
		done := false
		return func(l *library, _ string) error {
			if !done {
				done = true
				change(l, "", "v1", f)
			}
			return nil
		}
	}
	for _, c := range []volumeCase{
		{name: "is given", objects: pair, then: bind("v1"), writes: []string{update}},
		{name: "is kept for the claim by name", objects: []runtime.Object{wish(), disk("v1", forClaim("data", ""))}, then: bind("v1"), writes: []string{update}},
		{name: "was given before, and is not bound yet", objects: []runtime.Object{wish(), disk("v1", forClaim("data", "data-uid"))}, then: bind("v1")},
		{name: "was given and bound before", objects: []runtime.Object{wish(bound("v1")), disk("v1", forClaim("data", "data-uid"))}},
		{name: "has changed somehow", objects: pair, before: conflict(func(v *v1.PersistentVolume) { v.Labels = map[string]string{"new": ""} }), then: bind("v1"), writes: []string{update, update}},
		{name: "the server is busy", objects: pair, then: bind("v1"), writes: []string{update, update}, before: func() func(*library, string) error {
			calls := 0
			return func(*library, string) error {
				if calls++; calls == 1 {
					return errBusy
				}
				return nil
			}
		}()},

		{name: "is for another", objects: []runtime.Object{wish(), disk("v1", forClaim("other", "other-uid"))}, err: `give pv "v1" to claim lab/data: it is for claim lab/other (other-uid) now`},
		{name: "is for an earlier claim of the name", objects: []runtime.Object{wish(), disk("v1", forClaim("data", "old"))}, err: "it is for claim lab/data (old) now"},
		{name: "goes to another meanwhile", objects: pair, before: conflict(forClaim("other", "other-uid")), err: "it is for claim lab/other (other-uid) now", writes: []string{update}},
		{name: "is being deleted", objects: pair, before: conflict(func(v *v1.PersistentVolume) { v.DeletionTimestamp = &metav1.Time{Time: time.Now()} }), err: "it is being deleted", writes: []string{update}},
		{name: "is not there", objects: []runtime.Object{wish()}, err: `persistentvolume "v1" not found`},
		{name: "the claim is not there", objects: []runtime.Object{disk("v1")}, err: `persistentvolumeclaim "data" not found`},
		{name: "the claim is another", objects: []runtime.Object{wish(func(c *v1.PersistentVolumeClaim) { c.UID = "new" }), disk("v1")}, err: "claim lab/data is not the one that was decided about"},

		{name: "is taken back", objects: pair, writes: []string{update}, err: `ClaimRef got reset for pv "v1"`, then: func(l *library) {
			change(l, "", "v1", func(v *v1.PersistentVolume) { v.Spec.ClaimRef = nil })
		}},
		{name: "is taken back, but for the name", objects: pair, writes: []string{update}, err: `ClaimRef got reset for pv "v1"`, then: func(l *library) {
			change(l, "", "v1", forClaim("data", ""))
		}},
		{name: "is given to another", objects: pair, writes: []string{update}, err: `pv "v1" is for claim lab/other now, not for lab/data`, then: func(l *library) {
			change(l, "", "v1", forClaim("other", "other-uid"))
		}},
		{name: "the claim gets another", objects: pair, writes: []string{update}, err: `claim lab/data got pv "v2" instead of "v1"`, then: bind("v2")},
		{name: "the volume goes", objects: pair, writes: []string{update}, err: `persistentvolume "v1" not found`, then: func(l *library) { drop[*v1.PersistentVolume](l, "", "v1") }},
		{name: "the claim goes", objects: pair, writes: []string{update}, err: `persistentvolumeclaim "data" not found`, then: func(l *library) { drop[*v1.PersistentVolumeClaim](l, space, "data") }},
		{name: "the pod goes", objects: pair, writes: []string{update}, err: "pod does not exist any more", then: func(l *library) { drop[*v1.Pod](l, space, podName) }},
		{name: "another pod takes its place", objects: pair, writes: []string{update}, err: "pod does not exist any more", then: func(l *library) {
			change(l, space, podName, func(p *v1.Pod) { p.UID = "new" })
		}},
		{name: "the node goes", objects: pair, writes: []string{update}, err: `failed to get node "n1"`, then: func(l *library) { drop[*v1.Node](l, "", nodeName) }},
		{name: "the node moves", objects: pair, writes: []string{update}, err: `pv "v1" node affinity doesn't match node "n1": no matching NodeSelectorTerms`, then: func(l *library) {
			change(l, "", nodeName, func(n *v1.Node) { n.Labels["zone"] = "b" })
		}},
		{name: "nobody binds it", objects: pair, writes: []string{update}, err: "claim lab/data is not bound yet: context deadline exceeded"},
	} {
		c.run(t, given, func(t *testing.T, s *scene) {
			ref := get[*v1.PersistentVolume](s.library, "", "v1").Spec.ClaimRef
			if ref == nil || ref.UID != "data-uid" || ref.Namespace != space || ref.Name != "data" {
				t.Errorf("the volume is for %v", ref)
			}
		})
	}
}

// What is written into a volume is what the controller would write itself.
func TestGivenVolume(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		volume      *v1.PersistentVolume
		annotations map[string]string
	}{
		{"free", disk("v1"), map[string]string{storagehelpers.AnnBoundByController: "yes"}},
		{"kept", disk("v1", forClaim("data", "")), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, wish(), c.volume)
				version := get[*v1.PersistentVolumeClaim](s.library, space, "data").ResourceVersion
				err := s.play(func() error {
					return s.adapter.BindVolumes(t.Context(), probe(), model.Binding{Node: nodeName, Decided: given})
				}, bind("v1"))
				expect(t, err, "")
				v := get[*v1.PersistentVolume](s.library, "", "v1")
				want := &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: space, Name: "data", UID: "data-uid", ResourceVersion: version}
				if !reflect.DeepEqual(v.Spec.ClaimRef, want) || !reflect.DeepEqual(v.Annotations, c.annotations) {
					t.Errorf("got %v, %v, want %v, %v", v.Spec.ClaimRef, v.Annotations, want, c.annotations)
				}
			})
		})
	}
}

func TestSelectNode(t *testing.T) {
	t.Parallel()
	const update = "update persistentvolumeclaims data"
	alone := []runtime.Object{wish()}
	provision := func(v *v1.PersistentVolume) func(*library) {
		return func(l *library) {
			v = v.DeepCopy()
			l.Stamp(v)
			if err := l.Tracker().Create(resources[reflect.TypeOf(v)], v, ""); err != nil {
				panic(err)
			}
			bind(v.Name)(l)
		}
	}
	conflict := func(f func(*v1.PersistentVolumeClaim)) func(*library, string) error {
		done := false
		return func(l *library, _ string) error {
			if !done {
				done = true
				change(l, space, "data", f)
			}
			return nil
		}
	}
	for _, c := range []volumeCase{
		{name: "is selected", objects: alone, then: provision(disk("new")), writes: []string{update}},
		{name: "was selected before", objects: []runtime.Object{wish(selected(nodeName))}, then: provision(disk("new"))},
		{name: "was bound before", objects: []runtime.Object{wish(selected(nodeName), bound("new")), disk("new")}},
		{name: "was bound by somebody else", objects: []runtime.Object{wish(bound("new")), disk("new")}},
		{name: "has changed somehow", objects: alone, then: func(l *library) {
			time.Sleep(time.Second) // until it is written again
			provision(disk("new"))(l)
		}, writes: []string{update, update}, before: conflict(func(c *v1.PersistentVolumeClaim) { c.Labels = map[string]string{"new": ""} })},
		{name: "the volume is heard of later", objects: alone, writes: []string{update}, then: func(l *library) {
			bind("new")(l)
			time.Sleep(time.Minute)
			v := disk("new")
			l.Stamp(v)
			if err := l.Tracker().Create(resources[reflect.TypeOf(v)], v, ""); err != nil {
				panic(err)
			}
		}},

		{name: "another node was selected", objects: []runtime.Object{wish(selected("n2"))}, err: `select node "n1" for claim lab/data: its volume is to be made for node "n2" now`},
		{name: "another node is selected meanwhile", objects: alone, writes: []string{update}, before: conflict(selected("n2")), err: `its volume is to be made for node "n2" now`},
		{name: "is being deleted", objects: alone, writes: []string{update}, before: conflict(func(c *v1.PersistentVolumeClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Now()} }), err: "it is being deleted"},
		{name: "is made anew", objects: alone, writes: []string{update}, before: conflict(func(c *v1.PersistentVolumeClaim) { c.UID = "new" }), err: "it is not the one that was decided about"},
		{name: "is another", objects: []runtime.Object{wish(func(c *v1.PersistentVolumeClaim) { c.UID = "new" })}, err: "claim lab/data is not the one that was decided about"},
		{name: "is bound to a volume elsewhere", objects: alone, writes: []string{update}, before: conflict(bound("far")), then: func(l *library) {
			v := disk("far", func(v *v1.PersistentVolume) { v.Spec.NodeAffinity = onNodes("zone", "b") })
			if err := l.Tracker().Create(resources[reflect.TypeOf(v)], v, ""); err != nil {
				panic(err)
			}
		}, err: `pv "far" node affinity doesn't match node "n1"`},

		{name: "cannot be made", objects: []runtime.Object{wish(func(c *v1.PersistentVolumeClaim) { c.Annotations = map[string]string{"other": ""} })}, writes: []string{update}, err: `provisioning failed for PVC "data"`, then: func(l *library) {
			change(l, space, "data", func(c *v1.PersistentVolumeClaim) { delete(c.Annotations, storagehelpers.AnnSelectedNode) })
		}},
		{name: "all annotations go", objects: alone, writes: []string{update}, err: `selectedNode annotation reset for PVC "data"`, then: func(l *library) {
			change(l, space, "data", func(c *v1.PersistentVolumeClaim) { c.Annotations = nil })
		}},
		{name: "is made elsewhere", objects: alone, writes: []string{update}, err: `pv "new" node affinity doesn't match node "n1"`, then: provision(disk("new", func(v *v1.PersistentVolume) { v.Spec.NodeAffinity = onNodes("zone", "b") }))},
		{name: "goes", objects: alone, writes: []string{update}, err: `persistentvolumeclaim "data" not found`, then: func(l *library) { drop[*v1.PersistentVolumeClaim](l, space, "data") }},
		{name: "nobody makes it", objects: alone, writes: []string{update}, err: "claim lab/data is not bound yet: context deadline exceeded"},
	} {
		c.run(t, made, func(t *testing.T, s *scene) {
			if !metav1.HasAnnotation(get[*v1.PersistentVolumeClaim](s.library, space, "data").ObjectMeta, storagehelpers.AnnBindCompleted) {
				t.Error("the claim is not bound")
			}
		})
	}
}

// A built-in plugin's volume is seen as the driver sees it on nodes where that stands
// in for the plugin.
func TestVolumeOfStandIn(t *testing.T) {
	t.Parallel()
	old := disk("v1", func(v *v1.PersistentVolume) {
		v.Spec.NodeAffinity = onNodes("topology.kubernetes.io/zone", "a")
		v.Spec.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}
	})
	driver := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Annotations: map[string]string{v1.MigratedPluginsAnnotationKey: "kubernetes.io/aws-ebs"}}}
	const update = "update persistentvolumes v1"
	for _, c := range []volumeCase{
		{name: "with the driver", objects: []runtime.Object{wish(), old, driver}, then: bind("v1"), writes: []string{update}},
		{name: "without", objects: []runtime.Object{wish(), old}, then: bind("v1"), writes: []string{update}, err: `pv "v1" node affinity doesn't match node "n1"`},
	} {
		c.run(t, given, nil)
	}
}

// A call that failed, or whose outcome was forgotten, can be made again.
func TestBindVolumesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, wish(), disk("v1"))
		s.after = func(string) error { return errLost } // the first one arrives, and then the server cannot be reached
		decided := model.Binding{Node: nodeName, Decided: given}
		call := func() error { return s.adapter.BindVolumes(t.Context(), probe(), decided) }
		s.before = func(string) error {
			if len(s.writes) > 1 {
				return errLost
			}
			return nil
		}
		expect(t, s.play(call, nil), errLost.Error())
		s.before, s.after, s.writes = nil, nil, nil
		expect(t, s.play(call, bind("v1")), "")
		expect(t, s.play(call, nil), "")
		s.expectWrites()
	})
}

// Nothing is written, or waited for, where nothing was decided about volumes.
func TestBindNoVolumes(t *testing.T) {
	t.Parallel()
	undecided := model.Objects{&model.Volume{Name: "v1"}, &model.VolumeClaim{ID: space + "/data", Namespace: space, Name: "data"}, decideOn("card", "x", byPod)}
	c := volumeCase{name: "undecided", objects: []runtime.Object{wish(), disk("v1")}}
	c.run(t, undecided, nil)
}

// It ends with its context, however long it may wait.
func TestBindVolumesCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, wish(), disk("v1"))
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		err := s.play(func() error {
			return s.adapter.BindVolumes(ctx, probe(), model.Binding{Node: nodeName, Decided: given})
		}, func(*library) { cancel() })
		if !errors.Is(err, context.Canceled) || time.Since(start) > time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}
