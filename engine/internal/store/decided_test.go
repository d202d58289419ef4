package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/model"
)

var (
	volumeRef = model.ObjectRef{Kind: model.VolumeKind, ID: "v"}
	roomRef   = model.ObjectRef{Kind: model.VolumeClaimKind, ID: "c"}
	gpuRef    = model.ObjectRef{Kind: model.DeviceClaimKind, ID: "d"}
	extraRef  = model.ObjectRef{Kind: model.DeviceClaimKind, ID: "made"}
)

// decision is what a workload with a volume, a claim that is to get one, a claim
// to devices and one that is made for it gets on node a.
func decision(workload string) model.Objects {
	for1 := []model.Consumer{{Workload: workload}}
	return model.Objects{
		&model.Volume{Name: "v", Claim: &model.ClaimIdentity{ID: "c2"}},
		&model.VolumeClaim{ID: "c", SelectedNode: "a"},
		&model.DeviceClaim{ID: "d", Allocation: &model.Allocation{}, ReservedFor: for1},
		&model.DeviceClaim{ID: "made", ForResources: true, Owner: workload, Allocation: &model.Allocation{}, ReservedFor: for1},
	}
}

// do runs the verbs in one transaction.
func do(t *testing.T, s *Store, verbs ...func(*Txn) error) []Change {
	t.Helper()
	tx := s.Begin()
	defer tx.Abort()
	for _, v := range verbs {
		require.NoError(t, v(tx))
	}
	return tx.Commit()
}

func put(o model.Object) func(*Txn) error { return func(tx *Txn) error { return tx.PutObject(o) } }

func assume(workload, node string, decided ...model.Object) func(*Txn) error {
	return func(tx *Txn) error {
		_, err := tx.Assume(model.Binding{Workload: workload, Node: node, Decided: decided}, t1)
		return err
	}
}

// decidedStore has nodes a and b, pending workloads w and x, and the objects of a
// decision as they were reported before it.
func decidedStore(t *testing.T) *Store {
	s := inPhaseStore(t, model.Pending, true)
	do(t, s,
		func(tx *Txn) error { return tx.Submit(&model.Workload{ID: "x"}) },
		put(&model.Volume{Name: "v"}), put(&model.VolumeClaim{ID: "c"}), put(&model.DeviceClaim{ID: "d"}))
	return s
}

// showObject is an object's row on one line: what it says, and whether that was
// written, or for whom it was decided.
func showObject(o *Object) string {
	if o == nil {
		return "gone"
	}
	var said []string
	switch c := o.Current().(type) {
	case *model.Volume:
		if c.Claim != nil {
			said = append(said, "for "+c.Claim.ID)
		}
	case *model.VolumeClaim:
		if c.SelectedNode != "" {
			said = append(said, "on "+c.SelectedNode)
		}
		if c.Volume != "" {
			said = append(said, "has "+c.Volume)
		}
	case *model.DeviceClaim:
		if c.Allocation != nil {
			said = append(said, "given")
		}
		for _, by := range c.ReservedFor {
			said = append(said, "for "+by.Workload+by.Group)
		}
	}
	if o.Decided == nil && o.Written != nil {
		said = append(said, "written")
	}
	if len(o.Workloads) > 0 {
		said = append(said, fmt.Sprint("decided ", o.Workloads))
	}
	if len(said) == 0 {
		return "free"
	}
	return strings.Join(said, " ")
}

func showObjects(s *Store) string {
	var list []string
	for _, ref := range []model.ObjectRef{volumeRef, roomRef, gpuRef, extraRef} {
		list = append(list, ref.ID+" "+showObject(s.Object(ref)))
	}
	return strings.Join(list, ", ")
}

func TestADecisionHoldsAtOnce(t *testing.T) {
	s := decidedStore(t)
	reported := s.Object(gpuRef)
	decided := decision("w")
	changes := do(t, s, assume("w", "a", decided...))
	require.Equal(t, "v for c2 decided [w], c on a decided [w], d given for w decided [w], made given for w decided [w]", showObjects(s))
	require.Len(t, changes, 5, "the workload, and each object")
	require.Equal(t, []model.ObjectRef{volumeRef, roomRef, gpuRef, extraRef}, s.Workload("w").Decided)

	row := s.Object(gpuRef)
	require.Equal(t, model.ObjectRecord{
		Object: decided[2], Reported: reported.Reported, CreateIndex: reported.CreateIndex, ModifyIndex: s.Index(),
	}, row.Record())
	made := s.Object(extraRef)
	require.Nil(t, made.Record().Reported, "nobody has reported it yet")
	require.Equal(t, s.Index(), made.CreateIndex)
	require.Equal(t, "free", showObject(reported), "older views keep what they saw")
}

// What each verb makes of a decision: it is given back, it outlasts the
// workload, or it is held for it.
func TestDecisionsByVerb(t *testing.T) {
	const (
		held  = "v for c2 decided [w], c on a decided [w], d given for w decided [w], made given for w decided [w]"
		fixed = "v for c2 written, c on a written, d given for w decided [w], made given for w decided [w]"
		back  = "v free, c free, d free, made gone"
		after = "v for c2 written, c on a written, d free, made gone"
	)
	forget := func(tx *Txn) error { return tx.Forget("w") }
	bind := func(tx *Txn) error { return tx.Bind("w") }
	confirm := func(node string) func(*Txn) error {
		return func(tx *Txn) error { return tx.Confirm("w", node, nil, time.Time{}) }
	}
	terminate := func(tx *Txn) error { return tx.Terminate("w") }
	displace := func(tx *Txn) error { return tx.Displace("w") }
	finish := func(tx *Txn) error { return tx.Finish("w") }
	requeue := func(tx *Txn) error { return tx.Requeue("w") }
	remove := func(tx *Txn) error { return tx.DeleteWorkload("w") }
	update := func(tx *Txn) error { return tx.UpdateWorkload(&model.Workload{ID: "w", Group: "h"}) }
	for _, c := range []struct {
		name  string
		verbs []func(*Txn) error
		want  string
	}{
		{"forget", []func(*Txn) error{forget}, back},
		{"requeue", []func(*Txn) error{requeue}, back},
		{"finish", []func(*Txn) error{finish}, back},
		{"remove", []func(*Txn) error{remove}, back},
		{"terminate", []func(*Txn) error{terminate}, held},
		{"displace", []func(*Txn) error{displace}, held},
		{"update", []func(*Txn) error{update}, held},
		{"update and forget", []func(*Txn) error{update, forget}, back},
		{"terminate and finish", []func(*Txn) error{terminate, finish}, back},
		{"terminate and requeue", []func(*Txn) error{terminate, requeue}, back},
		{"confirm elsewhere", []func(*Txn) error{confirm("b")}, back},
		{"confirm on a node that is not there", []func(*Txn) error{confirm("?")}, back},
		{"bind", []func(*Txn) error{bind}, fixed},
		{"confirm", []func(*Txn) error{confirm("a")}, fixed},
		{"bind and confirm", []func(*Txn) error{bind, confirm("a")}, fixed},
		{"bind and confirm elsewhere", []func(*Txn) error{bind, confirm("b")}, after},
		{"bind and terminate", []func(*Txn) error{bind, terminate}, fixed},
		{"bind and finish", []func(*Txn) error{bind, finish}, after},
		{"bind and requeue", []func(*Txn) error{bind, requeue}, after},
		{"bind and remove", []func(*Txn) error{bind, remove}, after},
		{"confirm, terminate and remove", []func(*Txn) error{confirm("a"), terminate, remove}, after},
	} {
		s := decidedStore(t)
		do(t, s, assume("w", "a", decision("w")...))
		do(t, s, c.verbs...)
		require.Equal(t, c.want, showObjects(s), c.name)
		if w := s.Workload("w"); w != nil && (c.want == back || c.want == after) {
			require.Empty(t, w.Decided, c.name)
		}
		apart := decidedStore(t)
		do(t, apart, assume("w", "a", decision("w")...))
		for _, v := range c.verbs {
			do(t, apart, v)
		}
		require.Equal(t, c.want, showObjects(apart), "%s, each in a transaction", c.name)
	}
}

// What the orchestrator is asked to write is left as it is until it has answered,
// whatever becomes of the workload. What may have been written holds on then, and the
// rest is taken back.
func TestWhatIsAskedForAndWritten(t *testing.T) {
	const (
		held    = "v for c2 decided [w], c on a decided [w], d given for w decided [w], made given for w decided [w]"
		written = "v for c2 written, c on a written, d given written, made given written"
		back    = "v free, c free, d free, made gone"
	)
	type verbs []func(*Txn) error
	var (
		ask       = func(tx *Txn) error { return tx.Ask("w") }
		forget    = func(tx *Txn) error { return tx.Forget("w") }
		bind      = func(tx *Txn) error { return tx.Bind("w") }
		here      = func(tx *Txn) error { return tx.Confirm("w", "a", nil, time.Time{}) }
		elsewhere = func(tx *Txn) error { return tx.Confirm("w", "b", nil, time.Time{}) }
		terminate = func(tx *Txn) error { return tx.Terminate("w") }
		finish    = func(tx *Txn) error { return tx.Finish("w") }
		requeue   = func(tx *Txn) error { return tx.Requeue("w") }
		remove    = func(tx *Txn) error { return tx.DeleteWorkload("w") }
		submit    = func(tx *Txn) error { return tx.Submit(&model.Workload{ID: "w"}) }
	)
	for _, c := range []struct {
		name                    string
		before                  verbs // the answer
		then                    string
		after                   verbs // it
		ifWritten, ifNotWritten string
	}{
		{"the binding fails", verbs{ask}, held, verbs{forget}, written, back},
		{"it is requeued meanwhile", verbs{ask, requeue}, held, nil, written, back},
		{"it ends meanwhile", verbs{ask, finish}, held, nil, written, back},
		{"it is removed meanwhile", verbs{ask, remove}, held, nil, written, back},
		{"it is removed, and another comes", verbs{ask, remove, submit}, held, nil, written, back},
		{"it is seen elsewhere meanwhile", verbs{ask, elsewhere}, held, nil, written, back},
		{"it is to leave meanwhile", verbs{ask, terminate}, held, verbs{finish}, written, back},
		{"it is to leave and ends meanwhile", verbs{ask, terminate, finish}, held, nil, written, back},
		{"it is bound, and is requeued", verbs{ask}, held, verbs{bind, requeue}, written, "v for c2 written, c on a written, d free, made gone"},
		{"it is bound, and ends", verbs{ask}, held, verbs{bind, finish}, written, "v for c2 written, c on a written, d free, made gone"},
		{"it is bound, and is removed", verbs{ask}, held, verbs{bind, remove}, written, "v for c2 written, c on a written, d free, made gone"},
		{"it is seen before the answer", verbs{ask, here},
			"v for c2 written, c on a written, d given for w decided [w], made given for w decided [w]",
			verbs{finish}, written, "v for c2 written, c on a written, d free, made gone"},
	} {
		for _, w := range []bool{true, false} {
			s := decidedStore(t)
			do(t, s, assume("w", "a", decision("w")...))
			do(t, s, c.before...)
			require.Equal(t, c.then, showObjects(s), c.name)
			want, kinds := c.ifNotWritten, []model.ObjectKind(nil)
			if w {
				want, kinds = c.ifWritten, []model.ObjectKind{model.VolumeKind, model.VolumeClaimKind, model.DeviceClaimKind}
			}
			do(t, s, func(tx *Txn) error {
				tx.Answer("w", []model.ObjectRef{volumeRef, roomRef, gpuRef, extraRef}, kinds)
				return nil
			})
			do(t, s, c.after...)
			require.Equal(t, want, showObjects(s), c.name)
		}
	}
}

// What was written counts until a report, when nobody has it by a decision any more. As
// long as somebody has it, a report that does not say it is older.
func TestReportsOfWhatIsWritten(t *testing.T) {
	given, free := &model.DeviceClaim{ID: "d", Allocation: &model.Allocation{}}, &model.DeviceClaim{ID: "d"}
	answer := func(tx *Txn) error {
		tx.Answer("w", []model.ObjectRef{gpuRef}, []model.ObjectKind{model.DeviceClaimKind})
		return nil
	}
	ask := func(tx *Txn) error { return tx.Ask("w") }
	bind := func(tx *Txn) error { return tx.Bind("w") }
	finish := func(tx *Txn) error { return tx.Finish("w") }
	forget := func(tx *Txn) error { return tx.Forget("w") }
	decide := assume("w", "a", decision("w")[2])
	for _, c := range []struct {
		name  string
		verbs []func(*Txn) error
		want  string
	}{
		{"an old one while it is asked for", []func(*Txn) error{decide, ask, put(free), answer, forget}, "given written"},
		{"an old one while it is bound", []func(*Txn) error{decide, ask, answer, bind, put(free), finish}, "given written"},
		{"one that says so while it is bound", []func(*Txn) error{decide, ask, answer, bind, put(given), finish}, "given"},
		{"that it is free, after the failure", []func(*Txn) error{decide, ask, answer, forget, put(free)}, "free"},
		{"that it is given, after the failure", []func(*Txn) error{decide, ask, answer, forget, put(given)}, "given"},
		{"that it is free, after the end", []func(*Txn) error{decide, ask, answer, bind, finish, put(free)}, "free"},
		{"that it is given, and then free", []func(*Txn) error{decide, ask, answer, bind, put(given), finish, put(free)}, "free"},
		{"none, and the next one is not written", []func(*Txn) error{decide, ask, answer, forget, decide, forget}, "given written"},
		{"that it has gone", []func(*Txn) error{decide, ask, answer, forget, func(tx *Txn) error { return tx.DeleteObject(gpuRef) }}, "gone"},
	} {
		s := decidedStore(t)
		for _, v := range c.verbs {
			do(t, s, v)
		}
		require.Equal(t, c.want, showObject(s.Object(gpuRef)), c.name)
	}
}

// Only what is on its way to a node can be asked for.
func TestAskNeedsADecision(t *testing.T) {
	s := decidedStore(t)
	tx := s.Begin()
	defer tx.Abort()
	require.ErrorIs(t, tx.Ask("nobody"), ErrNotFound)
	var phase *PhaseError
	require.ErrorAs(t, tx.Ask("w"), &phase)
	_, err := tx.Assume(model.Binding{Workload: "w", Node: "a"}, t1)
	require.NoError(t, err)
	row := tx.Workload("w")
	require.NoError(t, tx.Ask("w"))
	require.Same(t, row, tx.Workload("w"), "there is nothing to ask for")
}

// A claim that two workloads share is given back when the second one goes, in
// whatever order they go.
func TestASharedClaimOutlivesOneOfTwo(t *testing.T) {
	shared := func(consumers ...string) model.Object {
		c := &model.DeviceClaim{ID: "d", Allocation: &model.Allocation{}}
		for _, id := range consumers {
			c.ReservedFor = append(c.ReservedFor, model.Consumer{Workload: id})
		}
		return c
	}
	for _, bound := range []bool{false, true} {
		for first, second := range map[string]string{"w": "x", "x": "w"} {
			s := decidedStore(t)
			do(t, s, assume("w", "a", shared("w")), assume("x", "a", shared("w", "x")))
			require.Equal(t, "given for w for x decided [w x]", showObject(s.Object(gpuRef)))
			if bound {
				do(t, s, func(tx *Txn) error { return tx.Bind(first) }, func(tx *Txn) error { return tx.Bind(second) })
			}
			before := s.Object(gpuRef)
			do(t, s, func(tx *Txn) error { return tx.Requeue(first) })
			require.Equal(t, "given for "+second+" decided ["+second+"]", showObject(s.Object(gpuRef)), "without %s", first)
			do(t, s, func(tx *Txn) error { return tx.DeleteWorkload(second) })
			require.Equal(t, "free", showObject(s.Object(gpuRef)))
			require.Equal(t, "given for w for x decided [w x]", showObject(before), "older views keep what they saw")
		}
	}
}

// The first of two that is bound makes a shared volume true for both.
func TestASharedVolumeIsSettledByTheFirst(t *testing.T) {
	s := decidedStore(t)
	decided := decision("w")[:2]
	do(t, s, assume("w", "a", decided...), assume("x", "a", decided...))
	require.Equal(t, []string{"w", "x"}, s.Object(volumeRef).Workloads)
	do(t, s, func(tx *Txn) error { return tx.Bind("w") })
	do(t, s, func(tx *Txn) error { return tx.Forget("x") })
	require.Equal(t, "v for c2 written, c on a written, d free, made gone", showObjects(s))

	s = decidedStore(t)
	do(t, s, assume("w", "a", decided...), assume("x", "a", decided...))
	do(t, s, func(tx *Txn) error { return tx.Forget("w") })
	require.Equal(t, "v for c2 decided [x], c on a decided [x], d free, made gone", showObjects(s), "the other still wants it")
	do(t, s, func(tx *Txn) error { return tx.Forget("x") })
	require.Equal(t, "v free, c free, d free, made gone", showObjects(s))
}

// What a report makes of a decision, and what is left when the decision is then
// taken back.
func TestReportsWhileDecided(t *testing.T) {
	for _, c := range []struct {
		name            string
		report          model.Object
		becomes, undone string
	}{
		{"a volume as before", &model.Volume{Name: "v", Capacity: 7}, "for c2 decided [w]", "free"},
		{"a volume as decided", &model.Volume{Name: "v", Claim: &model.ClaimIdentity{ID: "c2"}}, "for c2", "for c2"},
		{"a volume of another", &model.Volume{Name: "v", Claim: &model.ClaimIdentity{ID: "c9"}}, "for c9", "for c9"},
		{"a claim as before", &model.VolumeClaim{ID: "c", Request: 7}, "on a decided [w]", "free"},
		{"a claim as decided", &model.VolumeClaim{ID: "c", SelectedNode: "a"}, "on a", "on a"},
		{"a claim with a volume", &model.VolumeClaim{ID: "c", Volume: "v7", Bound: true}, "has v7", "has v7"},
		{"a claim for another node", &model.VolumeClaim{ID: "c", SelectedNode: "b"}, "on b", "on b"},
		{"another claim of the ID", &model.VolumeClaim{ID: "c", UID: "2"}, "free", "free"},
		{"devices as before", &model.DeviceClaim{ID: "d", Name: "new"}, "given for w decided [w]", "free"},
		{"devices as decided", &model.DeviceClaim{ID: "d", Allocation: &model.Allocation{}, ReservedFor: []model.Consumer{{Workload: "w"}}},
			"given for w", "given for w"},
		{"devices, but not for whom", &model.DeviceClaim{ID: "d", Allocation: &model.Allocation{}}, "given for w decided [w]", "given"},
		{"for whom, but not what", &model.DeviceClaim{ID: "d", ReservedFor: []model.Consumer{{Workload: "w"}}}, "given for w decided [w]", "for w"},
		{"also for another", &model.DeviceClaim{ID: "d", Allocation: &model.Allocation{}, ReservedFor: []model.Consumer{{Workload: "z"}}},
			"given for z for w decided [w]", "given for z"},
		{"another device claim of the ID", &model.DeviceClaim{ID: "d", UID: "2"}, "free", "free"},
		{"the claim that was made", &model.DeviceClaim{ID: "made", ForResources: true, Owner: "w"}, "given for w decided [w]", "free"},
	} {
		ref := refOf(c.report)
		s := decidedStore(t)
		do(t, s, assume("w", "a", decision("w")...))
		created := s.Object(ref).CreateIndex
		do(t, s, put(c.report))
		row := s.Object(ref)
		require.Equal(t, c.becomes, showObject(row), c.name)
		require.Same(t, c.report, row.Reported, c.name)
		require.Equal(t, created, row.CreateIndex, c.name)
		if v, ok := row.Current().(*model.Volume); ok {
			require.Equal(t, c.report.(*model.Volume).Capacity, v.Capacity, "the rest is as reported")
		}
		do(t, s, func(tx *Txn) error { return tx.Forget("w") })
		require.Equal(t, c.undone, showObject(s.Object(ref)), c.name)
	}
}

// A report that no longer names somebody who is gone frees the claim of her,
// although a decision for another was made when she was there.
func TestAReportForgetsThoseWhoAreGone(t *testing.T) {
	s := decidedStore(t)
	both := []model.Consumer{{Workload: "old"}, {Group: "g"}, {Workload: "w"}}
	do(t, s, assume("w", "a", &model.DeviceClaim{ID: "d", Allocation: &model.Allocation{}, ReservedFor: both}))
	do(t, s, put(&model.DeviceClaim{ID: "d", Allocation: &model.Allocation{}}))
	require.Equal(t, "given for g for w decided [w]", showObject(s.Object(gpuRef)))
}

// An object that goes outside takes its decision with it, also where it comes
// back; the workload can still be bound, finished and placed again.
func TestDecidedObjectsMayBeDeleted(t *testing.T) {
	for _, comesBack := range []bool{false, true} {
		s := decidedStore(t)
		do(t, s, assume("w", "a", decision("w")...))
		for _, o := range decision("w") {
			do(t, s, func(tx *Txn) error { return tx.DeleteObject(refOf(o)) })
			require.Nil(t, s.Object(refOf(o)))
		}
		want := "v gone, c gone, d gone, made gone"
		if comesBack {
			want = "v free, c free, d free, made gone"
			do(t, s, put(&model.Volume{Name: "v"}), put(&model.VolumeClaim{ID: "c"}), put(&model.DeviceClaim{ID: "d"}))
		}
		do(t, s, func(tx *Txn) error { return tx.Bind("w") })
		require.Equal(t, want, showObjects(s))
		require.Empty(t, s.Workload("w").Decided, "there is nothing left to hold")
		do(t, s, func(tx *Txn) error { return tx.Requeue("w") }, assume("w", "a", decision("w")...))
		require.Equal(t, "v for c2 decided [w], c on a decided [w], d given for w decided [w], made given for w decided [w]", showObjects(s))
	}
}

// What the first lost with the object is not taken from the second, for whom it
// was decided anew.
func TestALostDecisionIsNotTakenFromAnother(t *testing.T) {
	s := decidedStore(t)
	do(t, s, assume("w", "a", decision("w")...))
	do(t, s, func(tx *Txn) error { return tx.DeleteObject(gpuRef) }, put(&model.DeviceClaim{ID: "d"}))
	do(t, s, assume("x", "a", decision("x")[2]))
	do(t, s, func(tx *Txn) error { return tx.Forget("w") })
	require.Equal(t, "given for x decided [x]", showObject(s.Object(gpuRef)))
}

// Only what can be taken back can be decided about.
func TestWhatCannotBeDecided(t *testing.T) {
	for _, c := range []struct {
		o       model.Object
		err     error
		message string
	}{
		{&model.StorageClass{Name: "fast"}, ErrUndecidable, `StorageClass "fast": cannot be decided about`},
		{&model.DeviceClaim{}, ErrName, `DeviceClaim "": empty, or contains a NUL byte`},
	} {
		s := decidedStore(t)
		before, index := showObjects(s), s.Index()
		tx := s.Begin()
		_, err := tx.Assume(model.Binding{Workload: "w", Node: "a", Decided: model.Objects{decision("w")[0], c.o}}, t1)
		require.ErrorIs(t, err, c.err)
		require.EqualError(t, err, c.message)
		require.Nil(t, tx.Commit(), "nothing of it is recorded")
		require.Equal(t, index, s.Index())
		require.Equal(t, before, showObjects(s))
	}
	tx := decidedStore(t).Begin()
	defer tx.Abort()
	require.EqualError(t, tx.DeleteObject(extraRef), `DeviceClaim "made": not found`)
}

// Objects of different kinds may have the same ID, and IDs that begin alike.
func TestObjectsAreToldApartByKind(t *testing.T) {
	s := New()
	do(t, s, put(&model.Volume{Name: "o"}), put(&model.VolumeClaim{ID: "o"}), put(&model.Volume{Name: "o1"}), put(&model.VolumeAttachment{ID: "o"}))
	do(t, s, func(tx *Txn) error { return tx.DeleteObject(model.ObjectRef{Kind: model.VolumeClaimKind, ID: "o"}) })
	var names []string
	for _, kind := range model.ObjectKinds {
		for o := range s.Objects(kind) {
			names = append(names, string(kind)+" "+o.Ref().ID)
		}
	}
	require.Equal(t, []string{"Volume o", "Volume o1", "VolumeAttachment o"}, names)
}
