package nodevolumelimits

import (
	"fmt"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

const (
	ok       = "Success"
	exceeded = "Unschedulable: node(s) exceed max volume count"
	driver   = "csi.example.com"
)

// using makes a workload that uses the claims; those that begin with "+" are
// made for it.
func using(id string, claims ...string) *model.Workload {
	w := &model.Workload{ID: id, Namespace: "ns"}
	for _, name := range claims {
		short, generated := strings.CutPrefix(name, "+")
		w.VolumeClaims = append(w.VolumeClaims, model.VolumeClaimRef{ID: "ns/" + short, Name: short, Generated: generated})
	}
	return w
}

// disks makes a workload with disks of the driver, without claims.
func disks(id, driver, plugin string, handles ...string) *model.Workload {
	w := &model.Workload{ID: id, Namespace: "ns"}
	for _, h := range handles {
		w.Disks = append(w.Disks, model.Disk{Driver: driver, Handle: h, Plugin: plugin})
	}
	return w
}

// claims are claims of the names, with volumes of the driver.
func claims(driver string, names ...string) (list []model.Object) {
	for _, name := range names {
		list = append(list, claim(name, "", "v-"+name), &model.Volume{Name: "v-" + name, Driver: driver, Handle: "h-" + name})
	}
	return list
}

func claim(name, class, volume string) *model.VolumeClaim {
	return &model.VolumeClaim{ID: "ns/" + name, Namespace: "ns", Name: name, Class: class, Volume: volume}
}

// owned is a claim that is made for the workload, of the class.
func owned(name, class, by string) *model.VolumeClaim {
	c := claim(name, class, "")
	c.Owner = by
	return c
}

// limits is what the node has: so many volumes of the driver, less than 0 for no
// limit.
func limits(driver string, most int32) *model.NodeStorage {
	d := model.NodeDriver{Name: driver}
	if most >= 0 {
		d.MaxVolumes = &most
	}
	return &model.NodeStorage{Node: "n", Drivers: []model.NodeDriver{d}}
}

func attachment(id, driver, volume string) *model.VolumeAttachment {
	return &model.VolumeAttachment{ID: id, Driver: driver, Node: "n", Volume: volume}
}

type scene struct {
	name    string
	w       *model.Workload
	on      []*model.Workload
	objects []model.Object
	want    string
}

func (c *scene) run(t *testing.T) {
	t.Helper()
	s := extpointstest.NewSituation(c.w, extpointstest.NodeWith(&model.Node{Name: "n"}, c.on...))
	s.View.Put(c.objects...)
	p, state := &NodeVolumeLimits{}, s.State()
	_, status := p.PreFilter(state, s.Workload)
	if status.IsSuccess() {
		status = p.Filter(state, s.Workload, s.View.NodeInfos[0])
	}
	if status.String() != c.want {
		t.Errorf("%s: %v, want %s", c.name, status, c.want)
	}
}

func objects(lists ...[]model.Object) (all []model.Object) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func one(o ...model.Object) []model.Object { return o }

func TestLimits(t *testing.T) {
	three := claims(driver, "a", "b", "c")
	waiting := one(&model.StorageClass{Name: "fast", Provisioner: driver}, claim("a", "fast", ""), claim("b", "fast", ""), claim("c", "fast", ""))
	for _, c := range []scene{
		{"no volumes", using("w"), nil, one(limits(driver, 0)), "Skip"},
		{"a disk that does not count", disks("w", "", "", "h"), nil, one(limits(driver, 0)), "Skip"},
		{"a disk without a handle", disks("w", driver, "", ""), nil, one(limits(driver, 0)), "Skip"},
		{"room for one", using("w", "a"), nil, objects(three, one(limits(driver, 1))), ok},
		{"room for none", using("w", "a"), nil, objects(three, one(limits(driver, 0))), exceeded},
		{"the last place", using("w", "a"), []*model.Workload{using("x", "b")}, objects(three, one(limits(driver, 2))), ok},
		{"no place left", using("w", "a"), []*model.Workload{using("x", "b"), using("y", "c")}, objects(three, one(limits(driver, 2))), exceeded},
		{"two at once, room for one", using("w", "a", "b"), []*model.Workload{using("x", "c")}, objects(three, one(limits(driver, 2))), exceeded},
		{"two claims of one volume are one", using("w", "a", "b"), []*model.Workload{using("x", "c")},
			objects(three, one(&model.Volume{Name: "v-b", Driver: driver, Handle: "h-a"}, limits(driver, 2))), ok},
		{"one that two use there is one", using("w", "a"), []*model.Workload{using("x", "b"), using("y", "b")}, objects(three, one(limits(driver, 2))), ok},
		{"it is there already", using("w", "a"), []*model.Workload{using("x", "a"), using("y", "b")}, objects(three, one(limits(driver, 2))), ok},
		{"it is there already, with more than there may be", using("w", "a"), []*model.Workload{using("x", "a", "b")}, objects(three, one(limits(driver, 1))), ok},
		{"one is there already, the other is one too many", using("w", "a", "c"), []*model.Workload{using("x", "a"), using("y", "b")}, objects(three, one(limits(driver, 2))), exceeded},
		{"no limit", using("w", "a"), []*model.Workload{using("x", "b")}, objects(three, one(limits(driver, -1))), ok},
		{"a limit of another driver", using("w", "a"), []*model.Workload{using("x", "b")}, objects(three, one(limits("other", 0))), ok},
		{"what is there is another driver's", using("w", "a"), []*model.Workload{using("x", "o")},
			objects(three, claims("other", "o"), one(limits(driver, 1))), ok},
		{"two handles of two drivers", using("w", "a"), []*model.Workload{using("x", "b")}, objects(three,
			one(&model.Volume{Name: "v-b", Driver: "other", Handle: "h-a"}, limits(driver, 1))), ok},
		{"nothing is known of the node", using("w", "a"), nil, three, ok},
		{"the volume does not count", using("w", "a"), nil, one(claim("a", "", "v"), &model.Volume{Name: "v"}, limits(driver, 0)), ok},
		{"one without a volume", using("w", "a"), []*model.Workload{using("x", "b"), using("y", "c")}, objects(waiting, one(limits(driver, 2))), exceeded},
		{"and without a volume is room for it", using("w", "a"), []*model.Workload{using("x", "b"), using("y", "b")}, objects(waiting, one(limits(driver, 2))), ok},
		{"its volume is not there: its class", using("w", "a"), nil,
			one(&model.StorageClass{Name: "fast", Provisioner: driver}, claim("a", "fast", "gone"), limits(driver, 0)), exceeded},
		{"its volume is there: not its class", using("w", "a"), nil,
			one(&model.StorageClass{Name: "fast", Provisioner: driver}, claim("a", "fast", "v"), &model.Volume{Name: "v"}, limits(driver, 0)), ok},
		{"its class is not there", using("w", "a"), nil, one(claim("a", "fast", ""), limits(driver, 0)), ok},
		{"it has no class", using("w", "a"), nil, one(claim("a", "", ""), limits(driver, 0)), ok},
		{"a claim without a volume is none with its name as a handle", using("w", "a"), []*model.Workload{disks("x", driver, "", "ns/a")},
			objects(waiting, one(limits(driver, 1))), exceeded},
		{"a disk", disks("w", driver, "", "h"), []*model.Workload{using("x", "a")}, objects(three, one(limits(driver, 1))), exceeded},
		{"a disk that is there as a claim's volume", disks("w", driver, "", "h-a"), []*model.Workload{using("x", "a")}, objects(three, one(limits(driver, 1))), ok},
		{"a claim there that is gone", using("w", "a"), []*model.Workload{using("x", "gone")}, objects(three, one(limits(driver, 1))), ok},
		{"two drivers, the second is full", using("w", "a", "o"), []*model.Workload{using("x", "p")}, objects(three, claims("other", "o", "p"),
			one(&model.NodeStorage{Node: "n", Drivers: []model.NodeDriver{{Name: driver, MaxVolumes: new(int32(5))}, {Name: "other", MaxVolumes: new(int32(1))}}})), exceeded},
	} {
		c.run(t)
	}
}

func TestAttachments(t *testing.T) {
	three := claims(driver, "a", "b", "c")
	elsewhere := attachment("1", driver, "v-b")
	elsewhere.Node = "m"
	for _, c := range []scene{
		{"one that nobody uses", using("w", "a"), nil, objects(three, one(attachment("1", driver, "v-b"), limits(driver, 1))), exceeded},
		{"one that is used there", using("w", "a"), []*model.Workload{using("x", "b")}, objects(three, one(attachment("1", driver, "v-b"), limits(driver, 2))), ok},
		{"two of one volume", using("w", "a"), nil, objects(three, one(attachment("1", driver, "v-b"), attachment("2", driver, "v-b"), limits(driver, 2))), ok},
		{"two of two", using("w", "a"), nil, objects(three, one(attachment("1", driver, "v-b"), attachment("2", driver, "v-c"), limits(driver, 2))), exceeded},
		{"on another node", using("w", "a"), nil, objects(three, one(elsewhere, limits(driver, 1))), ok},
		{"by another driver", using("w", "a"), nil, objects(three, one(attachment("1", "other", "v-b"), limits(driver, 1))), ok},
		{"of a volume that is not there", using("w", "a"), nil, objects(three, one(attachment("1", driver, "gone"), limits(driver, 1))), ok},
		{"of no volume", using("w", "a"), nil, objects(three, one(attachment("1", driver, ""), limits(driver, 1))), ok},
		{"of a volume without an object", using("w", "a"), nil, objects(three, one(
			&model.VolumeAttachment{ID: "1", Driver: driver, Node: "n", Handle: "h"}, limits(driver, 1))), exceeded},
		{"of a built-in plugin's", using("w", "a"), nil, objects(three, one(attachment("1", driver, "old"),
			&model.Volume{Name: "old", Driver: driver, Handle: "old", Plugin: "example.com/old"}, limits(driver, 1))), ok},
		{"of a volume that does not count", using("w", "a"), nil, objects(three, one(attachment("1", driver, "v"), &model.Volume{Name: "v"}, limits(driver, 1))), ok},
		// As in the reference.
		{"the wanted one itself, not used there, counts twice", using("w", "a"), nil, objects(three, one(attachment("1", driver, "v-a"), limits(driver, 1))), exceeded},
	} {
		c.run(t)
	}
}

// TestOldLimits: the limits that were plugins of their own are those of the
// drivers that stand in for the built-in plugins, for all three ways to name a
// volume.
func TestOldLimits(t *testing.T) {
	for _, old := range []struct{ name, plugin, driver string }{
		{"EBSLimits", "kubernetes.io/aws-ebs", "ebs.csi.aws.com"},
		{"GCEPDLimits", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io"},
		{"AzureDiskLimits", "kubernetes.io/azure-disk", "disk.csi.azure.com"},
		{"CinderLimits", "kubernetes.io/cinder", "cinder.csi.openstack.org"},
	} {
		translated := one(claim("a", "", "v"), &model.Volume{Name: "v", Driver: old.driver, Handle: "h-a", Plugin: old.plugin})
		class := one(claim("a", "old", ""), &model.StorageClass{Name: "old", Provisioner: old.plugin, Driver: old.driver})
		mustHave := one(&model.StorageDriver{Name: old.driver, MustBeInstalled: true})
		for how, c := range map[string]scene{
			"a volume": {"", using("w", "a"), nil, translated, ""},
			"a class":  {"", using("w", "a"), nil, class, ""},
			"a disk":   {"", disks("w", old.driver, old.plugin, "h-a"), nil, nil, ""},
		} {
			c.on = []*model.Workload{disks("x", old.driver, old.plugin, "h-b")}
			as := func(what, want string, more []model.Object) {
				s := c
				s.name, s.want, s.objects = fmt.Sprintf("%s, %s: %s", old.name, how, what), want, objects(c.objects, more)
				s.run(t)
			}
			as("room for two", ok, one(limits(old.driver, 2)))
			as("room for one", exceeded, one(limits(old.driver, 1)))
			as("the limit of the plugin is none", ok, one(limits(old.plugin, 1)))
			as("nothing is known of the node", ok, nil)
			as("nothing is known of the node that must have it", ok, mustHave)
			as("the node does not have it", "Unschedulable: "+old.driver+ReasonNotInstalled, append(mustHave, limits("other", 1)))
		}
	}
}

func TestDriverMustBeInstalled(t *testing.T) {
	const missing = "Unschedulable: csi.example.com CSI driver is not installed on the node"
	must := one(&model.StorageDriver{Name: driver, MustBeInstalled: true})
	one1 := claims(driver, "a")
	for _, c := range []scene{
		{"nothing is known of the node", using("w", "a"), nil, objects(one1, must), missing},
		{"the node has another", using("w", "a"), nil, objects(one1, must, one(limits("other", 1))), missing},
		{"the node has it, without a limit", using("w", "a"), nil, objects(one1, must, one(limits(driver, -1))), ok},
		{"the node has it, and room", using("w", "a"), nil, objects(one1, must, one(limits(driver, 1))), ok},
		{"the node has it, and no room", using("w", "a"), nil, objects(one1, must, one(limits(driver, 0))), exceeded},
		{"it need not be installed", using("w", "a"), nil, objects(one1, one(&model.StorageDriver{Name: driver})), ok},
		{"nothing is known of the driver", using("w", "a"), nil, one1, ok},
		{"its volume is there already", using("w", "a"), []*model.Workload{using("x", "a")}, objects(one1, must), missing},
		{"the second of two", using("w", "o", "a"), nil, objects(one1, claims("other", "o"), must, one(limits("other", 1))), missing},
		{"by its class", using("w", "a"), nil, objects(must, one(claim("a", "fast", ""), &model.StorageClass{Name: "fast", Provisioner: driver})), missing},
	} {
		c.run(t)
	}
}

func TestClaimsThatAreWrong(t *testing.T) {
	const absent = `UnschedulableAndUnresolvable: looking up volume claim ns/a: volume claim "a" not found`
	const foreign = "Error: volume claim ns/a was not created for workload ns/w (workload is not owner)"
	fast := &model.StorageClass{Name: "fast", Provisioner: driver}
	nameless := &model.Workload{ID: "w", VolumeClaims: []model.VolumeClaimRef{{}}}
	bare := &model.Workload{ID: "w", VolumeClaims: []model.VolumeClaimRef{{ID: "a"}}}
	for _, c := range []scene{
		{"not there", using("w", "a"), nil, nil, absent},
		{"not there, where there is no namespace", bare, nil, nil, `UnschedulableAndUnresolvable: looking up volume claim a: volume claim "a" not found`},
		{"not made yet", using("w", "+a"), nil, nil, absent},
		{"the second is not there", using("w", "b", "a"), nil, claims(driver, "b"), absent},
		{"made for it", using("w", "+a"), nil, one(owned("a", "fast", "w"), fast, limits(driver, 1)), ok},
		{"made for it, and no room", using("w", "+a"), nil, one(owned("a", "fast", "w"), fast, limits(driver, 0)), exceeded},
		{"made for another", using("w", "+a"), nil, one(owned("a", "fast", "x"), fast), foreign},
		{"made for nobody", using("w", "+a"), nil, one(claim("a", "fast", ""), fast), foreign},
		{"made for another, and used as it is", using("w", "a"), nil, one(owned("a", "fast", "x"), fast), ok},
		{"without identity", nameless, nil, nil, "Error: volume claim had no name"},
		{"on the node, made for another", using("w", "b"), []*model.Workload{using("x", "+a")},
			objects(claims(driver, "b"), one(owned("a", "fast", "y"), fast, limits(driver, 9))), strings.Replace(foreign, "ns/w", "ns/x", 1)},
		{"on the node, made for another, where nothing is limited", using("w", "b"), []*model.Workload{using("x", "+a")},
			objects(claims(driver, "b"), one(owned("a", "fast", "y"), fast, limits(driver, -1))), ok},
		{"on the node, without identity", using("w", "b"), []*model.Workload{nameless},
			objects(claims(driver, "b"), one(limits("other", 9))), "Error: volume claim had no name"},
		{"on the node, not made yet", using("w", "b"), []*model.Workload{using("x", "+a")}, objects(claims(driver, "b"), one(limits(driver, 9))), ok},
	} {
		c.run(t)
	}
}

// TestNoStateWithoutPreFilter: after a Skip nothing is rejected.
func TestNoStateWithoutPreFilter(t *testing.T) {
	s := extpointstest.NewSituation(using("w"), extpointstest.NodeWith(&model.Node{Name: "n"}))
	if got := (&NodeVolumeLimits{}).Filter(s.State(), s.Workload, s.View.NodeInfos[0]); !got.IsSuccess() {
		t.Error(got)
	}
}

func BenchmarkFilter(b *testing.B) {
	for name, most := range map[string]int32{"room": 1000, "nearly full": 101, "full": 100} {
		b.Run(name, func(b *testing.B) {
			state, s := crowded(most)
			p := &NodeVolumeLimits{}
			b.ReportAllocs()
			for b.Loop() {
				p.Filter(state, s.Workload, s.View.NodeInfos[0])
			}
		})
	}
}

// crowded is a node with 100 workloads, each with a disk.
func crowded(most int32) (*extpoints.CycleState, *extpointstest.Situation) {
	var on []*model.Workload
	for i := range 100 {
		on = append(on, disks(fmt.Sprint("x", i), driver, "", fmt.Sprint("handle-", i)))
	}
	s := extpointstest.NewSituation(disks("w", driver, "", "h"), extpointstest.NodeWith(&model.Node{Name: "n"}, on...))
	s.View.Put(limits(driver, most), attachment("1", driver, "v"))
	state := s.State()
	(&NodeVolumeLimits{}).PreFilter(state, s.Workload)
	return state, s
}
