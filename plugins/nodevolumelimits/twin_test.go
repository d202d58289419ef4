package nodevolumelimits

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// twin is the specification of the counting: it makes the set of all volumes on
// the node, by driver and handle, and counts.
func twin(s *extpointstest.Situation, node *extpoints.NodeInfo) string {
	storage := s.View.Storage()
	on := storage.NodeStorage(node.Node.Name)
	set := func(w *model.Workload, volumes map[string]string) string {
		for _, ref := range w.VolumeClaims {
			c := storage.Claim(ref.ID)
			if c == nil {
				continue
			}
			if ref.Generated && c.Owner != w.ID {
				return "foreign claim"
			}
			handle, driver, builtIn := "no volume: "+c.ID, "", false
			if v := storage.Volume(c.Volume); c.Volume != "" && v != nil {
				handle, driver, builtIn = v.Handle, v.Driver, v.Plugin != ""
			} else if class := storage.Class(c.Class); class != nil {
				if driver = class.Provisioner; class.Driver != "" {
					driver, builtIn = class.Driver, true
				}
			}
			if driver != "" && (on != nil || !builtIn) {
				volumes[driver+"/"+handle] = driver
			}
		}
		for _, d := range w.Disks {
			if d.Driver != "" && (on != nil || d.Plugin == "") {
				volumes[d.Driver+"/"+d.Handle] = d.Driver
			}
		}
		return ""
	}
	wanted, used := map[string]string{}, map[string]string{}
	for _, ref := range s.Workload.VolumeClaims {
		if storage.Claim(ref.ID) == nil {
			return "absent claim"
		}
	}
	if problem := set(s.Workload.Workload, wanted); problem != "" || len(wanted) == 0 || on == nil {
		return problem
	}
	most := map[string]int{}
	for _, d := range on.Drivers {
		if d.MaxVolumes != nil {
			most[d.Name] = int(*d.MaxVolumes)
		}
	}
	if len(most) == 0 {
		return ""
	}
	for _, w := range node.Workloads {
		if problem := set(w.Workload, used); problem != "" {
			return problem
		}
	}
	all := maps.Clone(used)
	for _, a := range storage.Attachments(node.Node.Name) {
		if v := storage.Volume(a.Volume); v != nil && v.Driver != "" && v.Plugin == "" {
			all[a.Driver+"/"+v.Handle] = a.Driver
		}
	}
	counts := map[string]int{}
	for _, driver := range all {
		counts[driver]++
	}
	full := false
	for driver, limit := range most {
		added := 0
		for key, of := range wanted {
			if _, there := used[key]; !there && of == driver {
				added++
			}
		}
		full = full || added > 0 && counts[driver]+added > limit
	}
	if full {
		return Reason
	}
	return ""
}

var names = []string{"a", "b", "c", "d", "e", "f"}

func pick[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

// world says what random situations are made of.
type world struct {
	foreign bool // claims may be somebody else's
}

func (wo world) object(r *rand.Rand, name string) model.Object {
	drivers := []string{"d", "e"}
	switch r.IntN(6) {
	case 0:
		return &model.StorageClass{Name: name, Provisioner: pick(r, drivers...), Driver: pick(r, "", "", drivers[0])}
	case 1:
		return &model.Volume{Name: name, Driver: pick(r, drivers...), Handle: pick(r, names...), Plugin: pick(r, "", "", "old")}
	case 2:
		return &model.Volume{Name: name}
	case 3:
		return &model.VolumeAttachment{ID: name, Driver: pick(r, drivers...), Node: fmt.Sprint("n", r.IntN(3)), Volume: pick(r, names...)}
	}
	return &model.VolumeClaim{ID: name, Class: pick(r, "", name, name), Volume: pick(r, "", pick(r, names...))}
}

// use makes the workload use volumes. A claim that is made for it is its own,
// unless somebody else has it already.
func (wo world) use(r *rand.Rand, view *extpointstest.View, w *model.Workload) {
	w.VolumeClaims, w.Disks = nil, nil
	for _, i := range r.Perm(len(names))[:r.IntN(3)] {
		w.VolumeClaims = append(w.VolumeClaims, model.VolumeClaimRef{ID: names[i]})
	}
	if r.IntN(4) == 0 {
		w.Disks = append(w.Disks, model.Disk{Driver: pick(r, "d", "e"), Handle: pick(r, names...), Plugin: pick(r, "", "old")})
	}
	if r.IntN(4) == 0 {
		ref := model.VolumeClaimRef{ID: "of-" + w.ID, Generated: true}
		owner := w.ID
		if wo.foreign && r.IntN(3) == 0 {
			owner = "nobody"
		}
		view.Put(&model.VolumeClaim{ID: ref.ID, Class: pick(r, names...), Owner: owner})
		w.VolumeClaims = append(w.VolumeClaims, ref)
	}
}

func randomNodeStorage(r *rand.Rand, node string) *model.NodeStorage {
	s := &model.NodeStorage{Node: node}
	for _, name := range []string{"d", "e"} {
		d := model.NodeDriver{Name: name}
		if r.IntN(3) > 0 {
			d.MaxVolumes = new(r.Int32N(7))
		}
		if r.IntN(5) > 0 {
			s.Drivers = append(s.Drivers, d)
		}
	}
	return s
}

func (wo world) situation(r *rand.Rand) *extpointstest.Situation {
	s := extpointstest.RandomSituation(r)
	for _, name := range slices.Concat(names, names, names) {
		s.View.Put(wo.object(r, name))
	}
	wo.use(r, s.View, s.Workload.Workload)
	for i, n := range s.View.NodeInfos {
		if r.IntN(6) > 0 {
			s.View.Put(randomNodeStorage(r, fmt.Sprint("n", i)))
		}
		for _, w := range n.Workloads {
			wo.use(r, s.View, w.Workload)
		}
	}
	return s
}

// TestCountsLikeItsTwin compares with the specification in random situations.
func TestCountsLikeItsTwin(t *testing.T) {
	seed := modeltest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 0))
	p, seen := &NodeVolumeLimits{}, map[string]int{}
	for range 3000 {
		s := world{foreign: true}.situation(r)
		state := s.State()
		_, status := p.PreFilter(state, s.Workload)
		for _, n := range s.View.NodeInfos {
			want := twin(s, n)
			seen[want]++
			got := status
			if got.IsSuccess() {
				got = p.Filter(state, s.Workload, n)
			}
			if same(got, want) {
				continue
			}
			t.Fatalf("BERTH_SEED=%d: node %s: %v, want %q\n%v\n%+v", seed, n.Node.Name, got, want, s, s.View.Objects)
		}
	}
	if len(seen) != 4 {
		t.Errorf("not all answers were seen: %v", seen)
	}
}

func same(got *extpoints.Status, want string) bool {
	switch want {
	case "absent claim":
		return got.Code() == extpoints.UnschedulableAndUnresolvable
	case "foreign claim":
		// Which of a claim that is not there and one that is somebody else's
		// comes first is for the table.
		return got.Code() == extpoints.Error
	case Reason:
		return got.Code() == extpoints.Unschedulable && got.Message() == Reason
	}
	return got.IsSuccess() || got.Code() == extpoints.Skip
}
