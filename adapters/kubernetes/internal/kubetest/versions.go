package kubetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clienttesting "k8s.io/client-go/testing"
)

// Object is an object of the API.
type Object interface {
	runtime.Object
	metav1.Object
}

// Versions writes the objects of an API server in memory as the real one does: with
// versions and conflicts, UIDs that must match, finalizers that hold deletions back, and
// a status of claims that is written apart from the rest. Without versions nobody can tell
// an old report from a new one.
type Versions struct {
	tracker clienttesting.ObjectTracker
	last    atomic.Int64
	mu      sync.Mutex // no two writes at once
}

// NewVersions returns the writer of what the tracker has.
func NewVersions(tracker clienttesting.ObjectTracker) *Versions {
	v := &Versions{tracker: tracker}
	v.last.Store(100)
	return v
}

// Stamp gives the object the next version.
func (v *Versions) Stamp(o metav1.Object) { o.SetResourceVersion(fmt.Sprint(v.last.Add(1))) }

// Write does what the action asks for, if that is a write of one object. It is a
// [clienttesting.ReactionFunc].
func (v *Versions) Write(action clienttesting.Action) (handled bool, is runtime.Object, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	gvr, namespace := action.GetResource(), action.GetNamespace()
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		is, err = v.create(gvr, a.Object.(Object))
	case clienttesting.UpdateActionImpl:
		is, err = v.update(gvr, a.Object.(Object), a.Subresource)
	case clienttesting.PatchActionImpl:
		is, err = v.patch(gvr, namespace, a.Name, a.Patch)
	case clienttesting.DeleteActionImpl:
		err = v.delete(gvr, namespace, a.Name, a.DeleteOptions.Preconditions)
	default:
		return false, nil, nil
	}
	return true, is, err
}

func (v *Versions) create(gvr schema.GroupVersionResource, o Object) (runtime.Object, error) {
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("uid-%d", v.last.Load())))
	}
	v.Stamp(o)
	return o, v.tracker.Create(gvr, o, o.GetNamespace())
}

func (v *Versions) update(gvr schema.GroupVersionResource, o Object, subresource string) (runtime.Object, error) {
	was, err := v.tracker.Get(gvr, o.GetNamespace(), o.GetName())
	if err != nil {
		return nil, err
	}
	if was.(Object).GetResourceVersion() != o.GetResourceVersion() {
		return nil, apierrors.NewConflict(gvr.GroupResource(), o.GetName(), errors.New("the object has been modified"))
	}
	if c, ok := o.(*resourcev1.ResourceClaim); ok {
		whole := was.(*resourcev1.ResourceClaim)
		if subresource == "status" {
			whole.Status = c.Status
			o = whole
		} else {
			c.Status = whole.Status
		}
	}
	v.Stamp(o)
	return o, v.tracker.Update(gvr, o, o.GetNamespace())
}

func (v *Versions) patch(gvr schema.GroupVersionResource, namespace, name string, patch []byte) (runtime.Object, error) {
	was, err := v.tracker.Get(gvr, namespace, name)
	if err != nil {
		return nil, err
	}
	var says struct{ Metadata struct{ UID types.UID } }
	if err := json.Unmarshal(patch, &says); err != nil {
		return nil, err
	}
	if says.Metadata.UID != was.(Object).GetUID() {
		return nil, apierrors.NewConflict(gvr.GroupResource(), name, errors.New("the UID is another"))
	}
	whole, err := json.Marshal(was)
	if err != nil {
		return nil, err
	}
	whole, err = strategicpatch.StrategicMergePatch(whole, patch, was)
	if err != nil {
		return nil, err
	}
	is := reflect.New(reflect.TypeOf(was).Elem()).Interface().(Object)
	if err := json.Unmarshal(whole, is); err != nil {
		return nil, err
	}
	v.Stamp(is)
	return is, v.tracker.Update(gvr, is, namespace)
}

func (v *Versions) delete(gvr schema.GroupVersionResource, namespace, name string, must *metav1.Preconditions) error {
	was, err := v.tracker.Get(gvr, namespace, name)
	if err != nil {
		return err
	}
	o := was.(Object)
	if must != nil && (must.UID != nil && *must.UID != o.GetUID() || must.ResourceVersion != nil && *must.ResourceVersion != o.GetResourceVersion()) {
		return apierrors.NewConflict(gvr.GroupResource(), name, errors.New("a precondition is not met"))
	}
	if len(o.GetFinalizers()) == 0 {
		return v.tracker.Delete(gvr, namespace, name)
	}
	now := metav1.Now()
	o.SetDeletionTimestamp(&now)
	v.Stamp(o)
	return v.tracker.Update(gvr, o, namespace)
}
