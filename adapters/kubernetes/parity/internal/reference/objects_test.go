package reference

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func node(name string) *v1.Node {
	return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: v1.NodeStatus{Allocatable: v1.ResourceList{
		v1.ResourceCPU: resource.MustParse("1"), v1.ResourceMemory: resource.MustParse("4Gi"), v1.ResourcePods: resource.MustParse("10")}}}
}

func newScheduler(t *testing.T, cfg Config) *Scheduler {
	t.Helper()
	cfg.Now = start
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// next runs a cycle and checks what it came to.
func (s *Scheduler) next(t *testing.T, want string) {
	t.Helper()
	s.SetTime(s.Clock.Now().Add(time.Second))
	s.FlushBackoff()
	d, ok := s.ScheduleOne()
	if !ok || d.String() != want {
		t.Fatalf("%v %v\nwant %v", ok, d, want)
	}
	s.Deliver()
}

func storageClaim(name string) *v1.PersistentVolumeClaim {
	return &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "u-1"},
		Spec: v1.PersistentVolumeClaimSpec{StorageClassName: new("late"), AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce},
			Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{v1.ResourceStorage: resource.MustParse("1Gi")}}}}
}

// A claim that waits for a pod gets the volume that there is, or asks for one;
// both at once, without the wait of kube-scheduler.
func TestVolumes(t *testing.T) {
	s := newScheduler(t, Config{})
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	s.Put(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "late"}, Provisioner: "x.io", VolumeBindingMode: &mode})
	s.Put(node("n1"))
	s.Put(&v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v1"}, Spec: v1.PersistentVolumeSpec{StorageClassName: "late",
		AccessModes: []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}, Capacity: v1.ResourceList{v1.ResourceStorage: resource.MustParse("2Gi")}},
		Status: v1.PersistentVolumeStatus{Phase: v1.VolumeAvailable}})
	for _, name := range []string{"a", "b"} {
		p := pod(name, 0, "100m")
		p.Spec.Volumes = []v1.Volume{{Name: "v", VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}}
		s.Put(storageClaim(name))
		s.Put(p)
	}
	begin := time.Now()
	s.next(t, "a on n1 (1 evaluated, 1 feasible), volume v1 for claim default/a")
	if list := s.Volumes(); len(list) != 1 || list[0].Spec.ClaimRef.UID != "u-1" {
		t.Errorf("volumes: %v", list)
	}
	s.next(t, "b on n1 (1 evaluated, 1 feasible), volume for claim default/b on n1")
	if list := s.VolumeClaims(); len(list) != 1 || list[0].Name != "b" {
		t.Errorf("claims: %v", list)
	}
	if waited := time.Since(begin); waited > 30*time.Second {
		t.Errorf("waited %v", waited)
	}
}

// A claim gets devices and is reserved for the pod; the next finds none left.
func TestDevices(t *testing.T) {
	s := newScheduler(t, Config{})
	s.Put(node("n1"))
	s.Put(&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}})
	s.Put(&resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s1"}, Spec: resourcev1.ResourceSliceSpec{Driver: "x.io", NodeName: new("n1"),
		Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1}, Devices: []resourcev1.Device{{Name: "d1"}}}})
	for _, name := range []string{"a", "b"} {
		s.Put(&resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "u-1"}, Spec: resourcev1.ResourceClaimSpec{
			Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu",
				AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}}}})
		p := pod(name, 0, "100m")
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimName: new(name)}}
		s.Put(p)
	}
	s.next(t, "a on n1 (1 evaluated, 1 feasible), devices for claim default/a: r x.io/p/d1, on nodes with metadata.name In [n1], for [pods a]")
	s.next(t, `b nowhere: "0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling." by [DynamicResources]`)
}

// The members of a gang are placed together, or not at all.
func TestGroups(t *testing.T) {
	s := newScheduler(t, Config{Gates: Groups, Tie: func(string) int64 { return 0 }})
	s.Put(node("n1"))
	s.Put(&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "g", UID: "g"}, Spec: schedulingv1beta1.PodGroupSpec{
		SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 2}}}})
	for _, name := range []string{"a", "b"} {
		p := pod(name, 0, "600m")
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: new("g")}
		s.Put(p)
	}
	s.next(t, `podgroup default/g
    0 a nowhere: "pod group is unschedulable, pod group is unschedulable, 0/1 placements are available, first placement status: minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, pod group preemption: No preemption victims found for incoming preemptor" by []
    1 b nowhere: "0/1 nodes are available: 1 Insufficient cpu." by [NodeResourcesFit]`)
	s.Put(node("n2"))
	s.SetTime(s.Clock.Now().Add(time.Minute))
	s.next(t, `podgroup default/g
    0 a on n1
    1 b on n2`)
}
