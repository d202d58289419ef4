package volumebinding

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

func newPlugin(t testing.TB, args any, h extpoints.Handle) *VolumeBinding {
	t.Helper()
	if h == nil {
		h = extpointstest.NewHandle()
	}
	p, err := extpoints.FactoryOf(New)(args, h)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*VolumeBinding)
}

const host = "kubernetes.io/hostname"

// situationOf has the nodes a and b in zone 1 and the node c in zone 2.
func situationOf(w *model.Workload, objects []model.Object) *extpointstest.Situation {
	var nodes []*extpoints.NodeInfo
	for i, name := range []string{"a", "b", "c"} {
		n := modeltest.Node(name).Label(host, name).Label("zone", []string{"1", "1", "2"}[i]).Build()
		nodes = append(nodes, extpoints.NewNodeInfo(n))
	}
	s := extpointstest.NewSituation(w, nodes...)
	s.View.Put(objects...)
	return s
}

// verdictsOf is what PreFilter says if that is not Success, and else what Filter
// says of each node.
func verdictsOf(p *VolumeBinding, s *extpointstest.Situation) string {
	state := s.State()
	if result, status := p.PreFilter(state, s.Workload); status != nil || result != nil {
		return status.String()
	}
	var lines []string
	for _, n := range s.View.NodeInfos {
		lines = append(lines, n.Node.Name+" "+p.Filter(state, s.Workload, n).String())
	}
	return strings.Join(lines, "\n")
}

// Shorthands for what verdictsOf says.
const (
	uau      = "UnschedulableAndUnresolvable: "
	conflict = uau + ReasonNodeConflict
	noMatch  = uau + ReasonBindConflict
	full     = uau + ReasonNotEnoughSpace
	gone     = uau + ReasonVolumeGone
)

func abc(a, b, c string) string { return fmt.Sprintf("a %s\nb %s\nc %s", a, b, c) }

func everywhere(what string) string { return abc(what, what, what) }

// Classes of the tables: local has volumes made by hand; disk is provisioned, in
// a zone only; tracked is provisioned by a driver that keeps track of its
// capacity; soon binds at once; odd does not say when it binds.
var classes = []model.Object{
	modeltest.StorageClass("local").Build(),
	modeltest.StorageClass("disk").Provisioner("disk.example.com").Allow("zone", "2", "3").Build(),
	modeltest.StorageClass("tracked").Provisioner("tracking.example.com").Build(),
	&model.StorageDriver{Name: "tracking.example.com", TracksCapacity: true},
	modeltest.StorageClass("soon").Provisioner("disk.example.com").Immediate().Build(),
	&model.StorageClass{Name: "odd"},
	&model.StorageClass{Name: "unmade", Binding: model.BindWhenConsumed},
}

func claim(id, class string) *modeltest.VolumeClaimBuilder {
	return modeltest.VolumeClaim(id).Class(class)
}

func localVolume(name string, capacity int64) *modeltest.VolumeBuilder {
	return modeltest.Volume(name).Class("local").Capacity(capacity)
}

func capacity(id, class string, nodes *model.Selector, room, largest int64) *model.StorageCapacity {
	c := &model.StorageCapacity{ID: id, Class: class, Nodes: nodes}
	if room >= 0 {
		c.Capacity = &room
	}
	if largest >= 0 {
		c.MaxVolumeSize = &largest
	}
	return c
}

func onHost(name string) *model.Selector { return model.SelectLabels(map[string]string{host: name}) }

type filterCase struct {
	name    string
	w       *modeltest.WorkloadBuilder
	objects []model.Object
	want    string
}

func (c *filterCase) check(t *testing.T) {
	t.Helper()
	s := situationOf(c.w.Build(), append(append([]model.Object{}, classes...), c.objects...))
	for _, o := range s.View.Objects {
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	if got := verdictsOf(newPlugin(t, nil, nil), s); got != c.want {
		t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
	}
}

func using(claims ...string) *modeltest.WorkloadBuilder {
	w := modeltest.Workload("w").Namespace("ns")
	for _, id := range claims {
		w.VolumeClaim(id)
	}
	return w
}

func TestClaimsThatAreNotAsTheyMustBe(t *testing.T) {
	named := func(w *model.Workload) { w.VolumeClaims[0].Name = "data" }
	for _, c := range []filterCase{
		{"no claims", using().Disk("d"), nil, "Skip"},
		{"one that is not there", using("x"), nil, uau + `volume claim "x" not found`},
		{"called by its name", using("x").With(named), nil, uau + `volume claim "data" not found`},
		{"one of two is not there", using("x", "y"), []model.Object{claim("x", "local").Build()}, uau + `volume claim "y" not found`},
		{"a generated one is not there yet", modeltest.Workload("w").GeneratedVolumeClaim("w-scratch"), nil,
			uau + `waiting for volume claim "w-scratch" to be created for the workload`},
		{"a generated one is another's", modeltest.Workload("w").Namespace("ns").GeneratedVolumeClaim("w-scratch"),
			[]model.Object{claim("w-scratch", "local").Owner("v").Build()},
			uau + `volume claim ns/w-scratch was not created for workload ns/w (workload is not owner)`},
		{"a generated one is nobody's", modeltest.Workload("w").GeneratedVolumeClaim("w-scratch"),
			[]model.Object{claim("w-scratch", "local").Build()},
			uau + `volume claim w-scratch was not created for workload w (workload is not owner)`},
		{"a generated one is its own", modeltest.Workload("w").GeneratedVolumeClaim("w-scratch"),
			[]model.Object{claim("w-scratch", "local").Owner("w").Build(), localVolume("v", 0).Build()}, everywhere("Success")},
		{"whose one is not generated does not matter", using("x"),
			[]model.Object{claim("x", "local").Owner("v").Build(), localVolume("v", 0).Build()}, everywhere("Success")},
		{"lost", using("x"), []model.Object{claim("x", "local").Bound("v").With(func(c *model.VolumeClaim) { c.Lost, c.Deleting = true, true }).Build()},
			uau + `volume claim "x" bound to non-existent volume "v"`},
		{"being deleted", using("x"), []model.Object{claim("x", "local").Bound("v").With(func(c *model.VolumeClaim) { c.Deleting, c.Name = true, "data" }).Build()},
			uau + `volume claim "data" is being deleted`},
		{"the first one with a problem counts", using("x", "y", "z"),
			[]model.Object{claim("x", "soon").Build(), claim("z", "local").With(func(c *model.VolumeClaim) { c.Deleting = true }).Build()},
			uau + `volume claim "y" not found`},

		{"binds at once, and is not bound", using("x", "y"), []model.Object{claim("x", "local").Build(), claim("y", "soon").Build()}, uau + ReasonImmediate},
		{"without a class", using("x"), []model.Object{claim("x", "").Build()}, uau + ReasonImmediate},
		{"of a class that is not there", using("x"), []model.Object{claim("x", "nowhere").Build()}, uau + ReasonImmediate},
		{"with a volume, but not bound to it", using("x"),
			[]model.Object{claim("x", "local").With(func(c *model.VolumeClaim) { c.Volume = "v" }).Build(), localVolume("v", 1).For("x").Build()}, uau + ReasonImmediate},
		{"of a class that does not say when it binds", using("x", "y"), []model.Object{claim("x", "soon").Build(), claim("y", "odd").Build()},
			`Error: binding mode not set for storage class "odd"`},
		{"of such a class, and bound", using("x"), []model.Object{claim("x", "odd").Bound("v").Build(), modeltest.Volume("v").Build()}, everywhere("Success")},
		{"of a class that binds at once, and bound", using("x"), []model.Object{claim("x", "soon").Bound("v").Build(), modeltest.Volume("v").Build()}, everywhere("Success")},
	} {
		c.check(t)
	}
}

func TestBoundClaims(t *testing.T) {
	standIn := func(v *model.Volume) {
		v.Driver, v.Plugin = "disk.example.com", "old-disk"
		v.StandInNodes = modeltest.Volume("").On(host, "c").Build().Nodes
	}
	for _, c := range []filterCase{
		{"usable from everywhere", using("x"), []model.Object{claim("x", "local").Bound("v").Build(), localVolume("v", 1).Build()}, everywhere("Success")},
		{"usable from one node", using("x"), []model.Object{claim("x", "local").Bound("v").Build(), localVolume("v", 1).On(host, "b").Build()}, abc(conflict, "Success", conflict)},
		{"on the way out, too small, and another's", using("x"), []model.Object{claim("x", "local").Request(5).Bound("v").Build(),
			localVolume("v", 1).For("y").With(func(v *model.Volume) { v.Deleting = true }).Build()}, everywhere("Success")},
		{"gone", using("x"), []model.Object{claim("x", "local").Bound("v").Build()}, everywhere(gone)},
		{"one elsewhere before one that is gone", using("x", "y"), []model.Object{
			claim("x", "local").Bound("v").Build(), claim("y", "local").Bound("gone").Build(), localVolume("v", 1).On("zone", "1").Build()}, abc(gone, gone, conflict)},
		{"one that is gone before one elsewhere", using("y", "x"), []model.Object{
			claim("x", "local").Bound("v").Build(), claim("y", "local").Bound("gone").Build(), localVolume("v", 1).On("zone", "1").Build()}, everywhere(gone)},
		{"a driver stands in on two nodes", using("x"), []model.Object{
			claim("x", "local").Bound("v").Build(), localVolume("v", 1).On(host, "a").With(standIn).Build(),
			&model.NodeStorage{Node: "b", StandsIn: []string{"other", "old-disk"}}, &model.NodeStorage{Node: "c", StandsIn: []string{"old-disk"}}},
			abc("Success", conflict, "Success")},
		{"a driver stands in for something else", using("x"), []model.Object{
			claim("x", "local").Bound("v").Build(), localVolume("v", 1).On(host, "a").With(standIn).Build(),
			&model.NodeStorage{Node: "a", StandsIn: []string{"other"}}, &model.NodeStorage{Node: "c"}},
			abc("Success", conflict, conflict)},
		{"a driver stands in for what could be used from everywhere", using("x"), []model.Object{
			claim("x", "local").Bound("v").Build(), localVolume("v", 1).With(standIn).Build(), &model.NodeStorage{Node: "b", StandsIn: []string{"old-disk"}}},
			abc("Success", conflict, "Success")},
		{"bound, and open without a volume", using("x", "y"), []model.Object{
			claim("x", "local").Bound("v").Build(), claim("y", "local").Build(), localVolume("v", 1).For("x").On(host, "b").Build()},
			abc(conflict+", "+ReasonBindConflict, noMatch, conflict+", "+ReasonBindConflict)},
		{"gone, and no room for another", using("x", "y"), []model.Object{claim("x", "local").Bound("v").Build(), claim("y", "tracked").Request(1).Build()},
			everywhere(full + ", " + ReasonVolumeGone)},
	} {
		c.check(t)
	}
}

// TestVolumesThatAreThere has a case for each thing that a volume may lack.
func TestVolumesThatAreThere(t *testing.T) {
	want := claim("x", "local").Request(5)
	with := func(change func(*model.VolumeClaim)) *model.VolumeClaim {
		return claim("x", "local").Request(5).With(change).Build()
	}
	volume := func(change func(*model.Volume)) *model.Volume { return localVolume("v", 5).With(change).Build() }
	for _, c := range []struct {
		name   string
		claim  *model.VolumeClaim
		volume *model.Volume
		fits   bool
	}{
		{"just large enough", want.Build(), localVolume("v", 5).Build(), true},
		{"too small", want.Build(), localVolume("v", 4).Build(), false},
		{"of another class", want.Build(), localVolume("v", 5).Class("soon").Build(), false},
		{"another's", want.Build(), localVolume("v", 5).For("y").Build(), false},
		{"kept for the claim, whatever it is like", with(func(c *model.VolumeClaim) {
			c.Selector, c.AccessModes = &model.Selector{Requirements: []model.Requirement{{Key: "x", Operator: model.Exists}}}, []model.AccessMode{model.ReadWriteMany}
		}), localVolume("v", 5).For("x").Phase(model.VolumeReleased).Build(), true},
		{"kept for the claim, but too small", want.Build(), localVolume("v", 4).For("x").Build(), false},
		{"kept for it by its UID", with(func(c *model.VolumeClaim) { c.UID = "1" }),
			volume(func(v *model.Volume) { v.Claim = &model.ClaimIdentity{ID: "x", UID: "1"} }), true},
		{"kept for an earlier one", with(func(c *model.VolumeClaim) { c.UID = "2" }),
			volume(func(v *model.Volume) { v.Claim = &model.ClaimIdentity{ID: "x", UID: "1"} }), false},
		{"the mode that is meant", with(func(c *model.VolumeClaim) { c.Mode = model.FilesystemVolume }), localVolume("v", 5).Build(), true},
		{"another mode", with(func(c *model.VolumeClaim) { c.Mode = model.BlockVolume }), localVolume("v", 5).Build(), false},
		{"other attributes", want.Build(), volume(func(v *model.Volume) { v.AttributesClass = "fast" }), false},
		{"other attributes, kept for it", want.Build(), volume(func(v *model.Volume) { v.AttributesClass, v.Claim = "fast", &model.ClaimIdentity{ID: "x"} }), false},
		{"the attributes", with(func(c *model.VolumeClaim) { c.AttributesClass = "fast" }), volume(func(v *model.Volume) { v.AttributesClass = "fast" }), true},
		{"on its way out", want.Build(), volume(func(v *model.Volume) { v.Deleting = true }), false},
		{"available", want.Build(), localVolume("v", 5).Phase(model.VolumeAvailable).Build(), true},
		{"not available", want.Build(), localVolume("v", 5).Phase(model.VolumePending).Build(), false},
		{"selected", with(func(c *model.VolumeClaim) { c.Selector = model.SelectLabels(map[string]string{"k": "v"}) }), localVolume("v", 5).Label("k", "v").Build(), true},
		{"not selected", with(func(c *model.VolumeClaim) { c.Selector = model.SelectLabels(map[string]string{"k": "v"}) }), localVolume("v", 5).Label("k", "w").Build(), false},
		{"any is selected", with(func(c *model.VolumeClaim) { c.Selector = &model.Selector{} }), localVolume("v", 5).Build(), true},
		{"more access than wanted", with(func(c *model.VolumeClaim) { c.AccessModes = []model.AccessMode{model.ReadWriteOnce} }),
			localVolume("v", 5).Access(model.ReadOnlyMany, model.ReadWriteOnce).Build(), true},
		{"less access than wanted", with(func(c *model.VolumeClaim) {
			c.AccessModes = []model.AccessMode{model.ReadWriteOnce, model.ReadOnlyMany}
		}),
			localVolume("v", 5).Access(model.ReadWriteOnce).Build(), false},
	} {
		want := everywhere(noMatch)
		if c.fits {
			want = everywhere("Success")
		}
		f := filterCase{c.name, using("x"), []model.Object{c.claim, c.volume}, want}
		f.check(t)
	}
}

func TestVolumesOnNodes(t *testing.T) {
	for _, c := range []filterCase{
		{"one on each of two nodes", using("x"), []model.Object{claim("x", "local").Build(),
			localVolume("v1", 1).On(host, "a").Build(), localVolume("v2", 1).On(host, "c").Build()}, abc("Success", noMatch, "Success")},
		{"two alternatives of one volume", using("x"), []model.Object{claim("x", "local").Build(), localVolume("v", 1).On(host, "a").On("zone", "2").Build()},
			abc("Success", noMatch, "Success")},
		{"by the name of the node", using("x"), []model.Object{claim("x", "local").Build(), localVolume("v", 1).With(func(v *model.Volume) {
			v.Nodes = &model.NodeTerms{Terms: []model.NodeTerm{{Fields: []model.Requirement{{Key: model.FieldName, Operator: model.In, Values: []string{"b"}}}}}}
		}).Build()}, abc(noMatch, "Success", noMatch)},
		{"two claims, two volumes on one node", using("x", "y"), []model.Object{claim("x", "local").Build(), claim("y", "local").Build(),
			localVolume("v1", 1).On(host, "a").Build(), localVolume("v2", 1).On(host, "a").Build(), localVolume("v3", 1).On(host, "b").Build()},
			abc("Success", noMatch, noMatch)},
		{"the one that asks for less chooses first", using("large", "small"), []model.Object{
			claim("large", "local").Request(5).Build(), claim("small", "local").Request(1).Build(),
			localVolume("v1", 7).On(host, "a").Build(), localVolume("v2", 5).On(host, "a").Build(),
			localVolume("v3", 6).On(host, "b").Build(), localVolume("v4", 4).On(host, "b").Build()},
			abc("Success", "Success", noMatch)},
		{"the one kept for it is elsewhere", using("x"), []model.Object{claim("x", "local").Build(),
			localVolume("v1", 1).For("x").On(host, "b").Build(), localVolume("v2", 1).On(host, "a").Build()}, abc(noMatch, "Success", noMatch)},
		{"of two kept for it the first by name", using("x"), []model.Object{claim("x", "local").Build(),
			localVolume("v1", 2).For("x").On(host, "b").Build(), localVolume("v2", 1).For("x").On(host, "a").Build()}, abc(noMatch, "Success", noMatch)},
	} {
		c.check(t)
	}
}

// taken is the capacity with room taken for the claim.
func taken(c *model.StorageCapacity, claim string, bytes int64) *model.StorageCapacity {
	c.Taken = append(c.Taken, model.TakenRoom{Claim: claim, Workload: "of " + claim, Bytes: bytes})
	return c
}

func TestVolumesThatCanBeMade(t *testing.T) {
	for _, c := range []filterCase{
		{"where the class allows", using("x"), []model.Object{claim("x", "disk").Request(3).Build()}, abc(noMatch, noMatch, "Success")},
		{"not without a provisioner", using("x"), []model.Object{claim("x", "unmade").Build()}, everywhere(noMatch)},
		{"or by one that there is", using("x"), []model.Object{claim("x", "disk").Request(3).Build(), modeltest.Volume("v").Class("disk").Capacity(3).On(host, "a").Build()},
			abc("Success", noMatch, "Success")},
		{"one is there and one is made", using("x", "y"), []model.Object{claim("x", "local").Build(), claim("y", "disk").Build(),
			localVolume("v", 1).On("zone", "2").Build()}, abc(noMatch, noMatch, "Success")},
		{"for a node already", using("x"), []model.Object{claim("x", "disk").Selected("c").Build(), modeltest.Volume("v").Class("disk").Build()}, abc(noMatch, noMatch, "Success")},
		{"for a node already that the class does not allow", using("x"), []model.Object{claim("x", "disk").Selected("a").Build()}, everywhere(noMatch)},
		{"for two nodes already", using("x", "y"), []model.Object{claim("x", "disk").Selected("c").Build(), claim("y", "disk").Selected("b").Build()}, everywhere(noMatch)},
		{"the driver keeps track, and there is no room", using("x"), []model.Object{claim("x", "tracked").Request(1).Build()}, everywhere(full)},
		{"the driver keeps track, and nothing is asked for", using("x"), []model.Object{claim("x", "tracked").Build()}, everywhere("Success")},
		{"the driver does not keep track", using("x"), []model.Object{claim("x", "tracked").Request(1).Build(), &model.StorageDriver{Name: "tracking.example.com"}}, everywhere("Success")},
		{"room on some nodes", using("x"), []model.Object{claim("x", "tracked").Request(5).Build(),
			capacity("a", "tracked", onHost("a"), 5, -1), capacity("b", "tracked", onHost("b"), 4, -1), capacity("c", "disk", onHost("c"), 5, -1)},
			abc("Success", full, full)},
		{"the largest volume counts", using("x"), []model.Object{claim("x", "tracked").Request(5).Build(),
			capacity("a", "tracked", onHost("a"), 9, 4), capacity("b", "tracked", onHost("b"), 4, 5), capacity("c", "tracked", onHost("c"), -1, 5)},
			abc(full, "Success", "Success")},
		{"room that nobody can see, or of no known size", using("x"), []model.Object{claim("x", "tracked").Request(5).Build(),
			capacity("1", "tracked", nil, 9, -1), capacity("2", "tracked", onHost("a"), -1, -1)}, everywhere(full)},
		{"room that all can see", using("x"), []model.Object{claim("x", "tracked").Request(5).Build(), capacity("1", "tracked", &model.Selector{}, 9, -1)}, everywhere("Success")},
		{"two claims find room together", using("x", "y"), []model.Object{claim("x", "tracked").Request(5).Build(), claim("y", "tracked").Request(5).Build(),
			capacity("1", "tracked", &model.Selector{}, 10, -1)}, everywhere("Success")},
		{"two claims find room for one of them", using("x", "y"), []model.Object{claim("x", "tracked").Request(5).Build(), claim("y", "tracked").Request(5).Build(),
			capacity("1", "tracked", &model.Selector{}, 9, 5)}, everywhere(full)},
		{"or one room each", using("x", "y"), []model.Object{claim("x", "tracked").Request(5).Build(), claim("y", "tracked").Request(5).Build(),
			capacity("1", "tracked", &model.Selector{}, 9, 5), capacity("2", "tracked", onHost("b"), 9, 5)}, abc(full, "Success", full)},
		{"room that others take", using("x"), []model.Object{claim("x", "tracked").Request(5).Build(),
			taken(capacity("1", "tracked", onHost("a"), 9, 5), "y", 5), taken(capacity("2", "tracked", onHost("b"), 10, 5), "y", 5),
			taken(capacity("3", "tracked", onHost("c"), -1, 5), "y", 5)}, abc(full, "Success", "Success")},
		{"room that is taken for the claim", using("x"), []model.Object{claim("x", "tracked").Request(5).Build(),
			taken(capacity("1", "tracked", &model.Selector{}, 5, -1), "x", 5)}, everywhere("Success")},
		{"room that is taken for a claim twice", using("x"), []model.Object{claim("x", "tracked").Request(5).Build(),
			taken(taken(capacity("1", "tracked", &model.Selector{}, 10, -1), "y", 5), "y", 5)}, everywhere("Success")},
		{"the first that cannot be made decides", using("large", "small"), []model.Object{
			claim("large", "tracked").Request(5).Build(), claim("small", "local").Request(1).Build()}, everywhere(noMatch)},
		{"the same the other way round", using("large", "small"), []model.Object{
			claim("large", "local").Request(5).Build(), claim("small", "tracked").Request(1).Build()}, everywhere(full)},
		{"one for a node already is asked about first", using("small", "large"), []model.Object{
			claim("large", "tracked").Request(5).Selected("a").Build(), claim("small", "local").Request(1).Build()}, abc(full, noMatch, noMatch)},
	} {
		c.check(t)
	}
}

// What was decided for a workload before is in the view, and holds for the next
// one with the same claims, or after the same volumes.
func TestTheNextWorkloadSeesTheDecision(t *testing.T) {
	p := newPlugin(t, nil, nil)
	s := situationOf(using("x", "y").Build(), append(classes[:len(classes):len(classes)],
		claim("x", "local").Build(), claim("y", "disk").Build(), claim("z", "local").Build(), localVolume("v", 1).Build()))
	b := &model.Binding{Workload: "w", Node: "c"}
	if status := p.Reserve(s.State(), s.Workload, b); status != nil {
		t.Fatal(status)
	}
	s.View.Put(b.Decided...)
	for claims, want := range map[string]string{
		"x y": abc(noMatch, noMatch, "Success"),
		"x":   everywhere("Success"), // from wherever the volume can be used
		"y":   abc(noMatch, noMatch, "Success"),
		"z":   everywhere(noMatch),
	} {
		s.Workload = &extpoints.WorkloadInfo{Workload: using(strings.Fields(claims)...).Build()}
		if got := verdictsOf(p, s); got != want {
			t.Errorf("claims %s:\n%s\nwant\n%s", claims, got, want)
		}
	}
}

// Without PreFilter the answers are the same.
func TestWithoutPreFilter(t *testing.T) {
	p := newPlugin(t, nil, nil)
	s := situationOf(using("x").Build(), append(classes[:len(classes):len(classes)], claim("x", "local").Build(), localVolume("v", 1).On(host, "a").Build()))
	for i, want := range []string{"Success", noMatch, noMatch} {
		if got := p.Filter(s.State(), s.Workload, s.View.NodeInfos[i]).String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	s.View.Drop(model.VolumeClaimKind, "x")
	if got, want := p.Filter(s.State(), s.Workload, s.View.NodeInfos[0]).String(), uau+`volume claim "x" not found`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := p.PreScore(s.State(), s.Workload, s.View.NodeInfos).String(), `Error: volume claim "x" not found`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
