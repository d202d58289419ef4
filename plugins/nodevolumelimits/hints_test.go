package nodevolumelimits

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

const (
	queue = extpoints.HintQueue
	leave = extpoints.HintSkip
)

func made(t *testing.T, compat extpoints.Compat) *NodeVolumeLimits {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = compat
	p, err := New(extpoints.NoArgs{}, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHintsOfNodeStorage(t *testing.T) {
	none := &model.NodeStorage{Node: "n"}
	two := func(a, b int32) *model.NodeStorage {
		return &model.NodeStorage{Node: "n", Drivers: append(limits("a", a).Drivers, limits("b", b).Drivers...)}
	}
	for _, c := range []struct {
		name            string
		before, after   *model.NodeStorage
		want, reference extpoints.Hint
	}{
		{"the limit goes up", limits(driver, 1), limits(driver, 2), queue, queue},
		{"the limit goes down", limits(driver, 2), limits(driver, 1), leave, leave},
		{"nothing changes", limits(driver, 1), limits(driver, 1), leave, leave},
		{"the second one's goes up", two(1, 1), two(1, 2), queue, queue},
		{"one up, one down", two(1, 2), two(2, 1), queue, queue},
		{"a driver comes", none, limits(driver, 1), queue, queue},
		{"a driver comes with no room", none, limits(driver, 0), queue, leave},
		{"a driver comes without a limit", none, limits(driver, -1), queue, leave},
		{"the limit is lifted", limits(driver, 1), limits(driver, -1), queue, leave},
		{"a limit comes", limits(driver, -1), limits(driver, 1), queue, queue},
		{"it stays without", limits(driver, -1), limits(driver, -1), leave, leave},
		{"the driver goes, and its limit", limits(driver, 1), none, queue, leave},
		{"the driver goes, it had no limit", limits(driver, -1), none, leave, leave},
	} {
		for compat, want := range map[extpoints.Compat]extpoints.Hint{extpoints.Improved: c.want, extpoints.KubeScheduler137: c.reference} {
			got, err := made(t, compat).afterNodeStorageUpdated(using("w", "a"), &extpoints.Event{OldObject: c.before, NewObject: c.after})
			if got != want || err != nil {
				t.Errorf("%s, %s: %v, %v", c.name, compat, got, err)
			}
		}
	}
	if got, err := made(t, extpoints.Improved).afterNodeStorageUpdated(using("w"), &extpoints.Event{NewObject: none}); got != queue || err == nil {
		t.Errorf("without the old one: %v, %v", got, err)
	}
}

func TestHintsOfWorkloads(t *testing.T) {
	for _, c := range []struct {
		name string
		gone *model.Workload
		want extpoints.Hint
	}{
		{"no workload", nil, queue},
		{"it had nothing", using("x"), leave},
		{"it had a claim", using("x", "b"), queue},
		{"it had a claim of its own", using("x", "+b"), queue},
		{"it had a disk that counts", disks("x", driver, "", "h"), queue},
		{"it had a disk that does not", disks("x", "", "", "h"), leave},
		{"it had a disk without a handle", disks("x", driver, "", ""), leave},
	} {
		change := &extpoints.Event{}
		if c.gone != nil {
			change.OldWorkload = &extpoints.WorkloadInfo{Workload: c.gone}
		}
		if got, err := afterWorkloadDeleted(using("w", "a"), change); got != c.want || (err != nil) != (c.gone == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestHintsOfWorkloadsThatCome(t *testing.T) {
	for _, c := range []struct {
		name  string
		comes *model.Workload
		want  extpoints.Hint
	}{
		{"no workload", nil, queue},
		{"it has nothing", using("x"), leave},
		{"it shares a claim", using("x", "b", "a"), queue},
		{"it has another claim", using("x", "b"), leave},
		{"it has a disk that counts", disks("x", driver, "", "h"), queue},
		{"it has a disk that does not", disks("x", "", "", "h"), leave},
	} {
		change := &extpoints.Event{}
		if c.comes != nil {
			change.NewWorkload = &extpoints.WorkloadInfo{Workload: c.comes}
		}
		if got, err := afterWorkloadAdded(using("w", "a"), change); got != c.want || (err != nil) != (c.comes == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestHintsOfOtherObjects(t *testing.T) {
	must := func(must bool) model.Object { return &model.StorageDriver{Name: driver, MustBeInstalled: must} }
	detached := func(p *NodeVolumeLimits) extpoints.HintFunc { return p.afterDetached }
	fixed := func(f extpoints.HintFunc) func(*NodeVolumeLimits) extpoints.HintFunc {
		return func(*NodeVolumeLimits) extpoints.HintFunc { return f }
	}
	newClaim, driverChange := fixed(afterClaimChange), fixed(afterDriverChange)
	gone := attachment("1", driver, "v")
	for _, c := range []struct {
		name            string
		hint            func(*NodeVolumeLimits) extpoints.HintFunc
		w               *model.Workload
		before, after   model.Object
		want, reference extpoints.Hint
		err             bool
	}{
		{"its claim comes", newClaim, using("w", "b", "a"), nil, claim("a", "", ""), queue, queue, false},
		{"one that is made for it comes", newClaim, using("w", "+a"), nil, claim("a", "", ""), queue, queue, false},
		{"another comes", newClaim, using("w", "b"), nil, claim("a", "", ""), leave, leave, false},
		{"its claim gets a volume", newClaim, using("w", "a"), claim("a", "fast", ""), claim("a", "fast", "v"), queue, queue, false},
		{"its claim gets a class", newClaim, using("w", "a"), claim("a", "", ""), claim("a", "fast", ""), queue, queue, false},
		{"its claim gets an owner", newClaim, using("w", "+a"), claim("a", "", ""), owned("a", "", "w"), queue, queue, false},
		{"its claim changes otherwise", newClaim, using("w", "a"), claim("a", "fast", "v"), claim("a", "fast", "v"), leave, leave, false},
		{"another gets a volume", newClaim, using("w", "b"), claim("a", "fast", ""), claim("a", "fast", "v"), leave, leave, false},
		{"no claim", newClaim, using("w", "a"), nil, nil, queue, queue, true},
		{"detached, it has a claim", detached, using("w", "a"), gone, nil, queue, queue, false},
		{"detached, it has one of its own", detached, using("w", "+a"), gone, nil, queue, leave, false},
		{"detached, it has a disk of the driver", detached, disks("w", driver, "", "h"), gone, nil, queue, queue, false},
		{"detached, it has a disk of another", detached, disks("w", "other", "", "h"), gone, nil, leave, leave, false},
		{"detached by nobody, it has a disk that does not count", detached, disks("w", "", "", "h"), attachment("1", "", "v"), nil, leave, leave, false},
		{"no attachment", detached, using("w", "a"), nil, nil, queue, queue, true},
		{"it need not be installed any more", driverChange, using("w", "a"), must(true), must(false), queue, queue, false},
		{"it must still be installed", driverChange, using("w", "a"), must(true), must(true), leave, leave, false},
		{"it must be installed now", driverChange, using("w", "a"), must(false), must(true), leave, leave, false},
		{"one that must be installed goes", driverChange, using("w", "a"), must(true), nil, queue, queue, false},
		{"one that need not be goes", driverChange, using("w", "a"), must(false), nil, leave, leave, false},
		{"no driver", driverChange, using("w", "a"), nil, nil, queue, queue, true},
	} {
		for compat, want := range map[extpoints.Compat]extpoints.Hint{extpoints.Improved: c.want, extpoints.KubeScheduler137: c.reference} {
			got, err := c.hint(made(t, compat))(c.w, &extpoints.Event{OldObject: c.before, NewObject: c.after})
			if got != want || (err != nil) != c.err {
				t.Errorf("%s, %s: %v, %v", c.name, compat, got, err)
			}
		}
	}
}

func TestEventsToRegister(t *testing.T) {
	reference := []string{"NodeStorage/Add", "NodeStorage/Update", "AssignedWorkload/Delete", "VolumeClaim/Add", "VolumeAttachment/Delete"}
	more := []string{"AssignedWorkload/Add", "Node/Add", "NodeStorage/Delete", "StorageDriver/Update", "StorageDriver/Delete", "VolumeClaim/Update"}
	for compat, want := range map[extpoints.Compat][]string{extpoints.KubeScheduler137: reference, extpoints.Improved: append(more, reference...)} {
		hints, err := made(t, compat).EventsToRegister()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, h := range hints {
			for _, action := range []extpoints.Action{extpoints.Add, extpoints.Update, extpoints.Delete} {
				if event := (extpoints.ClusterEvent{Resource: h.Event.Resource, Action: action}); h.Event.Matches(event) {
					got[event.String()] = true
				}
			}
		}
		for _, event := range want {
			if !got[event] {
				t.Errorf("%s: %s is not asked for", compat, event)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", compat, got, want)
		}
	}
}
