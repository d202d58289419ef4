// Package fast answers what decisions ask of nodes from what it remembers: which nodes are
// feasible, from where on and how many, and which of them score best.
//
// The simple specification is the reference decider, which filters and scores every node that
// it visits, in every decision. Here what plugins said of a node is remembered by class: the
// workloads of one profile with one key, see extpoints.NodeLocalPlugin. Of a class
//
//	Class ── blocks ──> 64 nodes in visiting order: who they are, what the filters said,
//	                    a bit for each that is feasible, totals, the best of them
//
// These hold:
//
//   - What is remembered of a node goes with the address of its NodeInfo, which it keeps, in a
//     frozen view. So the address is the version (snapshot.Block), and what is remembered is
//     true of every view in which the same address stands, be it the engine's own, that of a
//     branch, or of a try: there is nothing to invalidate, and no descent to follow.
//   - A block is compared with the view when a search comes to it, and not before: one
//     comparison where nothing has changed, 64 where something has. A search asks the filters
//     about the nodes that it visits and that it does not know, like the reference; those it
//     visits beyond where the reference stops are the rest of one block.
//   - Nothing that failed is remembered, and a decision in which something fails is the
//     reference's.
//   - What the filters say of a node with workloads nominated to it that may have its room first
//     is asked for in each decision, and not remembered: it depends on who is nominated, which
//     is no part of the NodeInfo. What scores say does not.
//   - What is remembered holds while the reports that plugins asked about are as old as they
//     want them. When the first of them is too old, a class starts anew.
//   - With another number of nodes a class starts anew. A placement of a group is a part of the
//     nodes of its view: the class is that of the whole view, and a search skips what is outside
//     of the part. So all placements that are tried, one after the other, share what is known.
//
// A decision looks at one word of each block that it visits, to find where the search ends, and
// at one number to find the best. Trees over the blocks would look at fewer; at 100,000 nodes
// there are 1,563 blocks, which takes two or three microseconds.
//
// Normalised scores depend on what all feasible nodes have. Where these all have the same raw
// score they do not change the order. Where not, the raw scores are collected and the plugin
// normalises them, as it would in the reference.
//
// # Plugins that look at other nodes
//
// What spreading and affinity say of a node changes with whatever is placed in its domain, so
// nothing of it is remembered, and it is no part of a class. PreFilter and PreScore have counted by
// domain; what is left is to look up a node's slot, and extpoints.SlotPlugin does it for a block at
// once. A node is feasible if the class says so and they accept it. Of a node that is not, the first
// filter in order that rejects it is the one that counts, so for the words those before the
// class's verdict are asked again. Their scores are added to the totals of the class.
//
// # Memory
//
// A class takes 48 bytes for each node that it knows, and one byte more for each of their
// changes that it has not seen, no more. [Cache] keeps the classes that were used last: at
// most MaxClasses, with at most MaxNodes nodes in all, which is about 100 MB, whatever the
// cluster. A class that alone has more is kept alone. What is remembered of a node keeps its
// NodeInfo, until the class comes to the block again or a node is gone: then all classes forget
// what they know of nodes.
//
// # Roads not taken
//
// Following changes from view to view would find the changed nodes without looking at each
// block, and need a log that branches share. A trie over the blocks that is persistent would let
// branches share what the engine knows; it costs a path for each change, and a branch fills its
// own in one pass.
package fast
