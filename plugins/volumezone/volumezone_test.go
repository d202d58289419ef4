package volumezone

import (
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// labelled makes labels of keys and values in turn.
func labelled(pairs ...string) map[string]string {
	labels := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		labels[pairs[i]] = pairs[i+1]
	}
	return labels
}

// using makes a workload that uses the claims.
func using(claims ...string) *model.Workload {
	w := &model.Workload{ID: "w", Namespace: "ns"}
	for _, name := range claims {
		w.VolumeClaims = append(w.VolumeClaims, model.VolumeClaimRef{ID: "ns/" + name, Name: name})
	}
	return w
}

// bound is a claim and its volume, with the labels.
func bound(name string, labels map[string]string) []model.Object {
	return []model.Object{
		&model.VolumeClaim{ID: "ns/" + name, Namespace: "ns", Name: name, Volume: "v-" + name, Bound: true},
		&model.Volume{Name: "v-" + name, Labels: labels},
	}
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		name         string
		volume, node map[string]string
		accepted     bool
	}{
		{"the same zone", labelled(ZoneLabel, "a"), labelled(ZoneLabel, "a"), true},
		{"another zone", labelled(ZoneLabel, "a"), labelled(ZoneLabel, "b"), false},
		{"the same region", labelled(RegionLabel, "r"), labelled(RegionLabel, "r"), true},
		{"another region", labelled(RegionLabel, "r"), labelled(RegionLabel, "s"), false},
		{"the region is right, the zone is not", labelled(ZoneLabel, "a", RegionLabel, "r"), labelled(ZoneLabel, "b", RegionLabel, "r"), false},
		{"the zone is right, the region is not", labelled(ZoneLabel, "a", RegionLabel, "r"), labelled(ZoneLabel, "a", RegionLabel, "s"), false},
		{"both are right", labelled(ZoneLabel, "a", RegionLabel, "r"), labelled(ZoneLabel, "a", RegionLabel, "r"), true},
		{"the volume is in several zones", labelled(ZoneLabel, "a__b"), labelled(ZoneLabel, "b"), true},
		{"with blanks", labelled(ZoneLabel, "a__ b "), labelled(ZoneLabel, "b"), true},
		{"in several zones, none of them this", labelled(ZoneLabel, "a__b"), labelled(ZoneLabel, "c"), false},
		{"the list is no zone", labelled(ZoneLabel, "a__b"), labelled(ZoneLabel, "a__b"), false},
		{"one underscore is part of the name", labelled(ZoneLabel, "a_b"), labelled(ZoneLabel, "a"), false},
		{"the node says nothing", labelled(ZoneLabel, "a"), labelled("zone", "b"), true},
		{"the node says its region only", labelled(ZoneLabel, "a"), labelled(RegionLabel, "r"), false},
		{"the node says its old region only", labelled(ZoneLabel, "a"), labelled(OldRegionLabel, "r"), false},
		{"old names of both", labelled(OldZoneLabel, "a", OldRegionLabel, "r"), labelled(OldZoneLabel, "a", OldRegionLabel, "r"), true},
		{"old name, another zone", labelled(OldZoneLabel, "a"), labelled(OldZoneLabel, "b"), false},
		{"old name of the volume", labelled(OldZoneLabel, "a"), labelled(ZoneLabel, "a"), true},
		{"old name of the volume, another zone", labelled(OldZoneLabel, "a"), labelled(ZoneLabel, "b"), false},
		{"old name of the volume's region", labelled(OldRegionLabel, "r"), labelled(RegionLabel, "r"), true},
		{"old name of the volume's region, another region", labelled(OldRegionLabel, "r"), labelled(RegionLabel, "s"), false},
		{"the old name is asked first", labelled(OldZoneLabel, "a"), labelled(OldZoneLabel, "b", ZoneLabel, "a"), false},
		{"old name of the node", labelled(ZoneLabel, "a"), labelled(OldZoneLabel, "a"), false},
		{"an empty zone in the list: the label does not count", labelled(ZoneLabel, "a__", RegionLabel, "r"), labelled(ZoneLabel, "b", RegionLabel, "r"), true},
		{"an empty label of the node", labelled(ZoneLabel, "a"), labelled(ZoneLabel, ""), false},
	} {
		want := "Success"
		if !c.accepted {
			want = "UnschedulableAndUnresolvable: node(s) had no available volume zone"
		}
		s := extpointstest.NewSituation(using("data"), extpointstest.NodeWith(&model.Node{Name: "n", Labels: c.node}))
		s.View.Put(bound("data", c.volume)...)
		if got := filter(t, s); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// filter runs PreFilter, which must say Success, and Filter for the first node.
func filter(t *testing.T, s *extpointstest.Situation) string {
	t.Helper()
	state := s.State()
	if result, status := (&VolumeZone{}).PreFilter(state, s.Workload); !status.IsSuccess() || result != nil {
		t.Fatalf("PreFilter says %v, %v", result, status)
	}
	return (&VolumeZone{}).Filter(state, s.Workload, s.View.NodeInfos[0]).String()
}

// Every volume counts, not only the first.
func TestFilterAsksForEveryVolume(t *testing.T) {
	node := extpointstest.NodeWith(&model.Node{Name: "n", Labels: labelled(ZoneLabel, "a")})
	for zone, want := range map[string]string{"a": "Success", "b": "UnschedulableAndUnresolvable: " + Reason} {
		s := extpointstest.NewSituation(using("data", "logs"), node)
		s.View.Put(bound("data", labelled(ZoneLabel, "a"))...)
		s.View.Put(bound("logs", labelled(ZoneLabel, zone))...)
		if got := filter(t, s); got != want {
			t.Errorf("the second volume in zone %s: %s, want %s", zone, got, want)
		}
	}
}

func TestPreFilter(t *testing.T) {
	claim := func(class, volume string) *model.VolumeClaim {
		return &model.VolumeClaim{ID: "ns/data", Namespace: "ns", Name: "data", Class: class, Volume: volume}
	}
	class := func(mode model.BindingMode) *model.StorageClass {
		return &model.StorageClass{Name: "fast", Binding: mode}
	}
	generated := using("data")
	generated.VolumeClaims[0].Generated = true
	disk := using()
	disk.Disks = []model.Disk{{Keys: []string{"disk"}}}
	here := &model.Volume{Name: "v", Labels: labelled(ZoneLabel, "a")}
	const no = "UnschedulableAndUnresolvable: "
	for _, c := range []struct {
		name    string
		w       *model.Workload
		objects []model.Object
		want    string
	}{
		{"no volumes", using(), nil, "Skip"},
		{"a disk", disk, nil, "Skip"},
		{"a claim that is made for it", generated, nil, "Skip"},
		{"a volume somewhere", using("data"), []model.Object{claim("", "v"), here}, "Success"},
		{"a volume that is to be the claim's", using("data"), []model.Object{claim("fast", "v"), here, class("")}, "Success"},
		{"a volume that does not say where it is", using("data"), []model.Object{claim("", "v"), &model.Volume{Name: "v", Labels: labelled("zone", "a")}}, "Skip"},
		{"a volume whose label is no list", using("data"), []model.Object{claim("", "v"), &model.Volume{Name: "v", Labels: labelled(ZoneLabel, "__a")}}, "Skip"},
		{"no claim", using("data"), nil, no + `volume claim "data" not found`},
		{"a claim without identity", &model.Workload{ID: "w", VolumeClaims: []model.VolumeClaimRef{{}}}, nil, no + "volume claim had no name"},
		{"no volume of the name", using("data"), []model.Object{claim("fast", "v"), class(model.BindWhenConsumed)}, no + `volume "v" of the claim not found`},
		{"neither volume nor class", using("data"), []model.Object{claim("", "")}, no + "volume claim had no volume name and storage class name"},
		{"no class of the name", using("data"), []model.Object{claim("fast", "")}, no + `storage class "fast" of the claim not found`},
		{"a class without a mode", using("data"), []model.Object{claim("fast", ""), class("")}, no + `binding mode not set for storage class "fast"`},
		{"a class that binds at once", using("data"), []model.Object{claim("fast", ""), class(model.BindImmediate)}, no + "volume had no name"},
		{"a class that waits", using("data"), []model.Object{claim("fast", ""), class(model.BindWhenConsumed)}, "Skip"},
		{"a class that waits, and a volume somewhere", using("data", "logs"),
			append(bound("logs", labelled(ZoneLabel, "a")), claim("fast", ""), class(model.BindWhenConsumed)), "Success"},
		{"the second claim is not there", using("data", "logs"), []model.Object{claim("", "v"), here}, no + `volume claim "logs" not found`},
	} {
		s := extpointstest.NewSituation(c.w)
		s.View.Put(c.objects...)
		if result, status := (&VolumeZone{}).PreFilter(s.State(), s.Workload); status.String() != c.want || result != nil {
			t.Errorf("%s: %v, %v, want %s", c.name, result, status, c.want)
		}
	}
}

func TestHints(t *testing.T) {
	const queue, leave = extpoints.HintQueue, extpoints.HintSkip
	class := func(mode model.BindingMode) model.Object { return &model.StorageClass{Name: "fast", Binding: mode} }
	claim := func(id string) model.Object { return &model.VolumeClaim{ID: id} }
	at := func(pairs ...string) model.Object { return &model.Volume{Name: "v", Labels: labelled(pairs...)} }
	generated := using("data")
	generated.VolumeClaims[0].Generated = true
	for _, c := range []struct {
		name          string
		hint          extpoints.HintFunc
		w             *model.Workload
		before, after model.Object
		want          extpoints.Hint
		err           bool
	}{
		{"a class that waits comes", afterClassChange, using("data"), nil, class(model.BindWhenConsumed), queue, false},
		{"a class that does not comes", afterClassChange, using("data"), nil, class(model.BindImmediate), leave, false},
		{"a class without a mode comes", afterClassChange, using("data"), nil, class(""), leave, false},
		{"a class begins to wait", afterClassChange, using("data"), class(""), class(model.BindWhenConsumed), queue, false},
		{"a class that waits changes otherwise", afterClassChange, using("data"), class(model.BindWhenConsumed), class(model.BindWhenConsumed), leave, false},
		{"no class", afterClassChange, using("data"), nil, nil, queue, true},
		{"its claim comes", afterClaimChange, using("logs", "data"), nil, claim("ns/data"), queue, false},
		{"its claim changes", afterClaimChange, using("data"), claim("ns/data"), claim("ns/data"), queue, false},
		{"another claim comes", afterClaimChange, using("data"), nil, claim("ns/logs"), leave, false},
		{"a claim of another namespace comes", afterClaimChange, using("data"), nil, claim("other/data"), leave, false},
		{"a claim that is made for it comes", afterClaimChange, generated, nil, claim("ns/data"), leave, false},
		{"something else than a claim", afterClaimChange, using("data"), nil, class(""), queue, true},
		{"a volume comes", afterVolumeChange, using("data"), nil, at(), queue, false},
		{"a volume moves", afterVolumeChange, using("data"), at(ZoneLabel, "a"), at(ZoneLabel, "b"), queue, false},
		{"a volume gets a region", afterVolumeChange, using("data"), at(ZoneLabel, "a"), at(ZoneLabel, "a", RegionLabel, "r"), queue, false},
		{"a volume loses its zone", afterVolumeChange, using("data"), at(ZoneLabel, "a"), at(), queue, false},
		{"a volume gets the old name", afterVolumeChange, using("data"), at(ZoneLabel, "a"), at(OldZoneLabel, "a"), queue, false},
		{"a volume is in one zone more", afterVolumeChange, using("data"), at(ZoneLabel, "a"), at(ZoneLabel, "a__b"), queue, false},
		{"the zones in another order", afterVolumeChange, using("data"), at(ZoneLabel, "a__b"), at(ZoneLabel, "b__a__b"), leave, false},
		{"another label", afterVolumeChange, using("data"), at(ZoneLabel, "a"), at(ZoneLabel, "a", "x", "y"), leave, false},
		{"no volume", afterVolumeChange, using("data"), nil, nil, queue, true},
	} {
		got, err := c.hint(c.w, &extpoints.Event{OldObject: c.before, NewObject: c.after})
		if got != c.want || (err != nil) != c.err {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestEventsToRegister(t *testing.T) {
	reference := []string{"StorageClass/Add", "Node/Add", "Node/UpdateNodeLabel", "VolumeClaim/Add", "VolumeClaim/Update", "Volume/Add", "Volume/Update"}
	for compat, want := range map[extpoints.Compat][]string{extpoints.KubeScheduler137: reference, extpoints.Improved: append([]string{"StorageClass/Update"}, reference...)} {
		h := extpointstest.NewHandle()
		h.Mode = compat
		p, err := New(extpoints.NoArgs{}, h)
		if err != nil {
			t.Fatal(err)
		}
		hints, err := p.EventsToRegister()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, h := range hints {
			for _, action := range []extpoints.Action{extpoints.Add, extpoints.Update, extpoints.UpdateNodeLabel, extpoints.Delete} {
				event := extpoints.ClusterEvent{Resource: h.Event.Resource, Action: action}
				if special := action == extpoints.UpdateNodeLabel; h.Event.Matches(event) && special == (h.Event.Resource == extpoints.NodeResource && action != extpoints.Add) {
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

func BenchmarkFilter(b *testing.B) {
	s := extpointstest.NewSituation(using("data"), extpointstest.NodeWith(&model.Node{Name: "n", Labels: labelled("kubernetes.io/hostname", "n", ZoneLabel, "b", RegionLabel, "r")}))
	s.View.Put(bound("data", labelled(ZoneLabel, "a__b", RegionLabel, "r"))...)
	p, state := &VolumeZone{}, s.State()
	p.PreFilter(state, s.Workload)
	b.ReportAllocs()
	for b.Loop() {
		p.Filter(state, s.Workload, s.View.NodeInfos[0])
	}
}
