// Package snapshot is the node view: the cluster as the scheduling cycle reads
// it, in a form that is cheap to patch and free to branch.
//
// The simple specification is a list of nodes in visiting order, each with the
// sums over its workloads, beside a few maps, all copied whenever somebody
// wants to keep the state of a moment. A [View] behaves like that and copies
// only what changes:
//
//	View ── chunks ──> chunk ──> NodeInfo      64 nodes a chunk, in visiting order
//	     ── slots  ──> name → slot             hash trie (pmap)
//	     ── layout ──> slot → place, zones     what the visiting order is made from
//	     ── ghosts, images, nominated, namespaces, groups, budgets
//
// [View.Branch] copies the top struct and takes from both sides the right to
// change anything they share. The first change of a node after that copies the
// slice of chunks, one chunk and one NodeInfo; every further change of the same
// node, until the next Branch, changes that NodeInfo in place. The comment of
// View has the argument why this is safe.
//
// # Settling
//
// Some things are brought up to date not with every patch but when the next
// reader comes: the visiting order and the image counts. That is what
// kube-scheduler does (pkg/scheduler/backend/cache, 1.37.1: the cache is
// patched by events, the snapshot taken at the start of a cycle), it shows in
// decisions, and it makes 20,000 additions in a row cost one sort. The moments
// are [View.Nodes], [View.Branch] and [View.Settle]; [View.Fork] is none. What kube-scheduler does
// at them is done here, oddities included:
//
//   - The order is made anew if, and only if, the set of names differs from the
//     one at the last settling. So a node that changes its zone keeps its place
//     until some node comes or goes, and one that was removed and came back
//     between two settlings keeps it too.
//   - A node goes to the end of its zone, a zone that is seen for the first time
//     to the end of the zones; a zone that has no node left is forgotten.
//   - The image counts of a node are those of the settling after its own last
//     change.
//
// # Roads not taken
//
// A flat slice of nodes is faster to read by one load, and copying it for every
// recorded decision costs more than the decision. Chunks in the order of
// arrival beside an index of the visiting order would need no shuffling when
// nodes come and go, and one more load for every node that is looked at, five
// thousand times a decision. A persistent vector with more levels would copy
// less at 20,000 nodes, and load once more.
package snapshot
