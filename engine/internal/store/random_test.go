package store

import (
	"flag"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-memdb"
	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

var seedFlag = flag.Uint64("store.seed", 0, "seed of the random tests; 0 for the usual one")

func newRand(t *testing.T) *rand.Rand {
	seed := *seedFlag
	if seed == 0 {
		seed = modeltest.Seed(t)
	}
	t.Logf("to repeat: -store.seed=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// The names are few, so that things meet, and are each other's prefixes.
var (
	randomNames  = []string{"n", "n1", "n10", "n\x01", "\xff", "nn"}
	randomIDs    = []string{"w", "w1", "w10", "w11", "n", "\x01", "w\x02", "x", "xyz", "xyzzy", "\xff\xff", "ü"}
	randomGroups = []string{"", "", "g", "g1", "n"}
	// The kinds that decisions change, one that they do not, and IDs.
	randomKinds   = []model.ObjectKind{model.VolumeClaimKind, model.VolumeKind, model.DeviceClaimKind, model.DeviceClaimKind, model.StorageClassKind}
	randomObjects = []string{"o", "o1"}
	randomWritten = [][]model.ObjectKind{nil, {model.DeviceClaimKind}, {model.VolumeKind, model.VolumeClaimKind}, randomKinds}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// randomVerb returns a verb that often is legal.
func randomVerb(r *rand.Rand, d *twin) verb {
	expect := Expect(0)
	switch r.IntN(10) {
	case 0:
		expect = Expect(d.index - uint64(r.IntN(3)))
	case 1:
		expect = Absent
	}
	switch r.IntN(8) {
	case 0, 1:
		return pick(r, otherVerbs(pick(r, randomNames), expect))
	case 2:
		return pick(r, objectVerbs(randomObject(r), expect))
	}
	spec := &model.Workload{ID: pick(r, randomIDs), Group: pick(r, randomGroups)}
	var devices []model.DeviceShare
	var at time.Time
	if r.IntN(2) == 0 {
		devices = []model.DeviceShare{{Device: r.IntN(4), Share: 1}}
		at = time.Unix(r.Int64N(1000)+1, 0)
	}
	b := model.Binding{Node: pick(r, randomNames), Devices: devices, Limit: time.Duration(r.IntN(2)), Decided: randomDecision(r, d, spec.ID)}
	if r.IntN(4) == 0 {
		return pick(r, askVerbs(spec.ID, randomRefs(r, d, spec.ID), pick(r, randomWritten)))
	}
	return pick(r, workloadVerbs(spec, b, at, expect))
}

// randomRefs are what was decided for the workload, or now and then anything: who is
// answered may have gone on.
func randomRefs(r *rand.Rand, d *twin, id string) (refs []model.ObjectRef) {
	if w := d.workload(id); w != nil && len(w.Decided) > 0 && r.IntN(4) > 0 {
		return w.Decided
	}
	for range r.IntN(4) {
		refs = append(refs, refOf(randomObject(r)))
	}
	return refs
}

// randomObject is an object as somebody reports it: often with what may have been
// decided about it, or the opposite.
func randomObject(r *rand.Rand) model.Object {
	id := pick(r, randomObjects)
	switch pick(r, randomKinds) {
	case model.VolumeClaimKind:
		return &model.VolumeClaim{ID: id, UID: pick(r, []string{"", "", "1"}), SelectedNode: pick(r, []string{"", "", "n"})}
	case model.VolumeKind:
		v := &model.Volume{Name: id}
		if r.IntN(3) == 0 {
			v.Claim = &model.ClaimIdentity{ID: pick(r, randomObjects)}
		}
		return v
	case model.DeviceClaimKind:
		c := &model.DeviceClaim{ID: id, UID: pick(r, []string{"", "", "1"})}
		if r.IntN(3) == 0 {
			c.Allocation = &model.Allocation{}
		}
		for range r.IntN(3) {
			c.ReservedFor = append(c.ReservedFor, model.Consumer{Workload: pick(r, randomIDs)})
		}
		return c
	}
	return &model.StorageClass{Name: id}
}

// randomDecision changes some objects for the workload's sake, as they are or out
// of nothing.
func randomDecision(r *rand.Rand, d *twin, workload string) model.Objects {
	var decided model.Objects
	for range r.IntN(3) {
		o := randomObject(r)
		if row := d.object(refOf(o)); row != nil {
			o = row.Current()
		}
		switch o := o.(type) {
		case *model.VolumeClaim:
			claim := *o
			claim.SelectedNode = "n1"
			decided = append(decided, &claim)
		case *model.Volume:
			volume := *o
			volume.Claim = &model.ClaimIdentity{ID: "o"}
			decided = append(decided, &volume)
		case *model.DeviceClaim:
			claim := *o
			claim.Allocation = &model.Allocation{}
			claim.ReservedFor = append(slices.Clone(o.ReservedFor), model.Consumer{Workload: workload})
			decided = append(decided, &claim)
		}
	}
	return decided
}

// branchOf is a store, its twin, and what it held when it was last looked at.
type branchOf struct {
	store *Store
	twin  *twin
}

// TestRandom runs random transactions on stores and their twins, with branches
// taken at random points that go ways of their own, and compares everything
// that can be read after every step.
func TestRandom(t *testing.T) {
	r := newRand(t)
	rounds := 15
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		branches := []*branchOf{{New(), newTwin()}}
		branches[0].store.recent = pick(r, []int{0, 3, 10, RecentRows})
		for range 120 {
			b := pick(r, branches)
			switch {
			case r.IntN(8) == 0 && len(branches) < 12:
				branches = append(branches, &branchOf{b.store.Snapshot(), b.twin.branch()})
			default:
				randomTxn(t, r, b)
			}
		}
		for _, b := range branches {
			same(t, b.twin, &b.store.Reader)
			require.Equal(t, b.twin.index, b.store.Index())
		}
	}
}

func randomTxn(t *testing.T, r *rand.Rand, b *branchOf) {
	d := b.twin.branch()
	d.index++
	frozen, frozenTwin := b.store.Snapshot(), b.twin
	tx := b.store.Begin()
	direct := r.IntN(2) == 0
	if direct { // memdb's own feed is the second opinion
		tx.view().TrackChanges()
	}
	require.Equal(t, d.index, tx.Index())
	log := []string{}
	for range r.IntN(25) {
		v := randomVerb(r, d)
		want, got := v.dumb(d), outcome(v.real(tx))
		log = append(log, v.name+": "+got)
		require.Equal(t, want, got, "%v", log)
		if r.IntN(5) == 0 {
			same(t, d, &tx.Reader)
		}
	}
	if r.IntN(5) == 0 {
		tx.Abort()
		same(t, b.twin, &b.store.Reader)
		require.Equal(t, b.twin.index, b.store.Index())
		return
	}
	theirs := map[rowKey]Change{}
	if direct {
		theirs = feedOf(tx.view())
	}
	order := tx.written
	changes := tx.Commit()
	after := &b.store.Reader
	checkFeed(t, changes, order, frozenTwin, d)
	ours := map[rowKey]Change{}
	for _, c := range changes {
		ours[rowKey{c.Kind, c.ID()}] = c
	}
	if direct {
		require.Equal(t, theirs, ours)
	}
	if len(changes) > 0 {
		b.twin = d // else the index and the sequence do not move
	}
	sameRows(t, b.twin, after)
	if r.IntN(3) == 0 { // reading in order leaves nothing beside the tables
		same(t, b.twin, after)
	}
	require.Equal(t, b.twin.index, b.store.Index())
	same(t, frozenTwin, &frozen.Reader)
}

// feedOf is what memdb says was changed.
func feedOf(tx *memdb.Txn) map[rowKey]Change {
	feed := map[rowKey]Change{}
	for _, c := range tx.Changes() {
		if c.Table != memberTable {
			k := Kind(slices.Index(kindNames[:], c.Table))
			e := entry{rowKey{kind: k}, c.Before, c.After}
			change := e.change()
			feed[rowKey{k, change.ID()}] = change
		}
	}
	return feed
}

// checkFeed compares the feed with the difference of before and after.
func checkFeed(t *testing.T, changes []Change, order []entry, before, after *twin) {
	want := feed(before, after)
	got := map[rowKey]Change{}
	last := -1
	for _, c := range changes {
		key := rowKey{c.Kind, c.ID()}
		got[key] = c
		at := slices.IndexFunc(order, func(e entry) bool { return e.rowKey == key })
		require.Greater(t, at, last, "in the order of the first write")
		last = at
	}
	require.Len(t, got, len(changes), "at most one change for each row")
	require.Equal(t, want, got)
	if len(want) == 0 {
		require.Nil(t, changes)
	}
}

// same compares everything that can be read.
func same(t *testing.T, d *twin, r *Reader) {
	t.Helper()
	id := func(w *Workload) []string { return []string{w.Info.ID} }
	equal(t, d, WorkloadKind, func(*Workload) bool { return true }, id, r.Workloads())
	for p := model.Pending; p <= model.Finished; p++ {
		equal(t, d, WorkloadKind, func(w *Workload) bool { return w.Phase == p },
			func(w *Workload) []string { return []string{w.Node, w.Info.ID} }, r.WorkloadsIn(p))
	}
	for _, node := range append([]string{"", "none"}, randomNames...) {
		equal(t, d, WorkloadKind, func(w *Workload) bool { return node != "" && w.Node == node && w.Phase.TakesRoom() },
			func(w *Workload) []string { return []string{string(rune(w.Phase)), w.Info.ID} }, r.WorkloadsOn(node))
	}
	for _, group := range append([]string{"none"}, randomGroups...) {
		equal(t, d, WorkloadKind, func(w *Workload) bool { return group != "" && w.Info.Group == group }, id, r.WorkloadsOf(group))
	}
	sameRows(t, d, r)
	for _, kind := range model.ObjectKinds {
		equal(t, d, ObjectKind, func(o *Object) bool { return o.Ref().Kind == kind }, func(o *Object) []string { return []string{o.Ref().ID} }, r.Objects(kind))
	}
	equal(t, d, NodeKind, func(*Node) bool { return true }, func(n *Node) []string { return []string{n.Node.Name} }, r.Nodes())
	equal(t, d, GroupKind, func(*Group) bool { return true }, func(g *Group) []string { return []string{g.Group.ID} }, r.Groups())
	equal(t, d, BudgetKind, func(*Budget) bool { return true }, func(b *Budget) []string { return []string{b.Budget.ID} }, r.Budgets())
	equal(t, d, NamespaceKind, func(*Namespace) bool { return true }, func(n *Namespace) []string { return []string{n.Namespace.Name} }, r.Namespaces())
}

// sameRows compares what can be read row by row.
func sameRows(t *testing.T, d *twin, r *Reader) {
	t.Helper()
	for _, name := range append([]string{"", "none"}, append(slices.Clone(randomNames), randomIDs...)...) {
		equalRow(t, d, WorkloadKind, name, r.Workload(name))
		equalRow(t, d, NodeKind, name, r.Node(name))
		equalRow(t, d, GroupKind, name, r.Group(name))
		equalRow(t, d, BudgetKind, name, r.Budget(name))
		equalRow(t, d, NamespaceKind, name, r.Namespace(name))
	}
	for _, kind := range model.ObjectKinds {
		for _, id := range randomObjects {
			ref := model.ObjectRef{Kind: kind, ID: id}
			equalRow(t, d, ObjectKind, objectKey(ref), r.Object(ref))
		}
	}
}

func equal[R any](t *testing.T, d *twin, k Kind, keep func(*R) bool, key func(*R) []string, got iter.Seq[*R]) {
	t.Helper()
	want := list(d, k, keep, key)
	for range 2 { // a sequence can be ranged over again
		have := slices.AppendSeq([]*R{}, got)
		if !rowsEqual(want, have) {
			require.Equal(t, want, have)
		}
	}
	for range got { // or left
		break
	}
}

func equalRow[R any](t *testing.T, d *twin, k Kind, id string, got *R) {
	t.Helper()
	want, _ := d.rows[rowKey{k, id}].(*R)
	if !rowsEqual([]*R{want}, []*R{got}) {
		require.Equal(t, want, got)
	}
}

func rowsEqual[R any](a, b []*R) bool { return reflect.DeepEqual(a, b) }
