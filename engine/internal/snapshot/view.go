package snapshot

import (
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// View is the cluster at one moment, and the handle of the one who patches it.
// It implements [extpoints.ClusterView].
//
// # Contract
//
// A View belongs to one goroutine. A View that was made by [View.Branch] and
// not patched since is frozen: any number of goroutines may read it and branch
// it, for as long as they like, whatever happens to the View it came from and
// to the branches it has. To hand a patched View to several readers, hand them
// a branch, or call [View.Settle] and patch it no more while they read.
//
// What a View returns holds until its next patch. The nodes and lists that it
// has returned before a Branch hold for ever. An [extpoints.Nodes] is the View
// itself under another name, and holds for as long as the View is frozen.
//
// Everything that is put into a View is frozen from then on.
//
// # Why sharing is safe
//
// Each thing that can be shared (the slice of chunks, a chunk, a NodeInfo, a
// trie node, the layout, a zone, a placeholder, all that the index is made of) is
// marked with the token of the View that made it, and these hold:
//
//  1. A token is held by one View at most: it is made at the first patch after
//     a Branch, and Branch drops it on both sides. Tokens are compared by
//     address, and a thing that carries a token keeps it alive, so no address
//     comes up again.
//  2. A View changes only things that carry its token; others it copies, and
//     puts its token on the copy.
//  3. A thing that carries a View's token is reachable from that View only. It
//     was so when the thing was made, and what makes things reachable from
//     another View is Branch (and Fork) alone, which drops the token.
//
// So what is reachable from two Views never changes. A NodeInfo has no room
// for a token; its mark is the bit in the owned mask of its chunk, which is
// cleared when the chunk is copied.
//
// The exceptions are [nodeList] and [topologies], which readers fill, atomically,
// with the same content whoever does it.
type View struct {
	tok *token // nil: frozen, or not patched since the last Branch

	// chunks hold the nodes by place. Once settled, a place is the index in
	// visiting order. Between settlings new nodes are behind the others, and
	// removed ones leave a nil.
	chunks    []*chunk
	chunksTok *token
	places    int // places in use, the nils included
	settled   int // places that were there at the last settling
	live      int // nodes
	added     int // nodes at places from settled on
	gone      int // nils at places before settled

	slots   pmap[int32] // by name of node, which has a slot until it is settled that it is gone
	layout  *layout
	removed []string // nodes removed since the last settling
	touched []int32  // places of nodes with images changed since the last settling
	trial   bool     // image states stay as they are

	images       images
	placeholders placeholders
	lists        [listKinds]*nodeList

	// The index: the workloads on nodes by namespace and class, their affinity
	// terms, and what was asked for of the nodes' labels. topologies is nil
	// where nodes came, went or changed their labels since the last settling; former are then
	// those from before.
	spaces     spaces
	terms      termsOfKinds
	topologies *topologies
	former     []former

	nominated  pmap[[]*extpoints.WorkloadInfo] // by name of node
	namespaces pmap[*model.Namespace]
	groups     groups
	storage    storage
	devices    devices
	budgets    []*model.Budget // by ID
	budgetsTok *token
	holds      list[*model.Hold]         // by name
	loads      pmap[*model.NodeLoad]     // by name of node
	zones      pmap[*model.NodeTopology] // the same
	apps       pmap[*model.AppGraph]
	costs      pmap[*model.NetworkCosts]
	failed     FailedStarts
}

var _ extpoints.ClusterView = (*View)(nil)

// New makes an empty View.
func New() *View {
	return &View{layout: &layout{}, images: images{epoch: 1}, topologies: new(topologies), lists: [listKinds]*nodeList{new(nodeList), new(nodeList)}}
}

// NewFor makes an empty View whose nodes are those of the scheduler that is named.
func NewFor(compat extpoints.Compat) *View {
	v := New()
	v.placeholders.firstFreesPort = compat == extpoints.KubeScheduler137
	return v
}

// FailedStarts are those of nodes that could not start workloads lately.
func (v *View) FailedStarts() FailedStarts { return v.failed }

// SetFailedStarts makes them those that the view has.
func (v *View) SetFailedStarts(f FailedStarts) { v.failed = f }

// Nominated lists the workloads that wait for room on the node, in the order in
// which they were nominated.
func (v *View) Nominated(node string) []*extpoints.WorkloadInfo {
	list, _ := v.nominated.get(node)
	return list
}

// Groups are the groups and their members.
func (v *View) Groups() extpoints.Groups { return &v.groups }

// Storage are the volumes and the claims to them.
func (v *View) Storage() extpoints.Storage { return &v.storage }

// Devices are the device slices and the claims to them.
func (v *View) Devices() extpoints.Devices { return &v.devices }

// Namespace returns the namespace's object, nil where there is none.
func (v *View) Namespace(name string) *model.Namespace {
	ns, _ := v.namespaces.get(name)
	return ns
}

// Budgets lists all budgets, by ID.
func (v *View) Budgets() []*model.Budget { return v.budgets }

// Zones is how many zones nodes are in; one more where some are in none.
func (v *View) Zones() int { return len(v.layout.zones) }

// NodeLoad returns what was last measured on the node, nil where nothing was.
func (v *View) NodeLoad(node string) *model.NodeLoad {
	l, _ := v.loads.get(node)
	return l
}

// NodeTopology returns what was last reported of the node's zones, nil where nothing was.
func (v *View) NodeTopology(node string) *model.NodeTopology {
	t, _ := v.zones.get(node)
	return t
}

// AppGraph returns the application graph, nil where there is none.
func (v *View) AppGraph(id string) *model.AppGraph {
	g, _ := v.apps.get(id)
	return g
}

// NetworkCosts returns the costs of the network, nil where there are none of the name.
func (v *View) NetworkCosts(name string) *model.NetworkCosts {
	n, _ := v.costs.get(name)
	return n
}

// Holds lists all holds, by name.
func (v *View) Holds() []*model.Hold { return v.holds.items }

// own returns the token of v, for a patch that is about to happen.
func (v *View) own() *token {
	if v.tok == nil {
		v.tok = new(token)
	}
	return v.tok
}
