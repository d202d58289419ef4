// Package extpointstest proves that a plugin keeps the contract of package
// extpoints, and has what its tests need: a View over a list of nodes, a
// Handle, an Orchestrator.
//
// Every plugin's test calls [TestPlugin]. It tries the plugin in the situations
// that it is given and in random ones, and reports where the plugin
//
//   - has a name that is not the one it is registered under, or that changes;
//   - accepts arguments with a field that does not exist;
//   - gives a status whose code its point does not allow, or rejects without a reason;
//   - gives two answers to one question, also when asked from several
//     goroutines at once (run the tests with -race);
//   - changes a node, a workload, or in Filter and Score the state;
//   - says Skip and then rejects a node, or narrows the search down and then
//     accepts a node outside;
//   - gives scores out of range;
//   - does not undo with one extension of PreFilter what it did with the other,
//     or comes to another answer with them than without;
//   - does not cope with Unreserve without Reserve, or twice;
//   - orders the queue in a way that is no order;
//   - makes placements of nodes that the parent does not have, or in another
//     order, or two of one name;
//   - nominates a node that is not there, or for a workload that is no member;
//   - signs two workloads alike and treats them differently;
//   - says of slots what it does not say of the nodes in them;
//   - never gives one of its answers, so that little was proved: PreEnqueue or Filter
//     never rejects, or never accepts, Score gives all nodes the same, or no change makes
//     acceptable what it rejected. Where that is meant, Suite.OneSided says why;
//   - misses a change: the change turns its rejection of a node into
//     acceptance, but none of its hints says so.
//
// Random situations come from [modeltest.Seed]: they are the same each time. The environment
// variable BERTH_SEED names another seed; with "random" it is another each time, and is printed.
//
// [TestView] does for a View what TestPlugin does for a plugin.
package extpointstest
