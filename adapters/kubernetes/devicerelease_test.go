package kubernetes_test

import (
	"testing"
	"testing/synctest"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/model"
)

// emptied is what is left of a claim that gives back its devices.
func emptied(c *model.DeviceClaim) *model.DeviceClaim {
	left := *c
	left.Allocation, left.ReservedFor, left.Conditions = nil, nil, nil
	return &left
}

// withoutGroup is what is left of a claim that the group gives up.
func withoutGroup(c *model.DeviceClaim) *model.DeviceClaim {
	left := *c
	left.ReservedFor = nil
	for _, by := range c.ReservedFor {
		if by != byGroup {
			left.ReservedFor = append(left.ReservedFor, by)
		}
	}
	return &left
}

func gone(*model.DeviceClaim) *model.DeviceClaim { return nil }

func TestReleaseDevices(t *testing.T) {
	t.Parallel()
	const del = "delete resourceclaims card"
	idle := func() *resourcev1.ResourceClaim { return request("card", has("x"), conditional, reports()) }
	shared := func() *resourcev1.ResourceClaim { return request("card", has("x"), reserved(theGroup, otherPod)) }
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
	vanish := func(l *library, _ string) error {
		drop[*resourcev1.ResourceClaim](l, space, "card")
		return nil
	}
	label := func(c *resourcev1.ResourceClaim) { c.Labels = map[string]string{"new": ""} }
	taken := reserved(thePod)
	for _, c := range []struct {
		name   string
		object *resourcev1.ResourceClaim // as it was reported
		left   func(*model.DeviceClaim) *model.DeviceClaim
		heard  func(*resourcev1.ResourceClaim) // what the informers hear before
		before func(*library, string) error    // the write
		err    string
		card   string
		writes []string
	}{
		{name: "gives back", object: idle(), left: emptied, card: resourcev1.Finalizer, writes: []string{putIn}},
		{name: "gives back what one has reserved", object: request("card", has("x"), reserved(thePod)), left: emptied, card: resourcev1.Finalizer, writes: []string{putIn}},
		{name: "loses a user", object: shared(), left: withoutGroup, card: held + ", for pods other other-uid", writes: []string{putIn}},
		{name: "goes", object: idle(), left: gone, card: "none", writes: []string{putOn, del}},
		{name: "goes, without a finalizer", object: request("card", has("x"), func(c *resourcev1.ResourceClaim) { c.Finalizers = nil }), left: gone, card: "none", writes: []string{del}},
		{name: "goes, once others let it", object: request("card", has("x"), func(c *resourcev1.ResourceClaim) { c.Finalizers = append(c.Finalizers, "other") }), left: gone, card: "other, has x", writes: []string{putOn, del}},

		{name: "has changed somehow, gives back", object: idle(), left: emptied, before: meanwhile(label), card: resourcev1.Finalizer, writes: []string{putIn, putIn}},
		{name: "has changed somehow, loses a user", object: shared(), left: withoutGroup, before: meanwhile(label), card: held + ", for pods other other-uid", writes: []string{putIn, putIn}},
		{name: "has changed somehow, goes", object: idle(), left: gone, before: meanwhile(label), card: "none", writes: []string{putOn, putOn, del}},
		{name: "has gone by itself", object: idle(), left: gone, before: vanish, card: "none", writes: []string{putOn}},
		{name: "has gone with what it is to give back", object: idle(), left: emptied, before: vanish, card: "none", writes: []string{putIn}},
		{name: "has nothing to give back", object: idle(), left: emptied, heard: func(c *resourcev1.ResourceClaim) { c.Status = resourcev1.ResourceClaimStatus{} }, card: resourcev1.Finalizer},
		{name: "was reserved for one that is gone", object: request("card", has("x"), reserved(thePod)), left: emptied, heard: func(c *resourcev1.ResourceClaim) { c.Status.ReservedFor = nil }, card: resourcev1.Finalizer, writes: []string{putIn}},

		{name: "is taken", object: request("card", has("x")), left: emptied, heard: taken, card: held + onPod, err: "release the devices of claim lab/card: it has changed in the meantime"},
		{name: "is taken meanwhile", object: request("card", has("x")), left: emptied, before: meanwhile(taken), card: held + onPod, err: "it has changed in the meantime", writes: []string{putIn}},
		{name: "is taken meanwhile, and was to go", object: request("card", has("x")), left: gone, before: meanwhile(taken), card: held + onPod, err: "it has changed in the meantime", writes: []string{putOn}},
		{name: "gets another user meanwhile", object: shared(), left: withoutGroup, before: meanwhile(taken), card: held + onGroup + ", for pods other other-uid" + onPod, err: "it has changed in the meantime", writes: []string{putIn}},
		{name: "gets something else", object: request("card", has("x")), left: emptied, heard: has("y"), card: resourcev1.Finalizer + ", has y", err: "it has changed in the meantime"},
		{name: "was allocated at another time", object: request("card", has("x")), left: emptied, heard: func(c *resourcev1.ResourceClaim) {
			later := metav1.Unix(2e9, 0)
			c.Status.Allocation.AllocationTimestamp = &later
		}, card: held, err: "it has changed in the meantime"},
		{name: "becomes ready", object: idle(), left: emptied, heard: reports(conditionIs("Ready", metav1.ConditionTrue)), card: held + ", with conditions", err: "it has changed in the meantime"},
		{name: "is made anew", object: request("card", has("x")), left: gone, heard: func(c *resourcev1.ResourceClaim) { c.UID = "new" }, card: held, err: "it has changed in the meantime"},
		{name: "is refused", object: request("card", has("x")), left: emptied, before: func(*library, string) error { return errRefused }, card: held, err: "release the devices of claim lab/card: forbidden", writes: []string{putIn}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				claim, err := convert.DeviceClaim(c.object)
				if err != nil {
					t.Fatal(err)
				}
				s := newScene(t, c.object)
				if c.heard != nil {
					change(s.library, space, "card", c.heard)
					synctest.Wait()
				}
				if c.before != nil {
					s.before = func(write string) error { return c.before(s.library, write) }
				}
				expect(t, s.adapter.ReleaseDevices(t.Context(), claim, c.left(claim)), c.err)
				s.expectWrites(c.writes...)
				if got := outline(get[*resourcev1.ResourceClaim](s.library, space, "card")); got != c.card {
					t.Errorf("got %s, want %s", got, c.card)
				}
			})
		})
	}
}

// A claim that is to go and that nobody has heard of is gone already.
func TestReleaseDevicesTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		object := request("card", has("x"))
		claim, err := convert.DeviceClaim(object)
		if err != nil {
			t.Fatal(err)
		}
		s := newScene(t, object)
		for range 2 { // the informers hear of the first
			expect(t, s.adapter.ReleaseDevices(t.Context(), claim, nil), "")
			synctest.Wait()
		}
		expect(t, s.adapter.ReleaseDevices(t.Context(), claim, emptied(claim)), "")
	})
}

// A claim that was to be made, and of which nothing has been reported, is found by the pod
// that it was made for.
func TestReleaseOfAClaimThatWasMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t)
		decided := extended()
		b := model.Binding{Node: nodeName, Decided: model.Objects{decided}}
		if err := s.adapter.BindDevices(t.Context(), probe(), b); err != nil {
			t.Fatal(err)
		}
		if made := s.specials(t); len(made) != 1 {
			t.Fatalf("%d claims were made", len(made))
		}
		expect(t, s.adapter.ReleaseDevices(t.Context(), decided, nil), "")
		if left := s.specials(t); len(left) > 0 {
			t.Errorf("it is still there: %v", left)
		}
	})
}
