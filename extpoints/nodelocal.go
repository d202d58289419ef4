package extpoints

// NodeLocalPlugin is implemented by plugins of Filter and Score that can say of a
// workload that what they say of a node depends on that node alone. The engine then
// remembers what they said, for all workloads with the same key, until the node
// changes (engine.Config.FastPath). A plugin without it costs nothing but that: where
// it takes part, it is asked about every node in every decision.
//
// Where order is strict, workloads with the same key also wait behind the first of them: when it is
// rejected they are not tried, and events are offered to it alone. So it must not be that the plugin, after it has
// reported a key for a workload, accepts a node for it that it rejects for another with that key, or that its hints
// say of the one what they do not say of the other.
//
// Package extpointstest has the kit that checks the promise: part NodeLocal of TestPlugin.
type NodeLocalPlugin interface {
	Plugin
	// NodeLocal appends to key all that the plugin reads of the workload, in a form
	// in which different values never look the same, and reports true; or it reports
	// false, and key does not matter. It is called after PreFilter, in each cycle in
	// which the plugin's Filter or Score may be called, on the engine's goroutine and
	// on those of branches; it must not block. It may look at the state and its view,
	// for example to see that nothing in the cluster concerns the workload.
	//
	// True is a promise about this cycle and every other one of the same profile with
	// the same key, those in which room is made ([CycleState.MakingRoom]) being by themselves:
	//
	//   - What Filter and Score say depends on the key, on the content of the node
	//     that they are asked about, on what is reported of it ([ClusterView].NodeLoad
	//     and NodeTopology), and on the number of nodes. Nothing else counts: no other
	//     node, no seed, nothing that the plugin itself remembers, and no time but what
	//     [CycleState.TooOld] says of it.
	//   - Whether PreScore skips depends on the key. It makes the same state whatever
	//     nodes it is given. What it and Score leave in the state is for the plugin's
	//     Score and NormalizeScore alone.
	//   - NormalizeScore gives nodes with equal scores equal scores. Where all are
	//     equal, what they become depends on that score alone, not on the nodes.
	//
	// Filter may then be called for nodes that the search would not have come to, PreScore
	// with some of the feasible nodes, and neither where all that is asked is known.
	NodeLocal(s *CycleState, w *WorkloadInfo, key []byte) ([]byte, bool)
}
