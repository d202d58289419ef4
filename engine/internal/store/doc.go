// Package store is the record of truth: which nodes, workloads, groups, budgets
// and namespaces there are, and which workload is where. To assume, bind,
// confirm, forget, nominate and terminate are verbs of a transaction on it, and
// it alone knows which of them a workload's phase allows. It is built on
// go-memdb, no type of which leaves the package.
//
//	tx := s.Begin()
//	defer tx.Abort()
//	if _, err := tx.Assume(binding, now); err != nil { ... }
//	changes := tx.Commit() // patch what mirrors the store
//
// A [Store] is also a branch point: [Store.Snapshot] is a store of its own, at
// the price of one small allocation, that runs the same code.
//
// # Schema
//
//	table      index  key                    rows
//	workload   id     ID                     all
//	           place  phase, node, NUL, ID   all
//	member     id     group, NUL, ID         the specs of those in a group
//	node       id     name                   all
//	group      id     ID                     all
//	budget     id     ID                     all
//	namespace  id     name                   all
//
// A phase is a prefix scan of place; what is on a node is four, one for each
// phase that takes room. IDs and names are not empty and have no NUL in them.
// Every key ends in the ID and so is unique; memdb would accept two rows of one
// key without a word.
//
// # Costs
//
// The inner loop of a scheduler must not read the store; it reads a view that
// is patched from the changes. Measured with 50 workloads to a node, IDs of 36
// bytes, in CPU time with garbage collection on a busy machine of 2 cores:
//
//	                                    10,000 rows   500,000 rows
//	Assume, Bind or Confirm, each in
//	  a transaction of its own           15-21 µs       13-20 µs   155-175 allocations, 11-12 kB
//	  the same, written together             half           half    38-46 allocations,  3- 4 kB
//	Assume, 1000 in a transaction           9 µs       17-20 µs     50-65 allocations,  4- 5 kB
//	Snapshot                               25 ns          25 ns      1 allocation
//	Workload                                            2.5 µs      4 allocations
//	WorkloadsOn, 50 workloads                            13 µs     35 allocations
//	heap for a workload, without the spec               1064 B; in a group 1516 B
//
// Where it goes, from memdb's source, and what is done about it:
//
//   - An insert writes every index of the table, whether its key changed or
//     not. So there are two, and group membership, which hardly ever changes, is
//     a table apart: as a third index it added over a quarter to every move of a
//     grouped workload (223 allocations for 175).
//   - Each tree node on the path is copied, with its prefix, its edges, a
//     channel of 96 bytes and an entry in a cache: six or seven allocations. That
//     is nearly all of the cost, and shared with everyone who uses memdb.
//   - So commits do not write to memdb one by one. Up to [RecentRows] rows are kept
//     beside its tables, as each was left by the last commit that wrote it. They are
//     written when there are more, or when somebody reads rows in order; a single row
//     is found among them first. Nobody sees a difference: each commit publishes a
//     state with all of its rows, and a branch starts with both.
//   - A database that notifies its watchers tracks the channel of every node
//     that it replaces, and after 8,192 of them, which is fewer than 2,000 rows,
//     compares the whole tree at commit: 0.76 s for 2,000 rows out of 200,000. A
//     memdb snapshot does not notify, so all writes go to one, and the watches
//     are the store's own (see watches).
//   - A read of a changed index inside a transaction makes the transaction
//     forget which nodes are its own, and copy them again: 39 % more allocations
//     for a batch of 1000 if each row is read before it is written. So a
//     transaction keeps the rows it wrote and reads the others from its base. That
//     list, with the rows before, is the change feed as well; memdb's own, which a
//     test compares it with, would come on top (14 % more bytes in a batch). Only
//     the sequences pay: do not call WorkloadsOn between the writes of a
//     large transaction if it can be called before.
//
// There is no bound on the size of a transaction: 500,000 rows cost the same by
// the row in transactions of 100 and in one. [BatchSize] is advice for how long
// a loader should keep other writers waiting.
//
// # Invariants
//
// Under the build tag berth_invariants the store remembers a deep hash of every
// row with all it points to, and panics when something has changed one in place:
// it looks when a row is replaced or deleted, and at a few others at each commit.
package store
