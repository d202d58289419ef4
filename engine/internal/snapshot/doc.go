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
//	     ── placeholders, images, nominated, namespaces, groups, budgets, holds
//	     ── spaces ──> namespace → classes of workloads → counts by slot
//	     ── terms  ──> affinity terms → counts by slot
//	     ── topologies, as far as somebody asked for them
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
//   - Of an order that is made anew the nodes before the first turn that may have come to
//     another (see turn) are not looked at, and their chunks stay. A node that comes to
//     zones of about one size is among the last; where one goes, all behind it move.
//   - A node goes to the end of its zone, a zone that is seen for the first time
//     to the end of the zones; a zone that has no node left is forgotten.
//   - The image counts of a node are those of the settling after its own last
//     change.
//
// # The index
//
// The simple specification is package extpointstest's: go through all workloads
// on all nodes whenever somebody asks. Here every workload that comes to a node
// or leaves it is counted, under its class and under each of its affinity terms.
// Both are kept in a catalog, which is a table (a hash trie like pmap, of things
// that carry their keys) of members with their counts, and a table of files, one
// for each label, that say which members have it. These hold:
//
//   - A workload is counted if, and only if, its node is there: workloads on
//     placeholders are not.
//   - A class or a term is there as long as its count is not 0, and so are its
//     files, its namespace, its kind.
//   - A workload is hashed when it comes and again when it leaves, by its
//     labels and terms as they are then. Nothing is remembered for each
//     workload, and nothing must have changed in between.
//
// One more of a class that is there copies, after a Branch, a path of one table
// and one block of counts. A new class copies a path for each of its labels too,
// and two for each that others have. With 5,000 nodes and 50,000 workloads a
// Place after a Branch takes 1.6 to 1.8 times as long as without an index; it is
// twice with an affinity term, and four times where every workload is a class of
// its own. In place, between two Branches, three labels are 300 ns.
//
// A class of many workloads takes 11 bytes for each node that it is on. A class
// of its own for every workload takes 350 bytes a workload where one label
// differs, and 95 more for each further label that nobody else has.
//
// # Roads not taken
//
// A flat slice of nodes is faster to read by one load, and copying it for every
// recorded decision costs more than the decision. Chunks in the order of
// arrival beside an index of the visiting order would need no shuffling when
// nodes come and go, and one more load for every node that is looked at, five
// thousand times a decision. A persistent vector with more levels would copy
// less at 20,000 nodes, and load once more.
//
// An index that is brought up to date when somebody asks would be free where
// nobody does. But with the usual plugins somebody does in every decision, and
// what is asked is a frozen view.
//
// Classes whose files list their present versions would spare readers a look-up
// for each, and cost one more copied path for every label with every workload
// that comes or goes.
package snapshot
