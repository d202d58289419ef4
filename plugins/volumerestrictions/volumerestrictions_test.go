package volumerestrictions

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

// using makes a workload that uses the claims.
func using(id string, claims ...string) *model.Workload {
	w := &model.Workload{ID: id, Namespace: "ns"}
	for _, claim := range claims {
		w.VolumeClaims = append(w.VolumeClaims, model.VolumeClaimRef{ID: claim, Name: claim})
	}
	return w
}

// withDisks makes a workload that has the disks.
func withDisks(id string, disks ...model.Disk) *model.Workload {
	return &model.Workload{ID: id, Namespace: "ns", Disks: disks}
}

func disk(keys ...string) model.Disk { return model.Disk{Keys: keys} }

func readOnly(keys ...string) model.Disk { return model.Disk{Keys: keys, ReadOnly: true} }

// for1 is a claim that only one workload may use, for any one that several may.
func for1(id string) *model.VolumeClaim {
	return &model.VolumeClaim{ID: id, AccessModes: []model.AccessMode{model.ReadWriteOnceWorkload}}
}

func forAny(id string) *model.VolumeClaim {
	return &model.VolumeClaim{ID: id, AccessModes: []model.AccessMode{model.ReadWriteOnce, model.ReadWriteMany}}
}

func node(workloads ...*model.Workload) *extpoints.NodeInfo {
	return extpointstest.NodeWith(&model.Node{Name: "n"}, workloads...)
}

// verdict is what PreFilter says or, if that is Success, Filter for the first
// node.
func verdict(s *extpointstest.Situation) string {
	p, state := &VolumeRestrictions{}, s.State()
	if _, status := p.PreFilter(state, s.Workload); !status.IsSuccess() {
		return "PreFilter: " + status.String()
	}
	return p.Filter(state, s.Workload, s.View.NodeInfos[0]).String()
}

func TestDisks(t *testing.T) {
	type disks = []model.Disk
	for _, c := range []struct {
		name     string
		want     disks
		on       disks
		accepted bool
	}{
		{"nothing on the node", disks{disk("a")}, nil, true},
		{"another disk", disks{disk("a")}, disks{disk("b")}, true},
		{"the same disk", disks{disk("a")}, disks{disk("a")}, false},
		{"both only read", disks{readOnly("a")}, disks{readOnly("a")}, true},
		{"one reads, the other writes", disks{readOnly("a")}, disks{disk("a")}, false},
		{"one writes, the other reads", disks{disk("a")}, disks{readOnly("a")}, false},
		{"the second of its disks", disks{disk("a"), disk("b")}, disks{disk("b")}, false},
		{"the second of the other's", disks{disk("b")}, disks{disk("a"), disk("b")}, false},
		{"a key in common", disks{disk("m1/pool/image", "m2/pool/image")}, disks{disk("m2/pool/image", "m3/pool/image")}, false},
		{"no key in common", disks{disk("m1/pool/image")}, disks{disk("m2/pool/image")}, true},
		{"the other has no keys", disks{disk("a")}, disks{{Driver: "d", Handle: "a"}}, true},
	} {
		want := "Success"
		if !c.accepted {
			want = "Unschedulable: node(s) had no available disk"
		}
		s := extpointstest.NewSituation(withDisks("w", c.want...), node(using("idle"), withDisks("other", c.on...)))
		if got := verdict(s); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// A disk on another node is in nobody's way, but a claim is.
func TestOtherNodes(t *testing.T) {
	elsewhere := extpointstest.NodeWith(&model.Node{Name: "m"}, withDisks("a", disk("d")), using("b", "data"))
	s := extpointstest.NewSituation(withDisks("w", disk("d")), node(), elsewhere)
	if got := verdict(s); got != "Success" {
		t.Errorf("the disk: %s", got)
	}
	s = extpointstest.NewSituation(using("w", "data"), node(), elsewhere)
	s.View.Put(for1("data"))
	if got := verdict(s); got != "Unschedulable: "+ReasonClaim {
		t.Errorf("the claim: %s", got)
	}
}

func TestClaims(t *testing.T) {
	generated := using("w", "data")
	generated.VolumeClaims[0].Generated = true
	both := using("w", "data")
	both.Disks = []model.Disk{disk("d")}
	const inUse = "Unschedulable: node(s) unavailable due to volume claim with ReadWriteOnceWorkload access mode already in-use by another workload"
	for _, c := range []struct {
		name   string
		w      *model.Workload
		others []*model.Workload
		claims []model.Object
		want   string
	}{
		{"no volumes", using("w"), nil, nil, "PreFilter: Skip"},
		{"a disk without keys", withDisks("w", disk()), nil, nil, "PreFilter: Skip"},
		{"nobody uses it", using("w", "data"), nil, []model.Object{for1("data")}, "PreFilter: Skip"},
		{"another uses it", using("w", "data"), []*model.Workload{using("other", "data")}, []model.Object{for1("data")}, inUse},
		{"another uses another", using("w", "data"), []*model.Workload{using("other", "logs")}, []model.Object{for1("data"), for1("logs")}, "PreFilter: Skip"},
		{"several may use it", using("w", "data"), []*model.Workload{using("other", "data")}, []model.Object{forAny("data")}, "PreFilter: Skip"},
		{"the second claim", using("w", "logs", "data"), []*model.Workload{using("other", "data")}, []model.Object{forAny("logs"), for1("data")}, inUse},
		{"it is not there", using("w", "data"), nil, nil, `PreFilter: UnschedulableAndUnresolvable: volume claim "data" not found`},
		{"the second is not there", using("w", "logs", "data"), nil, []model.Object{for1("logs")},
			`PreFilter: UnschedulableAndUnresolvable: volume claim "data" not found`},
		{"made for the workload", generated, []*model.Workload{using("other", "data")}, nil, "PreFilter: Skip"},
		{"a disk that is free, a claim that is not", both, []*model.Workload{using("other", "data")}, []model.Object{for1("data")}, inUse},
		{"neither is free: the disk is named", both, []*model.Workload{using("other", "data"), withDisks("third", disk("d"))},
			[]model.Object{for1("data")}, "Unschedulable: " + ReasonDisk},
	} {
		s := extpointstest.NewSituation(c.w, node(c.others...))
		s.View.Put(c.claims...)
		if got := verdict(s); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestExtensions: what would be if workloads were, or were not, on the node.
func TestExtensions(t *testing.T) {
	user, second, stranger := using("other", "data"), using("second", "data"), using("stranger", "logs")
	maker := using("maker", "data")
	maker.VolumeClaims[0].Generated = true
	for _, c := range []struct {
		name    string
		w       *model.Workload
		on      []*model.Workload
		removed *model.Workload
		added   *model.Workload
		want    extpoints.Code
	}{
		{"the user leaves", using("w", "data"), []*model.Workload{user}, user, nil, extpoints.Success},
		{"the user leaves and comes back", using("w", "data"), []*model.Workload{user}, user, user, extpoints.Unschedulable},
		{"another leaves", using("w", "data"), []*model.Workload{user, stranger}, stranger, nil, extpoints.Unschedulable},
		{"one with a claim of its own of that name leaves", using("w", "data"), []*model.Workload{user, maker}, maker, nil, extpoints.Unschedulable},
		{"a user comes, where nothing else is in the way", withClaim(withDisks("w", disk("d")), "data"), nil, nil, user, extpoints.Unschedulable},
		{"a stranger comes", withClaim(withDisks("w", disk("d")), "data"), nil, nil, stranger, extpoints.Success},
		{"one of two claims in use becomes free", using("w", "data", "logs"), []*model.Workload{user, stranger}, user, nil, extpoints.Unschedulable},
		{"one of two users leaves", using("w", "data"), []*model.Workload{user, second}, second, nil, extpoints.Success},
	} {
		s := extpointstest.NewSituation(c.w, node(c.on...))
		s.View.Put(for1("data"), for1("logs"))
		p, state := &VolumeRestrictions{}, s.State()
		if _, status := p.PreFilter(state, s.Workload); !status.IsSuccess() {
			t.Fatalf("%s: PreFilter says %v", c.name, status)
		}
		changed, n := state.Clone(), s.View.NodeInfos[0]
		before := p.Filter(state, s.Workload, n).Code()
		if c.removed != nil {
			p.RemoveWorkload(changed, s.Workload, &extpoints.WorkloadInfo{Workload: c.removed}, n)
		}
		if c.added != nil {
			p.AddWorkload(changed, s.Workload, &extpoints.WorkloadInfo{Workload: c.added}, n)
		}
		if got := p.Filter(changed, s.Workload, n); got.Code() != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if got := p.Filter(state, s.Workload, n).Code(); got != before {
			t.Errorf("%s: on the state as it was: %v", c.name, got)
		}
	}
}

func withClaim(w *model.Workload, claim string) *model.Workload {
	w.VolumeClaims = []model.VolumeClaimRef{{ID: claim}}
	return w
}

func TestHintsOfWorkloads(t *testing.T) {
	elsewhere := func(w *model.Workload) *model.Workload {
		w.Namespace = "elsewhere"
		return w
	}
	generated := using("gone", "data")
	generated.VolumeClaims[0].Generated = true
	for _, c := range []struct {
		name            string
		w, gone         *model.Workload
		want, reference extpoints.Hint
	}{
		{"no workload", using("w", "data"), nil, queue, queue},
		{"it had nothing", using("w", "data"), using("gone"), leave, leave},
		{"it had the claim", using("w", "logs", "data"), using("gone", "data"), queue, queue},
		{"it had another claim", using("w", "data"), using("gone", "logs"), leave, leave},
		{"it had one of its own of that name", using("w", "data"), generated, leave, leave},
		{"it had the disk", withDisks("w", disk("d")), withDisks("gone", disk("d")), queue, queue},
		{"it had another disk", withDisks("w", disk("d")), withDisks("gone", disk("e")), leave, leave},
		{"both only read the disk", withDisks("w", readOnly("d")), withDisks("gone", readOnly("d")), leave, leave},
		{"it had the disk, in another namespace", withDisks("w", disk("d")), elsewhere(withDisks("gone", disk("d"))), queue, leave},
	} {
		change := &extpoints.Event{}
		if c.gone != nil {
			change.OldWorkload = &extpoints.WorkloadInfo{Workload: c.gone}
		}
		for compat, want := range map[extpoints.Compat]extpoints.Hint{extpoints.Improved: c.want, extpoints.KubeScheduler137: c.reference} {
			got, err := made(t, compat).afterWorkloadDeleted(c.w, change)
			if got != want || (err != nil) != (c.gone == nil) {
				t.Errorf("%s, %s: %v, %v", c.name, compat, got, err)
			}
		}
	}
}

func made(t *testing.T, compat extpoints.Compat) *VolumeRestrictions {
	t.Helper()
	h := extpointstest.NewHandle()
	h.Mode = compat
	p, err := New(extpoints.NoArgs{}, h)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHintsOfClaims(t *testing.T) {
	generated := using("w", "data")
	generated.VolumeClaims[0].Generated = true
	for _, c := range []struct {
		name          string
		w             *model.Workload
		before, after model.Object
		want          extpoints.Hint
	}{
		{"its claim comes", using("w", "logs", "data"), nil, for1("data"), queue},
		{"another comes", using("w", "data"), nil, for1("logs"), leave},
		{"one that is made for it comes", generated, nil, for1("data"), leave},
		{"several may use it now", using("w", "data"), for1("data"), forAny("data"), queue},
		{"several may use another now", using("w", "logs"), for1("data"), forAny("data"), leave},
		{"it changes otherwise", using("w", "data"), for1("data"), for1("data"), leave},
		{"several could use it before", using("w", "data"), forAny("data"), forAny("data"), leave},
		{"no claim", using("w", "data"), nil, nil, queue},
	} {
		got, err := afterClaimChange(c.w, &extpoints.Event{OldObject: c.before, NewObject: c.after})
		if got != c.want || (err != nil) != (c.after == nil) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestHintsOfNodes(t *testing.T) {
	generated := using("w", "data")
	generated.VolumeClaims[0].Generated = true
	for _, c := range []struct {
		name string
		w    *model.Workload
		want extpoints.Hint
	}{
		{"claims", using("w", "data"), queue},
		{"claims that are made for it", generated, leave},
		{"disks", withDisks("w", disk("d")), leave},
	} {
		got, err := afterNodeDeleted(c.w, &extpoints.Event{OldNode: &model.Node{Name: "n"}})
		if got != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestEventsToRegister(t *testing.T) {
	for compat, want := range map[extpoints.Compat][]string{
		extpoints.Improved:         {"AssignedWorkload/Delete", "Node/Add", "VolumeClaim/Add", "VolumeClaim/Update", "Node/Delete"},
		extpoints.KubeScheduler137: {"AssignedWorkload/Delete", "Node/Add", "VolumeClaim/Add"},
	} {
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

func TestSign(t *testing.T) {
	sign := func(w *model.Workload) string {
		fragments, status := (&VolumeRestrictions{}).Sign(w)
		if !status.IsSuccess() || len(fragments) != 1 {
			t.Fatalf("%v, %v", fragments, status)
		}
		return fragments[0].Value
	}
	generated := func(id string) *model.Workload {
		w := using(id, "data")
		w.VolumeClaims[0].Generated = true
		return w
	}
	if sign(using("a", "data")) != sign(using("b", "data")) || sign(using("a")) != sign(withDisks("b")) {
		t.Error("workloads with the same claims are signed differently")
	}
	if sign(withDisks("a", disk("x", "y"))) != sign(withDisks("b", disk("y", "x"))) {
		t.Error("the same keys in another order are signed differently")
	}
	seen := map[string]bool{}
	list := []*model.Workload{
		using("w"), using("w", "data"), using("w", "logs"), using("w", "data", "logs"), generated("w"), generated("v"),
		withDisks("w", disk("data")), withDisks("w", readOnly("data")), withDisks("w", disk("logs")),
		withDisks("w", model.Disk{Driver: "d", Handle: "h"}), withDisks("w", model.Disk{Driver: "d", Handle: "i"}),
		withDisks("w", model.Disk{Driver: "e", Handle: "h"}), withDisks("w", model.Disk{Driver: "d", Handle: "h", Plugin: "p"}),
	}
	for _, w := range list {
		seen[sign(w)] = true
	}
	if len(seen) != len(list) {
		t.Errorf("%d workloads that differ have %d signatures", len(list), len(seen))
	}
}

func BenchmarkFilter(b *testing.B) {
	others := make([]*model.Workload, 100)
	for i := range others {
		others[i] = withDisks("other", disk("b"))
	}
	s := extpointstest.NewSituation(withDisks("w", disk("a")), node(others...))
	p, state := &VolumeRestrictions{}, s.State()
	p.PreFilter(state, s.Workload)
	b.ReportAllocs()
	for b.Loop() {
		p.Filter(state, s.Workload, s.View.NodeInfos[0])
	}
}
