package kubernetes_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	storagehelpers "k8s.io/component-helpers/storage/volume"
)

// store is a laggard with two pods of which each uses a volume by a claim of its own. There is one
// volume for the two, or one is made for each claim. It looks at what is written: a volume that
// is for one claim is not given to another, a claim gets one volume, and nothing is
// written that is so already.
type store struct {
	*laggard
	class string

	owner map[string]string // under mu: whom volumes are for, by name
	nodes map[string]string // under mu: which nodes were selected for claims, by name
}

func newStore(t *testing.T, class string, lags map[string]time.Duration) *store {
	s := &store{laggard: newLaggard(t, lags), class: class, owner: map[string]string{}, nodes: map[string]string{}}
	late := storagev1.VolumeBindingWaitForFirstConsumer
	objects := []runtime.Object{
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: storagehelpers.NotSupportedProvisioner, VolumeBindingMode: &late},
		&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "made"}, Provisioner: "disk.example.com", VolumeBindingMode: &late},
	}
	for _, o := range objects {
		if err := s.Tracker().Add(o); err != nil {
			t.Fatal(err)
		}
	}
	if class == "local" {
		s.add(t, s.volume("only"))
	}
	return s
}

func (s *store) volume(name string) *v1.PersistentVolume {
	return &v1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: v1.PersistentVolumeSpec{
			StorageClassName: s.class, Capacity: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
		},
		Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable},
	}
}

// submit makes a pod with its claim.
func (s *store) submit(name string) {
	claim := &v1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: types.UID(name + "-uid")},
		Spec: v1.PersistentVolumeClaimSpec{
			StorageClassName: &s.class, AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: types.UID(name)}, Spec: v1.PodSpec{
		SchedulerName: scheduler, Containers: []v1.Container{{Name: "main"}},
		Volumes: []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}},
	}}
	s.add(s.t, claim)
	s.add(s.t, p)
}

func (s *store) names() []string {
	if s.class == "local" {
		return []string{"only"}
	}
	return []string{"for-first", "for-second"}
}

// control does what the controllers do for volumes and claims, until it is stopped.
func (s *store) control(stopped <-chan struct{}) {
	for {
		select {
		case <-stopped:
			return
		case <-time.After(300 * time.Millisecond):
		}
		for _, name := range []string{"first", "second"} {
			c := get[*v1.PersistentVolumeClaim](s.library, space, name)
			if s.class != "made" || c == nil || c.Annotations[storagehelpers.AnnSelectedNode] == "" || get[*v1.PersistentVolume](s.library, "", "for-"+name) != nil {
				continue
			}
			v := s.volume("for-" + name)
			v.Spec.ClaimRef = &v1.ObjectReference{Namespace: space, Name: name, UID: c.UID}
			s.add(s.t, v)
		}
		for _, name := range s.names() {
			v := get[*v1.PersistentVolume](s.library, "", name)
			if v == nil || v.Spec.ClaimRef == nil {
				continue
			}
			c := get[*v1.PersistentVolumeClaim](s.library, space, v.Spec.ClaimRef.Name)
			if c != nil && c.UID == v.Spec.ClaimRef.UID && c.Spec.VolumeName == "" {
				change(s.library, "", name, func(v *v1.PersistentVolume) { v.Status.Phase = v1.VolumeBound })
				change(s.library, space, c.Name, bound(name))
			}
		}
	}
}

// free is what the controllers, and who cleans up, do for pods that have gone.
func (s *store) free() {
	for _, name := range []string{"first", "second"} {
		if get[*v1.Pod](s.library, space, name) == nil && get[*v1.PersistentVolumeClaim](s.library, space, name) != nil {
			drop[*v1.PersistentVolumeClaim](s.library, space, name)
		}
	}
	for _, name := range s.names() {
		v := get[*v1.PersistentVolume](s.library, "", name)
		if v == nil || v.Spec.ClaimRef == nil || get[*v1.PersistentVolumeClaim](s.library, space, v.Spec.ClaimRef.Name) != nil {
			continue
		}
		s.mu.Lock()
		delete(s.owner, name)
		s.mu.Unlock()
		if s.class == "made" {
			drop[*v1.PersistentVolume](s.library, "", name)
		} else {
			change(s.library, "", name, func(v *v1.PersistentVolume) { v.Spec.ClaimRef, v.Status.Phase = nil, v1.VolumeAvailable })
		}
	}
}

// look notes what the scheduler's write gives twice, or writes though it is so.
func (s *store) look(write string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case strings.HasPrefix(write, "update persistentvolumes "):
		name := strings.TrimPrefix(write, "update persistentvolumes ")
		v := get[*v1.PersistentVolume](s.library, "", name)
		if v == nil || v.Spec.ClaimRef == nil {
			return
		}
		if had := s.owner[name]; had != "" {
			s.wrong = append(s.wrong, fmt.Sprintf("%s is for %s and is given to %s", name, had, v.Spec.ClaimRef.UID))
		}
		s.owner[name] = string(v.Spec.ClaimRef.UID)
	case strings.HasPrefix(write, "update persistentvolumeclaims "):
		name := strings.TrimPrefix(write, "update persistentvolumeclaims ")
		c := get[*v1.PersistentVolumeClaim](s.library, space, name)
		if c == nil {
			return
		}
		if had := s.nodes[name]; had != "" {
			s.wrong = append(s.wrong, fmt.Sprintf("%s is for %s and is selected for %s", name, had, c.Annotations[storagehelpers.AnnSelectedNode]))
		}
		s.nodes[name] = c.Annotations[storagehelpers.AnnSelectedNode]
	}
}

// end has the second pod run, which needs the first to go where there is one volume.
func (s *store) end() {
	if first, second := s.nodeOf("first"), s.nodeOf("second"); s.class == "local" && first == nodeName && second == nodeName {
		s.t.Errorf("both pods run")
	} else if first == "" && second == "" {
		s.t.Errorf("none of them runs")
	}
	if s.nodeOf("second") == "" {
		if get[*v1.Pod](s.library, space, "first") != nil {
			drop[*v1.Pod](s.library, space, "first")
		}
		time.Sleep(5 * time.Second)
		s.free()
		time.Sleep(3 * time.Minute)
	}
	if got := s.nodeOf("second"); got != nodeName {
		s.t.Errorf("the second pod is on %q when the first has gone", got)
	}
	if len(s.wrong) > 0 {
		s.t.Errorf("%v", s.wrong)
	}
}

// Watches of volumes, claims and pods that lag behind each other by seconds, in any order, and
// every way in which what was written for a pod can be of no use: no volume is given twice, nothing is
// written that is so already, and in the end the second pod has its volume.
func TestNoVolumeIsGivenTwiceThoughWatchesLag(t *testing.T) {
	t.Parallel()
	refuse := func(times int64, write string) func(*store) {
		return func(s *store) { s.before = spoiled(times, s.named(write), errRefused) }
	}
	lose := func(times int64, write string, err error) func(*store) {
		return func(s *store) {
			answer := spoiled(times, s.named(write), err)
			s.after = func(w string) error {
				s.look(w)
				return answer(w)
			}
		}
	}
	leave := func(s *store, _ *func()) {
		drop[*v1.Pod](s.library, space, "first")
		time.Sleep(5 * time.Second)
		s.free()
	}
	again := func(s *store, stop *func()) {
		(*stop)()
		*stop = s.start()
	}
	const bind, give = "create pods/binding first", ""
	type way struct {
		name   string
		spoil  func(*store)
		during func(*store, *func()) // after 12 seconds; may stop and start the scheduler
	}
	for _, w := range []way{
		{name: "nothing fails"},
		{name: "the binding is refused once", spoil: refuse(1, bind)},
		{name: "the binding is refused often", spoil: refuse(4, bind)},
		{name: "the answer is lost", spoil: lose(1, give, errLost)},
		{name: "the write is refused", spoil: refuse(2, give)},
		{name: "the write is refused when it was made", spoil: lose(1, give, errRefused)},
		{name: "the write is refused often when it was made", spoil: lose(3, give, errRefused)},
		{name: "the pod goes when it is bound", during: leave},
		{name: "the binding is refused, and the pod goes", spoil: refuse(9, bind), during: leave},
		{name: "the scheduler starts again", during: again},
		{name: "the binding is refused, and the scheduler starts again", spoil: refuse(9, bind), during: again},
		{name: "the scheduler starts again beside old caches", during: func(s *store, stop *func()) {
			(*stop)()
			s.cached = s.oldCaches()
			*stop = s.start()
		}},
	} {
		for _, class := range []string{"local", "made"} {
			for _, lags := range lagging {
				t.Run(fmt.Sprintf("%s, %s, late: %s", w.name, class, lags), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						late := map[string]time.Duration{}
						for i, resource := range strings.Fields(lags) {
							late[resource] = time.Duration(i+1) * 2 * time.Second
						}
						s := newStore(t, class, late)
						s.after = func(write string) error { s.look(write); return nil }
						if w.spoil != nil {
							w.spoil(s)
						}
						stopped := make(chan struct{})
						go s.control(stopped)
						stop := s.start()
						s.submit("first")
						time.Sleep(10 * time.Millisecond)
						s.submit("second")
						time.Sleep(12 * time.Second)
						if w.during != nil {
							w.during(s, &stop)
						}
						time.Sleep(3 * time.Minute)
						s.end()
						stop()
						close(stopped)
					})
				})
			}
		}
	}
}

// A pool reports the same room for ever, though volumes are made of it: what was made counts against it for
// minutes, and no longer.
func TestRoomThatIsReportedAsBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, "made", nil)
		room := resource.MustParse("1536Mi")
		tracks := true
		for _, o := range []runtime.Object{
			&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "disk.example.com"}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &tracks}},
			&storagev1.CSIStorageCapacity{
				ObjectMeta:       metav1.ObjectMeta{Namespace: space, Name: "pool"},
				StorageClassName: "made", NodeTopology: &metav1.LabelSelector{}, Capacity: &room,
			},
		} {
			if err := s.Tracker().Add(o); err != nil {
				t.Fatal(err)
			}
		}
		stopped := make(chan struct{})
		go s.control(stopped)
		stop := s.start()
		s.submit("first")
		time.Sleep(time.Second)
		s.submit("second")
		time.Sleep(roomRepeated - 10*time.Second)
		if first, second := s.nodeOf("first"), s.nodeOf("second"); first != nodeName || second != "" {
			t.Errorf("before the report is repeated, the first is on %q, and the second on %q", first, second)
		}
		time.Sleep(roomRepeated + 2*time.Minute)
		if got := s.nodeOf("second"); got != nodeName {
			t.Errorf("after the report was repeated, the second is on %q", got)
		}
		stop()
		close(stopped)
	})
}

// roomRepeated is how often the adapter tells the engine again of room that is as it was.
const roomRepeated = 5 * time.Minute

// lagging are the watches that lag, the last the most.
var lagging = []string{
	"persistentvolumes", "persistentvolumeclaims", "pods",
	"persistentvolumes persistentvolumeclaims", "persistentvolumeclaims persistentvolumes",
	"persistentvolumes pods persistentvolumeclaims", "persistentvolumeclaims pods persistentvolumes", "pods persistentvolumes persistentvolumeclaims",
}

// named is the write, or where it is empty the one by which the first pod gets its volume.
func (s *store) named(write string) string {
	switch {
	case write != "":
		return write
	case s.class == "local":
		return "update persistentvolumes only"
	}
	return "update persistentvolumeclaims first"
}

// oldCaches are the volumes and claims as they were before the scheduler wrote anything.
func (s *store) oldCaches() map[string]stale {
	volumes := &v1.PersistentVolumeList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	claims := &v1.PersistentVolumeClaimList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}
	if s.class == "local" {
		v := s.volume("only")
		v.ResourceVersion = "1"
		volumes.Items = append(volumes.Items, *v)
	}
	for _, name := range []string{"first", "second"} {
		c := get[*v1.PersistentVolumeClaim](s.library, space, name).DeepCopy()
		c.Annotations, c.Spec.VolumeName, c.ResourceVersion = nil, "", "1"
		claims.Items = append(claims.Items, *c)
	}
	return map[string]stale{
		"persistentvolumes": {volumes, func() (now []runtime.Object) {
			for _, name := range s.names() {
				if v := get[*v1.PersistentVolume](s.library, "", name); v != nil {
					now = append(now, v.DeepCopy())
				}
			}
			return now
		}},
		"persistentvolumeclaims": {claims, func() (now []runtime.Object) {
			for _, name := range []string{"first", "second"} {
				now = append(now, get[*v1.PersistentVolumeClaim](s.library, space, name).DeepCopy())
			}
			return now
		}},
	}
}
