package snapshot

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// flat is the dumb twin of View: it copies everything for a branch and adds
// everything up again for every question.
type flat struct {
	nodes     map[string]*model.Node
	zones     []flatZone
	order     []string // as it was made last
	on        map[string][]*extpoints.WorkloadInfo
	affine    map[string][]*extpoints.WorkloadInfo
	anti      map[string][]*extpoints.WorkloadInfo
	ports     map[string]map[model.HostPort]int
	images    map[string]flatImage
	states    map[string]map[string]extpoints.ImageState // by node, as of its last touch
	touched   map[string]bool
	nominated map[string][]*extpoints.WorkloadInfo
	spaces    map[string]*model.Namespace
	groups    map[string]*model.Group
	budgets   map[string]*model.Budget
	slots     map[string]int32 // by name of node, as first seen since it is there
	objects   map[model.ObjectRef]model.Object
	members   map[string]flatMember // of groups, by ID
}

type flatZone struct {
	name  string
	nodes []string
}

type flatImage struct {
	size  int64
	nodes map[string]bool
}

func newFlat() *flat {
	return &flat{
		nodes: map[string]*model.Node{}, on: map[string][]*extpoints.WorkloadInfo{},
		affine: map[string][]*extpoints.WorkloadInfo{}, anti: map[string][]*extpoints.WorkloadInfo{},
		ports: map[string]map[model.HostPort]int{}, images: map[string]flatImage{},
		states: map[string]map[string]extpoints.ImageState{}, touched: map[string]bool{},
		nominated: map[string][]*extpoints.WorkloadInfo{}, spaces: map[string]*model.Namespace{},
		groups: map[string]*model.Group{}, budgets: map[string]*model.Budget{}, slots: map[string]int32{},
		objects: map[model.ObjectRef]model.Object{}, members: map[string]flatMember{},
	}
}

func (f *flat) branch() *flat {
	f.settle()
	return f.copy()
}

// fork is branch without a trace on f.
func (f *flat) fork() *flat {
	b := f.copy()
	b.settle()
	return b
}

func (f *flat) copy() *flat {
	b := newFlat()
	maps.Copy(b.nodes, f.nodes)
	for _, z := range f.zones {
		b.zones = append(b.zones, flatZone{z.name, slices.Clone(z.nodes)})
	}
	b.order = slices.Clone(f.order)
	copyLists(b.on, f.on)
	copyLists(b.affine, f.affine)
	copyLists(b.anti, f.anti)
	copyLists(b.nominated, f.nominated)
	for node, set := range f.ports {
		b.ports[node] = maps.Clone(set)
	}
	for name, image := range f.images {
		b.images[name] = flatImage{image.size, maps.Clone(image.nodes)}
	}
	for node, states := range f.states {
		b.states[node] = maps.Clone(states)
	}
	maps.Copy(b.touched, f.touched)
	maps.Copy(b.spaces, f.spaces)
	maps.Copy(b.groups, f.groups)
	maps.Copy(b.budgets, f.budgets)
	maps.Copy(b.slots, f.slots)
	maps.Copy(b.objects, f.objects)
	maps.Copy(b.members, f.members)
	return b
}

func copyLists(to, from map[string][]*extpoints.WorkloadInfo) {
	for node, list := range from {
		to[node] = slices.Clone(list)
	}
}

func (f *flat) settle() {
	names := slices.Sorted(maps.Keys(f.nodes))
	if !slices.Equal(names, slices.Sorted(slices.Values(f.order))) {
		f.order = nil
		for i := 0; len(f.order) < len(f.nodes); i++ {
			for _, z := range f.zones {
				if i < len(z.nodes) {
					f.order = append(f.order, z.nodes[i])
				}
			}
		}
	}
	for name := range f.touched {
		f.states[name] = map[string]extpoints.ImageState{}
		if node := f.nodes[name]; node != nil {
			for _, image := range node.Images {
				for _, n := range image.Names {
					f.states[name][n] = extpoints.ImageState{Size: f.images[n].size, NumNodes: len(f.images[n].nodes)}
				}
			}
		}
	}
	clear(f.touched)
	maps.DeleteFunc(f.slots, func(name string, _ int32) bool { return f.nodes[name] == nil })
}

func (f *flat) putNode(n *model.Node) {
	old := f.nodes[n.Name]
	f.dropImages(old)
	switch {
	case old == nil:
		f.join(n)
	case old.Zone != n.Zone:
		f.leave(old)
		f.join(n)
	}
	for _, image := range n.Images {
		for _, name := range image.Names {
			if _, ok := f.images[name]; !ok {
				f.images[name] = flatImage{image.Size, map[string]bool{}}
			}
			f.images[name].nodes[n.Name] = true
		}
	}
	f.nodes[n.Name] = n
	f.touched[n.Name] = true
}

func (f *flat) dropImages(n *model.Node) {
	if n == nil {
		return
	}
	for _, image := range n.Images {
		for _, name := range image.Names {
			if known, ok := f.images[name]; ok {
				delete(known.nodes, n.Name)
				if len(known.nodes) == 0 {
					delete(f.images, name)
				}
			}
		}
	}
}

func (f *flat) join(n *model.Node) {
	i := slices.IndexFunc(f.zones, func(z flatZone) bool { return z.name == n.Zone })
	if i < 0 {
		i = len(f.zones)
		f.zones = append(f.zones, flatZone{name: n.Zone})
	}
	f.zones[i].nodes = append(f.zones[i].nodes, n.Name)
}

func (f *flat) leave(n *model.Node) {
	i := slices.IndexFunc(f.zones, func(z flatZone) bool { return z.name == n.Zone })
	z := &f.zones[i]
	z.nodes = slices.DeleteFunc(z.nodes, func(name string) bool { return name == n.Name })
	if len(z.nodes) == 0 {
		f.zones = slices.Delete(f.zones, i, i+1)
	}
}

func (f *flat) removeNode(name string) {
	n := f.nodes[name]
	if n == nil {
		return
	}
	f.dropImages(n)
	f.leave(n)
	delete(f.nodes, name)
	f.bury(name)
	f.touched[name] = true
}

// bury forgets a node that is not there and has no workloads.
func (f *flat) bury(name string) {
	if f.nodes[name] == nil && len(f.on[name]) == 0 {
		delete(f.on, name)
		delete(f.ports, name)
	}
}

func (f *flat) place(w *extpoints.WorkloadInfo, node string) {
	f.on[node] = append(f.on[node], w)
	if w.Affinity != nil || w.AntiAffinity != nil {
		f.affine[node] = append(f.affine[node], w)
	}
	if w.AntiAffinity != nil && len(w.AntiAffinity.Required) > 0 {
		f.anti[node] = append(f.anti[node], w)
	}
	if f.ports[node] == nil {
		f.ports[node] = map[model.HostPort]int{}
	}
	for _, p := range w.Ports {
		f.ports[node][flatPort(p)]++
	}
	f.touched[node] = true
}

func (f *flat) unplace(id, node string) {
	list := f.on[node]
	i := slices.IndexFunc(list, func(w *extpoints.WorkloadInfo) bool { return w.ID == id })
	if i < 0 {
		return
	}
	for _, p := range list[i].Ports {
		if f.ports[node][flatPort(p)]--; f.ports[node][flatPort(p)] == 0 {
			delete(f.ports[node], flatPort(p))
		}
	}
	swapOut(f.on, id, node)
	swapOut(f.affine, id, node)
	swapOut(f.anti, id, node)
	f.bury(node)
	f.touched[node] = true
}

// swapOut moves the last of the list into the place of the one with the ID.
func swapOut(lists map[string][]*extpoints.WorkloadInfo, id, node string) {
	list := lists[node]
	if i := slices.IndexFunc(list, func(w *extpoints.WorkloadInfo) bool { return w.ID == id }); i >= 0 {
		list[i] = list[len(list)-1]
		lists[node] = list[:len(list)-1]
	}
}

func flatPort(p model.HostPort) model.HostPort {
	if p.IP == "" {
		p.IP = "0.0.0.0"
	}
	if p.Protocol == "" {
		p.Protocol = "TCP"
	}
	return p
}

func (f *flat) nominate(w *extpoints.WorkloadInfo, node string) {
	f.unnominate(w.ID, node)
	f.nominated[node] = append(f.nominated[node], w)
}

func (f *flat) unnominate(id, node string) {
	f.nominated[node] = slices.DeleteFunc(f.nominated[node], func(w *extpoints.WorkloadInfo) bool { return w.ID == id })
}
