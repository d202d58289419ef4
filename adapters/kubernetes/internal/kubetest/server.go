package kubetest

import (
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

var podsResource = v1.SchemeGroupVersion.WithResource("pods")

// server gives pods their UIDs, binds them, and lets those on nodes end before they
// are gone.
type server struct {
	mu      sync.Mutex // no two of the calls below at once
	tracker clienttesting.ObjectTracker
	made    int
}

// NewServer returns a client of an API server in memory with the objects. It knows of
// pods what counts for a scheduler: a pod gets a UID, is bound once, and where it is
// bound a deletion only asks it to end, unless the grace period is 0. Claims to devices have
// versions; see [Versions]. Field selectors it does not know.
func NewServer(objects ...runtime.Object) *fake.Clientset {
	client := fake.NewClientset(objects...)
	s := &server{tracker: client.Tracker()}
	client.PrependReactor("create", "pods", s.create)
	client.PrependReactor("delete", "pods", s.delete)
	client.PrependReactor("*", "resourceclaims", NewVersions(client.Tracker()).Write)
	return client
}

func (s *server) create(action clienttesting.Action) (bool, runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object := action.(clienttesting.CreateAction).GetObject()
	if b, ok := object.(*v1.Binding); ok {
		return true, b, s.bind(action.GetNamespace(), b.Name, b)
	}
	if p, ok := object.(*v1.Pod); ok && p.UID == "" {
		s.made++
		p.UID = types.UID(fmt.Sprintf("%s-%d", p.Name, s.made))
	}
	return false, nil, nil
}

// get returns a copy of the pod, if it is the one of the UID; any where that is nil.
func (s *server) get(namespace, name string, id *types.UID) (*v1.Pod, error) {
	object, err := s.tracker.Get(podsResource, namespace, name)
	if err != nil {
		return nil, err
	}
	p := object.(*v1.Pod).DeepCopy()
	if id != nil && *id != "" && *id != p.UID {
		return nil, apierrors.NewConflict(podsResource.GroupResource(), name, fmt.Errorf("the UID in the precondition is %s, the UID in the record %s", *id, p.UID))
	}
	return p, nil
}

func (s *server) bind(namespace, name string, b *v1.Binding) error {
	p, err := s.get(namespace, name, &b.UID)
	switch {
	case err != nil:
		return err
	case p.DeletionTimestamp != nil:
		return apierrors.NewConflict(podsResource.GroupResource(), name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", name))
	case p.Spec.NodeName != "":
		return apierrors.NewConflict(podsResource.GroupResource(), name, fmt.Errorf("pod %s is already assigned to node %q", name, p.Spec.NodeName))
	}
	p.Spec.NodeName = b.Target.Name
	p.Status.NominatedNodeName = ""
	return s.tracker.Update(podsResource, p, namespace)
}

func (s *server) delete(action clienttesting.Action) (bool, runtime.Object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	del := action.(clienttesting.DeleteActionImpl)
	var id *types.UID
	if pre := del.DeleteOptions.Preconditions; pre != nil {
		id = pre.UID
	}
	p, err := s.get(del.Namespace, del.Name, id)
	if err != nil {
		return true, nil, err
	}
	if grace := del.DeleteOptions.GracePeriodSeconds; p.Spec.NodeName == "" || grace != nil && *grace == 0 {
		return true, nil, s.tracker.Delete(podsResource, del.Namespace, del.Name)
	}
	if p.DeletionTimestamp != nil {
		return true, nil, nil
	}
	now := metav1.Now()
	p.DeletionTimestamp = &now
	return true, nil, s.tracker.Update(podsResource, p, del.Namespace)
}
