package snapshot

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "seed of the random tests; 0: the usual one")
	stepsFlag = flag.Int("steps", 1000, "steps of the random tests")
)

// random makes random patches and does them to a View and its twin.
type random struct {
	*rand.Rand
	names   int // how many names of nodes there are
	objects int // how many of a hundred patches are to objects and groups
	counter int
}

// handle is a View and what it should be.
type handle struct {
	view *View
	flat *flat
}

func (h handle) branch() handle { return handle{h.view.Branch(), h.flat.branch()} }

func newSeed(t testing.TB) uint64 {
	s := *seedFlag
	if s == 0 {
		s = modeltest.Seed(t)
	}
	t.Logf("to see this again: -seed=%d -steps=%d", s, *stepsFlag)
	return s
}

func TestAgainstFlat(t *testing.T) {
	first := newSeed(t)
	for i, names := range []int{4, 20, 150, 400} {
		t.Run(fmt.Sprint(names), func(t *testing.T) {
			r := &random{Rand: rand.New(rand.NewPCG(first, uint64(i))), names: names, objects: 10}
			r.walk(t, *stepsFlag)
		})
	}
}

// walk patches several Views that branch off each other in random order.
func (r *random) walk(t *testing.T, steps int) {
	handles := []handle{{New(), newFlat()}}
	type frozen struct {
		handle
		dump string
	}
	var kept []frozen
	for range steps {
		i := r.IntN(len(handles))
		h := handles[i]
		patches := 1 + r.IntN(4)
		if r.IntN(10) == 0 {
			patches = r.IntN(r.names)
		}
		for range patches {
			r.patch(h)
		}
		r.comparePeek(t, h)
		switch r.IntN(8) {
		case 0: // a branch that goes its own way
			if len(handles) < 6 {
				handles = append(handles, h.branch())
			} else {
				handles[r.IntN(len(handles))] = h.branch()
			}
		case 1: // a branch that stays as it is
			b := h.branch()
			kept = append(kept, frozen{b, dump(b.view)})
		case 2: // the branch goes on, the original stays
			handles[i] = h.branch()
			kept = append(kept, frozen{h, dump(h.view)})
		case 3: // a branch of something frozen
			if len(kept) > 0 {
				handles[i] = kept[r.IntN(len(kept))].branch()
			}
		case 4: // not settled in this step
			continue
		case 5: // nor in this, but there is a fork, which stays as it is
			f := handle{h.view.Fork(), h.flat.fork()}
			r.compare(t, f)
			kept = append(kept, frozen{f, dump(f.view)})
			r.comparePeek(t, h)
			continue
		case 6: // a fork that goes its own way
			handles[r.IntN(len(handles))] = handle{h.view.Fork(), h.flat.fork()}
			continue
		}
		r.compare(t, handles[i])
		if len(kept) > 30 {
			for _, k := range kept[:20] {
				require.True(t, k.dump == dump(k.view), "a frozen view changed")
			}
			kept = slices.Delete(kept, 0, 20)
		}
	}
	for _, h := range handles {
		r.compare(t, h)
	}
	for _, k := range kept {
		require.True(t, k.dump == dump(k.view), "a frozen view changed")
		r.compare(t, k.handle)
	}
}

func (r *random) node() string { return fmt.Sprintf("node-%d", r.IntN(r.names)) }

// patch does one random patch to both.
func (r *random) patch(h handle) {
	name := r.node()
	switch op := r.IntN(100); {
	case op >= r.objects:
	case op%4 == 0:
		r.patchMember(h)
		return
	case op%4 == 1:
		r.patchGroup(h)
		return
	default:
		r.patchModelObject(h)
		return
	}
	switch op := r.IntN(100); {
	case op < 20:
		n := r.newNode(name)
		if old := h.flat.nodes[name]; old != nil && r.IntN(2) == 0 { // the same images, another size
			n.Images = slices.Clone(old.Images)
			for i := range n.Images {
				n.Images[i].Size = int64(r.IntN(3))
			}
		}
		h.view.PutNode(n)
		h.flat.putNode(n)
	case op < 28:
		h.view.RemoveNode(name)
		h.flat.removeNode(name)
	case op < 32: // there and back again
		h.view.RemoveNode(name)
		h.flat.removeNode(name)
		n := r.newNode(name)
		h.view.PutNode(n)
		h.flat.putNode(n)
		if r.IntN(3) == 0 { // and away again
			h.view.RemoveNode(name)
			h.flat.removeNode(name)
		}
	case op < 60:
		w := r.newWorkload(fmt.Sprintf("w%d", r.counter))
		r.counter++
		h.view.Place(w, name)
		h.flat.place(w, name)
	case op < 75:
		id := r.someone(h.flat.on[name])
		h.view.Unplace(id, name)
		h.flat.unplace(id, name)
	case op < 80:
		id := r.someone(h.flat.on[name])
		w := r.newWorkload(id)
		if old := workloadOf(h.flat.on[name], id); old != nil && r.IntN(3) > 0 { // in another state
			changed := *old
			changed.Terminating, changed.Displaced = r.IntN(2) == 0, true
			w = &changed
		}
		h.view.Replace(w, name)
		h.flat.unplace(w.ID, name)
		h.flat.place(w, name)
	default:
		r.patchObjects(h, name)
	}
}

func (r *random) patchObjects(h handle, name string) {
	id := fmt.Sprint("x", r.IntN(12))
	switch r.IntN(8) {
	case 0:
		w := r.newWorkload(id)
		h.view.Nominate(w, name)
		h.flat.nominate(w, name)
	case 1:
		h.view.Unnominate(id, name)
		h.flat.unnominate(id, name)
	case 2:
		ns := &model.Namespace{Name: id}
		h.view.PutNamespace(ns)
		h.flat.spaces[id] = ns
	case 3:
		h.view.RemoveNamespace(id)
		delete(h.flat.spaces, id)
	case 4, 5:
		r.patchGroup(h)
	case 6:
		b := &model.Budget{ID: id}
		h.view.PutBudget(b)
		h.flat.budgets[id] = b
	case 7:
		h.view.RemoveBudget(id)
		delete(h.flat.budgets, id)
	}
}

func (r *random) someone(list []*extpoints.WorkloadInfo) string {
	if len(list) == 0 || r.IntN(10) == 0 {
		return "nobody"
	}
	return list[r.IntN(len(list))].ID
}

func workloadOf(list []*extpoints.WorkloadInfo, id string) *extpoints.WorkloadInfo {
	for _, w := range list {
		if w.ID == id {
			return w
		}
	}
	return nil
}

func (r *random) newNode(name string) *model.Node {
	n := &model.Node{Name: name, Zone: fmt.Sprint("zone-", r.IntN(4))}
	if r.names > 100 && r.IntN(20) > 0 { // mostly the same zone, else the order is always stale
		n.Zone = "zone-" + name[len(name)-1:]
	}
	for range r.IntN(3) {
		image := model.NodeImage{Size: int64(r.IntN(3))}
		for range 1 + r.IntN(2) {
			image.Names = append(image.Names, fmt.Sprint("image-", r.IntN(8)))
		}
		n.Images = append(n.Images, image)
	}
	n.Devices = make([]model.Device, r.IntN(3))
	n.Labels = r.nodeLabels(name)
	return n
}

func (r *random) newWorkload(id string) *extpoints.WorkloadInfo {
	w := &model.Workload{ID: id, Requests: model.Resources{CPU: int64(r.IntN(3)), Memory: int64(r.IntN(3))}}
	for range r.IntN(3) {
		w.Requests.Set(fmt.Sprint("scalar-", r.IntN(3)), int64(r.IntN(3)))
	}
	if r.IntN(4) == 0 {
		w.Ports = []model.HostPort{{Port: int32(1 + r.IntN(3))}, {Port: 5, IP: fmt.Sprint("10.0.0.", r.IntN(2))}}
	}
	if r.IntN(6) == 0 {
		w.Affinity = &model.WorkloadAffinity{}
	}
	if r.IntN(6) == 0 {
		w.AntiAffinity = &model.WorkloadAffinity{Required: make([]model.AffinityTerm, r.IntN(2))}
	}
	for range r.IntN(3) {
		w.VolumeClaims = append(w.VolumeClaims, model.VolumeClaimRef{ID: pick(r, objectIDs)})
	}
	r.addCompany(w)
	info := &extpoints.WorkloadInfo{Workload: w, Terminating: r.IntN(8) == 0}
	if r.IntN(3) == 0 {
		info.Shares = []model.DeviceShare{{Device: r.IntN(3), Share: int64(r.IntN(1000))}}
	}
	return info
}

func (r *random) comparePeek(t *testing.T, h handle) {
	name := r.node()
	info := h.view.Peek(name)
	require.Equal(t, h.flat.nodes[name] != nil, info != nil, name)
	if info != nil {
		require.Same(t, h.flat.nodes[name], info.Node)
		require.Equal(t, ids(h.flat.on[name]), ids(info.Workloads))
	}
}

// compare settles both and compares everything that can be seen.
func (r *random) compare(t *testing.T, h handle) {
	t.Helper()
	f := h.flat
	f.settle()
	ns := h.view.Nodes()
	require.Equal(t, len(f.order), ns.Len())
	var affine, anti []*extpoints.NodeInfo
	for i, name := range f.order {
		info := ns.At(i)
		require.True(t, name == info.Node.Name, "at %d: %s, want %s", i, info.Node.Name, name)
		require.True(t, info == ns.Get(name), name)
		compareNode(t, f, info)
		if len(info.WithAffinity) > 0 {
			affine = append(affine, info)
		}
		if len(info.WithRequiredAntiAffinity) > 0 {
			anti = append(anti, info)
		}
	}
	require.True(t, slices.Equal(affine, ns.WithAffinity()))
	require.True(t, slices.Equal(anti, ns.WithRequiredAntiAffinity()))
	for i := range r.names {
		name := fmt.Sprintf("node-%d", i)
		require.True(t, (f.nodes[name] == nil) == (ns.Get(name) == nil), name)
		require.True(t, slices.Equal(f.nominated[name], h.view.Nominated(name)), name)
	}
	for i := range 12 {
		id := fmt.Sprint("x", i)
		require.True(t, f.spaces[id] == h.view.Namespace(id))
		require.True(t, f.groups[id] == h.view.Groups().Get(id))
	}
	var budgets []*model.Budget
	for _, id := range slices.Sorted(maps.Keys(f.budgets)) {
		budgets = append(budgets, f.budgets[id])
	}
	require.True(t, slices.Equal(budgets, h.view.Budgets()))
	r.compareObjects(t, h)
	r.compareIndex(t, h)
}

func compareNode(t *testing.T, f *flat, info *extpoints.NodeInfo) {
	t.Helper()
	name := info.Node.Name
	require.True(t, f.nodes[name] == info.Node)
	require.True(t, slices.Equal(f.on[name], info.Workloads), "workloads of %s", name)
	require.True(t, slices.Equal(f.affine[name], info.WithAffinity), "with affinity on %s", name)
	require.True(t, slices.Equal(f.anti[name], info.WithRequiredAntiAffinity), "with anti-affinity on %s", name)
	var sum model.Resources
	var cpu, memory int64
	free := slices.Repeat([]int64{1000}, len(info.Node.Devices))
	for _, w := range f.on[name] {
		sum.Add(&w.Requests)
		cpu += max(w.Requests.CPU, model.DefaultCPUEstimate*b2i(w.Requests.CPU == 0))
		memory += max(w.Requests.Memory, model.DefaultMemoryEstimate*b2i(w.Requests.Memory == 0))
		for _, d := range w.Shares {
			if d.Device < len(free) {
				free[d.Device] -= d.Share
			}
		}
	}
	for _, resource := range []string{model.CPU, model.Memory, "scalar-0", "scalar-1", "scalar-2"} {
		require.True(t, sum.Get(resource) == info.Requested.Get(resource), "%s of %s", resource, name)
	}
	require.True(t, cpu == info.EstimatedCPU && memory == info.EstimatedMemory, "load of %s", name)
	require.True(t, slices.Equal(free, info.DeviceFree), "devices of %s", name)
	held := map[model.HostPort]int{}
	for _, p := range info.Ports {
		held[p]++
	}
	require.True(t, maps.Equal(held, f.ports[name]) || len(held)+len(f.ports[name]) == 0, "ports of %s: %v, want %v", name, held, f.ports[name])
	require.True(t, maps.Equal(f.states[name], info.Images), "images of %s: %v, want %v", name, info.Images, f.states[name])
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func ids(list []*extpoints.WorkloadInfo) []string {
	names := []string{}
	for _, w := range list {
		names = append(names, w.ID)
	}
	return names
}

// dump writes down all that a View is, down to the identity of its nodes.
func dump(v *View) string {
	var out strings.Builder
	ns := v.Nodes()
	for i := range ns.Len() {
		info := ns.At(i)
		flatInfo := *info
		flatInfo.Node, flatInfo.Workloads, flatInfo.WithAffinity, flatInfo.WithRequiredAntiAffinity = nil, nil, nil, nil
		fmt.Fprintf(&out, "%p %p %v %v %v %+v\n", info, info.Node, ids(info.Workloads),
			ids(info.WithAffinity), ids(info.WithRequiredAntiAffinity), flatInfo)
		fmt.Fprintf(&out, "%v\n", ids(v.Nominated(info.Node.Name)))
	}
	fmt.Fprintf(&out, "%v\n%v\n%v\n", ns.WithAffinity(), ns.WithRequiredAntiAffinity(), v.Budgets())
	for i := range 12 {
		id := fmt.Sprint("x", i)
		fmt.Fprintf(&out, "%p %p\n", v.Namespace(id), v.Groups().Get(id))
	}
	dumpObjects(&out, v)
	dumpIndex(&out, v)
	return out.String()
}
