package snapshot

import (
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// View is the cluster at one moment, and the handle of the one who patches it.
// It implements [extpoints.View].
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
// trie node, the layout, a zone, a ghost, all that the index is made of) is
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

	images     pmap[imageCount] // by name as given
	imageEpoch uint32           // changes with images; starts at 1

	ghosts pmap[*ghost] // by name of a node that is not there
	lists  [listKinds]*nodeList

	// The index: the workloads on nodes by namespace and class, their affinity
	// terms, and what was asked for of the nodes' labels. topologies is nil
	// where nodes came, went or changed their labels since the last settling.
	spaces     table[*space]
	terms      [extpoints.TermKinds]*terms
	topologies *topologies

	nominated  pmap[[]*extpoints.WorkloadInfo] // by name of node
	namespaces pmap[*model.Namespace]
	groups     groups
	storage    storage
	devices    devices
	budgets    []*model.Budget // by ID
	budgetsTok *token
}

// token marks what a View may change. Its address is its identity, so it must
// have a size.
type token struct{ _ byte }

var _ extpoints.View = (*View)(nil)

// New makes an empty View.
func New() *View {
	return &View{layout: &layout{}, imageEpoch: 1, topologies: new(topologies), lists: [listKinds]*nodeList{new(nodeList), new(nodeList)}}
}

// Branch returns a View of the same content. From here on either can be patched
// without the other noticing. It costs the same however many nodes there are
// (besides settling). Of a frozen View, several goroutines may take branches at
// the same time.
func (v *View) Branch() *View {
	v.Settle()
	if v.tok != nil { // not even a write of the same value on a frozen View
		v.tok = nil
	}
	b := *v
	b.removed, b.touched = nil, nil // the memory is v's
	return &b
}

// Trial is a Branch on which workloads are put on nodes and taken away to see
// what comes of it. Counts of images stay on it what they were on v, as in the
// snapshot of kube-scheduler, which changes that in place meanwhile
// (backend/cache/snapshot.go AssumePod, 1.37.1).
func (v *View) Trial() *View {
	b := v.Branch()
	b.trial = true
	return b
}

// Fork is a Branch that leaves no trace: it does not settle v. When v settles
// shows in decisions, so it must not depend on who looks.
func (v *View) Fork() *View {
	if v.isSettled() {
		return v.Branch()
	}
	v.tok = nil
	b := *v
	b.removed, b.touched = slices.Clone(v.removed), slices.Clone(v.touched)
	// To settle is to change the image states of touched nodes in place. So b
	// takes copies, and v keeps those that nobody else has.
	for _, place := range b.touched {
		if b.info(int(place)) != nil {
			info := b.change(int(place))
			info.Images = maps.Clone(info.Images)
		}
	}
	b.Settle()
	return b.Branch() // frozen
}

func (v *View) isSettled() bool {
	return len(v.touched) == 0 && v.places == v.settled && v.gone == 0 && len(v.removed) == 0
}

// Settle brings the visiting order and the image counts up to date with the
// patches. It does nothing where there were none. Nodes, Index and Branch call
// it.
func (v *View) Settle() {
	if len(v.touched) > 0 {
		v.refreshImages()
	}
	if !v.isSettled() {
		v.reorder()
	}
	if v.topologies == nil {
		v.topologies = new(topologies)
	}
}

// Nodes are the nodes in visiting order, and what is on them. It settles v.
func (v *View) Nodes() extpoints.Nodes {
	v.Settle()
	return (*nodes)(v)
}

// Peek returns the node of the name as it is now, nil where there is none. It
// does not settle v: the image counts may be older than the node.
func (v *View) Peek(node string) *extpoints.NodeInfo {
	if place, ok := v.find(node); ok {
		return v.info(place)
	}
	return nil
}

// Nominated lists the workloads that wait for room on the node, in the order in
// which they were nominated.
func (v *View) Nominated(node string) []*extpoints.WorkloadInfo {
	list, _ := v.nominated.get(node)
	return list
}

// Namespace returns the namespace's object, nil where there is none.
func (v *View) Namespace(name string) *model.Namespace {
	ns, _ := v.namespaces.get(name)
	return ns
}

// Budgets lists all budgets, by ID.
func (v *View) Budgets() []*model.Budget { return v.budgets }

// own returns the token of v, for a patch that is about to happen.
func (v *View) own() *token {
	if v.tok == nil {
		v.tok = new(token)
	}
	return v.tok
}
