package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// request is a claim to a card.
func request(name string, changes ...func(*resourcev1.ResourceClaim)) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name, UID: types.UID(name + "-uid")}}
	c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "card", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
	}}}
	for _, f := range changes {
		f(c)
	}
	return c
}

// has gives the claim a device.
func has(device string) func(*resourcev1.ResourceClaim) {
	return func(c *resourcev1.ResourceClaim) {
		c.Finalizers = []string{resourcev1.Finalizer}
		at := metav1.Unix(1e9, 0)
		c.Status.Allocation = &resourcev1.AllocationResult{AllocationTimestamp: &at, Devices: resourcev1.DeviceAllocationResult{
			Results: []resourcev1.DeviceRequestAllocationResult{{Request: "card", Driver: "d", Pool: "p", Device: device}},
		}}
	}
}

var (
	thePod   = resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: podName, UID: podUID}
	otherPod = resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "other", UID: "other-uid"}
	theGroup = resourcev1.ResourceClaimConsumerReference{APIGroup: "scheduling.k8s.io", Resource: "podgroups", Name: "crew", UID: "crew-uid"}
)

// reserved reserves the claim.
func reserved(by ...resourcev1.ResourceClaimConsumerReference) func(*resourcev1.ResourceClaim) {
	return func(c *resourcev1.ResourceClaim) { c.Status.ReservedFor = append(c.Status.ReservedFor, by...) }
}

func crew() *schedulingv1beta1.PodGroup {
	return &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "crew", UID: "crew-uid"}}
}

// decideOn is the decision that the claim gets the device, where it has none, and is
// reserved for those, too.
func decideOn(name, device string, by ...model.Consumer) *model.DeviceClaim {
	return &model.DeviceClaim{
		ID: space + "/" + name, Namespace: space, Name: name, UID: name + "-uid", ReservedFor: by,
		Allocation: &model.Allocation{Devices: []model.AllocatedDevice{{Request: "card", DeviceID: model.DeviceID{Driver: "d", Pool: "p", Device: device}}}},
	}
}

var (
	byPod   = model.Consumer{Workload: podUID}
	byOther = model.Consumer{Workload: "other-uid"}
	byGroup = model.Consumer{Group: space + "/crew"}
)

// outline is what matters of a claim: its finalizers, devices, and users.
func outline(c *resourcev1.ResourceClaim) string {
	if c == nil {
		return "none"
	}
	words := slices.Clone(c.Finalizers)
	if a := c.Status.Allocation; a != nil {
		for _, r := range a.Devices.Results {
			words = append(words, "has "+r.Device)
		}
		if a.AllocationTimestamp == nil {
			words = append(words, "since nobody knows when")
		}
	}
	for _, r := range c.Status.ReservedFor {
		words = append(words, "for "+strings.TrimPrefix(r.APIGroup+"/"+r.Resource, "/")+" "+r.Name+" "+string(r.UID))
	}
	if len(c.Status.Devices) > 0 {
		words = append(words, "with conditions")
	}
	return strings.Join(words, ", ")
}

const (
	onPod   = ", for pods probe probe-uid"
	onGroup = ", for scheduling.k8s.io/podgroups crew crew-uid"
	held    = resourcev1.Finalizer + ", has x"
	putOn   = "update resourceclaims card"
	putIn   = "update resourceclaims/status card"
)

func TestBindDevices(t *testing.T) {
	t.Parallel()
	meanwhile := func(f func(*resourcev1.ResourceClaim)) func(*library, string) error {
		done := false
		return func(l *library, _ string) error {
			if !done {
				done = true
				change(l, space, "card", f)
			}
			return nil
		}
	}
	refuse := func(write string) func(*library, string) error {
		return func(_ *library, w string) error {
			if w == write {
				return errRefused
			}
			return nil
		}
	}
	note := meanwhile(func(c *resourcev1.ResourceClaim) { c.Labels = map[string]string{"new": ""} })
	for _, c := range []struct {
		name    string
		objects []runtime.Object
		decided *model.DeviceClaim
		before  func(*library, string) error
		err     string
		card    string // the claim's outline at the end
		writes  []string
	}{
		{name: "is given and reserved", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byPod), card: held + onPod, writes: []string{putOn, putIn}},
		{name: "had been given", objects: []runtime.Object{request("card", has("x"))}, decided: decideOn("card", "x", byPod), card: held + onPod, writes: []string{putIn}},
		{name: "has the finalizer from an earlier try", objects: []runtime.Object{request("card", func(c *resourcev1.ResourceClaim) { c.Finalizers = []string{resourcev1.Finalizer} })}, decided: decideOn("card", "x", byPod), card: held + onPod, writes: []string{putIn}},
		{name: "had been reserved", objects: []runtime.Object{request("card", has("x"), reserved(thePod))}, decided: decideOn("card", "x", byPod), card: held + onPod},
		{name: "others have it too", objects: []runtime.Object{request("card", has("x"), reserved(otherPod))}, decided: decideOn("card", "x", byOther, byPod), card: held + ", for pods other other-uid" + onPod, writes: []string{putIn}},
		{name: "others are to write down themselves", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byOther, byPod), card: held + onPod, writes: []string{putOn, putIn}},
		{name: "the group has it", objects: []runtime.Object{request("card"), crew()}, decided: decideOn("card", "x", byGroup), card: held + onGroup, writes: []string{putOn, putIn}},
		{name: "another member wrote it", objects: []runtime.Object{request("card", has("x"), reserved(theGroup)), crew()}, decided: decideOn("card", "x", byGroup), card: held + onGroup},
		{name: "the group is not there", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byGroup), err: `there is no pod group "lab/crew" any more`},
		{name: "has changed somehow", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byPod), before: note, card: held + onPod, writes: []string{putOn, putOn, putIn}},
		{name: "another user comes meanwhile", objects: []runtime.Object{request("card", has("x"))}, decided: decideOn("card", "x", byPod), before: meanwhile(reserved(otherPod)), card: held + ", for pods other other-uid" + onPod, writes: []string{putIn, putIn}},
		{name: "another gives it the same meanwhile", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byPod), before: meanwhile(has("x")), card: held + onPod, writes: []string{putOn, putIn}},
		{name: "is taken back meanwhile", objects: []runtime.Object{request("card", has("x"))}, decided: decideOn("card", "x", byPod), before: meanwhile(func(c *resourcev1.ResourceClaim) { c.Status.Allocation, c.Finalizers = nil, nil }), card: held + onPod, writes: []string{putIn, putOn, putIn}},

		{name: "has something else", objects: []runtime.Object{request("card", has("y"))}, decided: decideOn("card", "x", byPod), err: "claim lab/card got allocated elsewhere in the meantime", card: resourcev1.Finalizer + ", has y"},
		{name: "gets something else meanwhile", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byPod), before: meanwhile(has("y")), err: "claim lab/card got allocated elsewhere in the meantime", card: resourcev1.Finalizer + ", has y", writes: []string{putOn}},
		{name: "is being deleted", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byPod), before: meanwhile(func(c *resourcev1.ResourceClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Now()} }), err: "claim lab/card got deleted in the meantime", writes: []string{putOn}},
		{name: "is made anew", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byPod), before: meanwhile(func(c *resourcev1.ResourceClaim) { c.UID = "new" }), err: "claim lab/card is not the one that was decided about", writes: []string{putOn}},
		{name: "is not there", decided: decideOn("card", "x", byPod), err: `resourceclaim.resource.k8s.io "card" not found`, card: "none"},
		{name: "the finalizer is refused", objects: []runtime.Object{request("card")}, decided: decideOn("card", "x", byPod), before: refuse(putOn), err: "add finalizer to claim: forbidden: no such luck", writes: []string{putOn}},
		{name: "the status is refused", objects: []runtime.Object{request("card", has("x"))}, decided: decideOn("card", "x", byPod), before: refuse(putIn), err: "add reservation to claim: forbidden: no such luck", card: held, writes: []string{putIn}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, c.objects...)
				if c.before != nil {
					s.before = func(write string) error { return c.before(s.library, write) }
				}
				decided := model.Binding{Workload: podUID, Node: nodeName, Decided: model.Objects{c.decided}}
				expect(t, s.adapter.BindDevices(t.Context(), probe(), decided), c.err)
				s.expectWrites(c.writes...)
				if got := outline(get[*resourcev1.ResourceClaim](s.library, space, "card")); got != c.card {
					t.Errorf("got %s, want %s", got, c.card)
				}
				if c.err == "" { // also where the informers have not heard of it
					s.writes = nil
					expect(t, s.adapter.BindDevices(t.Context(), probe(), decided), "")
					if got := outline(get[*resourcev1.ResourceClaim](s.library, space, "card")); got != c.card {
						t.Errorf("called again: got %s, want %s", got, c.card)
					}
					synctest.Wait()
					s.writes = nil
					expect(t, s.adapter.BindDevices(t.Context(), probe(), decided), "")
					s.expectWrites()
				}
			})
		})
	}
}

// What was written for a pod that is not bound after all is taken back, as far as it
// is the pod's alone.
func TestBindDevicesFails(t *testing.T) {
	t.Parallel()
	shelf := []runtime.Object{request("card"), crew()}
	withdraw := "patch resourceclaims/status card"
	for _, c := range []struct {
		name    string
		by      model.Consumer
		cause   error // why the context ends; nil: it does not
		onNode  bool  // the pod has come to run all the same
		busy    bool  // the server is, when it is to be taken back
		refused bool  // what would take it back is
		card    string
		writes  []string
	}{
		{name: "a later claim cannot be had", by: byPod, card: held, writes: []string{putOn, putIn, withdraw}},
		{name: "the group keeps what is its own", by: byGroup, card: held + onGroup, writes: []string{putOn, putIn}},
		{name: "the attempt is called off", by: byPod, cause: errors.New("not wanted any more"), busy: true, card: held, writes: []string{putOn, putIn, withdraw, withdraw}},
		{name: "the engine is stopped", by: byPod, cause: engine.ErrStopped, card: held + onPod, writes: []string{putOn, putIn}},
		{name: "the pod runs", by: byPod, onNode: true, card: held + onPod, writes: []string{putOn, putIn}},
		{name: "the server refuses", by: byPod, refused: true, card: held + onPod, writes: []string{putOn, putIn, withdraw}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, shelf...)
				ctx, cancel := context.WithCancelCause(t.Context())
				s.after = func(write string) error {
					if write == putIn && c.cause != nil {
						cancel(c.cause)
					}
					if write == putIn && c.onNode {
						change(s.library, space, podName, func(p *v1.Pod) { p.Spec.NodeName = nodeName })
						time.Sleep(time.Millisecond) // until the informers have heard of it
					}
					return nil
				}
				s.before = func(write string) error {
					switch {
					case write != withdraw:
					case c.refused:
						return errRefused
					case c.busy && !slices.Contains(s.writes[:len(s.writes)-1], withdraw):
						return errBusy
					}
					return nil
				}
				missing := decideOn("missing", "y", byPod)
				err := s.adapter.BindDevices(ctx, probe(), model.Binding{Node: nodeName, Decided: model.Objects{decideOn("card", "x", c.by), missing}})
				expect(t, err, `"missing" not found`)
				s.expectWrites(c.writes...)
				if got := outline(get[*resourcev1.ResourceClaim](s.library, space, "card")); got != c.card {
					t.Errorf("got %s, want %s", got, c.card)
				}
			})
		})
	}
}

// A binding that fails takes back what was reserved for it.
func TestBindFailsAfterDevicesWereReserved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, request("card"))
		s.before = func(write string) error {
			if write == "create pods/binding "+podName {
				return errRefused
			}
			return nil
		}
		b := model.Binding{Node: nodeName, Decided: model.Objects{decideOn("card", "x", byPod)}}
		if err := s.adapter.BindDevices(t.Context(), probe(), b); err != nil {
			t.Fatal(err)
		}
		expect(t, s.adapter.Bind(t.Context(), probe(), b), errRefused.Error())
		if got := outline(get[*resourcev1.ResourceClaim](s.library, space, "card")); got != held {
			t.Errorf("got %s, want %s", got, held)
		}
	})
}

// A pod is not bound while it does not have its claim reserved, whatever the engine
// believes.
func TestBindWithoutReservation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, request("card", has("x"), reserved(otherPod)))
		w := probe()
		w.DeviceClaims = []model.DeviceClaimRef{{Name: "card", ID: space + "/card"}}
		expect(t, s.adapter.Bind(t.Context(), w, model.Binding{Node: nodeName}), "claim lab/card is not reserved for the pod any more")
		s.expectWrites()
	})
}

// givenAt has the devices of a claim be given then.
func givenAt(at time.Time) func(*resourcev1.ResourceClaim) {
	return func(c *resourcev1.ResourceClaim) { c.Status.Allocation.AllocationTimestamp = &metav1.Time{Time: at} }
}

// conditional makes the devices of a claim need a condition.
func conditional(c *resourcev1.ResourceClaim) {
	r := &c.Status.Allocation.Devices.Results[0]
	r.BindingConditions, r.BindingFailureConditions = []string{"Attached", "Ready"}, []string{"Broken"}
}

// reports has the driver of the claim's device report conditions.
func reports(conditions ...metav1.Condition) func(*resourcev1.ResourceClaim) {
	return func(c *resourcev1.ResourceClaim) {
		r := &c.Status.Allocation.Devices.Results[0]
		c.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: r.Driver, Pool: r.Pool, Device: r.Device, Conditions: conditions}}
	}
}

func conditionIs(name string, status metav1.ConditionStatus) metav1.Condition {
	return metav1.Condition{Type: name, Status: status, Reason: "Because", Message: "of this"}
}

// decideConditional is the decision that the claim gets x, which has conditions.
func decideConditional() *model.DeviceClaim {
	d := decideOn("card", "x", byPod)
	d.Allocation.At = time.Unix(1e9, 0)
	d.Allocation.Devices[0].BindingConditions, d.Allocation.Devices[0].BindingFailures = []string{"Attached", "Ready"}, []string{"Broken"}
	return d
}

func TestBindingConditions(t *testing.T) {
	t.Parallel()
	on := func(f func(*resourcev1.ResourceClaim)) func(*library) {
		return func(l *library) { change(l, space, "card", f) }
	}
	attached, ready := conditionIs("Attached", metav1.ConditionTrue), conditionIs("Ready", metav1.ConditionTrue)
	for _, c := range []struct {
		name   string
		object *resourcev1.ResourceClaim
		then   func(*library)
		err    string
		card   string
	}{
		{name: "become true", object: request("card"), then: on(reports(attached, ready)), card: held + onPod + ", with conditions"},
		{name: "become true one by one", object: request("card"), then: func(l *library) {
			on(reports(attached))(l)
			time.Sleep(time.Minute)
			on(reports(attached, ready))(l)
		}, card: held + onPod + ", with conditions"},
		{name: "had been true", object: request("card", has("x"), conditional, reports(attached, ready)), card: held + onPod + ", with conditions"},
		{name: "one is not true", object: request("card"), then: on(reports(attached, conditionIs("Ready", metav1.ConditionUnknown))), err: "the devices of claim lab/card are not ready yet: context deadline exceeded", card: held + ", with conditions"},
		{name: "nobody reports", object: request("card"), err: "the devices of claim lab/card are not ready yet: context deadline exceeded", card: held},
		{name: "another device's", object: request("card"), then: on(func(c *resourcev1.ResourceClaim) {
			reports(attached, ready)(c)
			c.Status.Devices[0].Device = "y"
		}), err: "are not ready yet: context deadline exceeded", card: held + ", with conditions"},
		{name: "another pod has waited as long as one may", object: request("card", has("x"), conditional, givenAt(time.Date(1999, 12, 31, 23, 45, 0, 0, time.UTC))), err: "the devices of claim lab/card are not ready since 1999-12-31 23:45:00 +0000 UTC: context deadline exceeded", card: held},
		{name: "fails", object: request("card"), then: on(reports(attached, conditionIs("Broken", metav1.ConditionTrue), ready)), err: `device binding failed: claim=card, reason=Because, message="of this"`, card: held + ", with conditions"},
		{name: "does not fail", object: request("card"), then: on(reports(attached, conditionIs("Broken", metav1.ConditionFalse), ready)), card: held + onPod + ", with conditions"},
		{name: "the claim loses it", object: request("card"), then: on(func(c *resourcev1.ResourceClaim) { c.Status = resourcev1.ResourceClaimStatus{} }), err: "claim lab/card got deallocated elsewhere in the meantime", card: resourcev1.Finalizer},
		{name: "the claim goes", object: request("card"), then: func(l *library) { drop[*resourcev1.ResourceClaim](l, space, "card") }, err: `"card" not found`, card: "none"},
		{name: "the claim is made anew", object: request("card"), then: on(func(c *resourcev1.ResourceClaim) { c.UID = "new" }), err: "claim lab/card got deleted in the meantime", card: held + onPod},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, c.object)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				err := s.play(func() error {
					return s.adapter.BindDevices(ctx, probe(), model.Binding{Node: nodeName, Decided: model.Objects{decideConditional()}})
				}, c.then)
				expect(t, err, c.err)
				if strings.Contains(c.err, "deadline") != errors.Is(err, context.DeadlineExceeded) || strings.Contains(c.err, "failed") != errors.Is(err, kubernetes.ErrDeviceBindingFailed) {
					t.Errorf("the error cannot be told: %v", err)
				}
				if got := outline(get[*resourcev1.ResourceClaim](s.library, space, "card")); got != c.card {
					t.Errorf("got %s, want %s", got, c.card)
				}
				synctest.Wait()
				if got, want := eventsOf(t, s.library), []string{"Normal BindingConditionsPending Scheduling probe: waiting for binding conditions for device on node n1"}; !reflect.DeepEqual(got, want) {
					t.Errorf("got events %q, want %q", got, want)
				}
			})
		})
	}
}

// eventsOf are the events that were written.
func eventsOf(t *testing.T, l *library) (list []string) {
	t.Helper()
	all, err := l.EventsV1().Events(space).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all.Items {
		list = append(list, fmt.Sprintf("%s %s %s %s: %s", e.Type, e.Reason, e.Action, e.Regarding.Name, e.Note))
	}
	return list
}

// A claim that all users write at once comes to have them all.
func TestBindDevicesTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, request("card"))
		const users = 64
		errs := make(chan error)
		for i := range users {
			w := &model.Workload{ID: fmt.Sprintf("uid-%d", i), Namespace: space, Name: fmt.Sprintf("pod-%d", i)}
			go func() {
				errs <- s.adapter.BindDevices(t.Context(), w, model.Binding{Node: nodeName, Decided: model.Objects{decideOn("card", "x", model.Consumer{Workload: w.ID})}})
			}()
		}
		for range users {
			expect(t, <-errs, "")
		}
		c, err := convert.DeviceClaim(get[*resourcev1.ResourceClaim](s.library, space, "card"))
		if err != nil || len(c.ReservedFor) != users {
			t.Errorf("%d of %d have it: %v", len(c.ReservedFor), users, err)
		}
	})
}
