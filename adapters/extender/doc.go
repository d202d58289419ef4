// Package extender asks HTTP servers for their say in decisions, in the protocol
// of kube-scheduler's extenders: a server that was written for kube-scheduler
// works with this engine as it is.
//
//	x, err := extender.New(extender.Config{
//		URLPrefix:      "http://licences:8888/scheduler",
//		FilterVerb:     "filter",
//		PrioritizeVerb: "prioritize",
//		Weight:         2,
//	})
//	...
//	defer x.Close()
//	e, err := engine.New(engine.Config{Extenders: []extpoints.Extender{x.Extender}, ...})
//
// # The protocol
//
// Every question is a POST of JSON to URLPrefix/verb, and every answer is JSON
// with the status 200. The names of the fields are those of k8s.io/kube-scheduler
// extender/v1 (0.37.1):
//
//	verb        question                                             answer
//	filter      {Pod, Nodes | NodeNames}                             {Nodes | NodeNames, FailedNodes, FailedAndUnresolvableNodes, Error}
//	prioritize  {Pod, Nodes | NodeNames}                             [{Host, Score}]
//	preempt     {Pod, NodeNameToVictims | NodeNameToMetaVictims}     {NodeNameToMetaVictims}
//	bind        {PodName, PodNamespace, PodUID, Node}                {Error}
//
// Nodes and victims are sent whole, or, with NodeCacheCapable, by name and UID. A
// pod's UID is the workload's ID. What a pod and a node look like is up to the
// [Codec]; the default one writes what the model knows, see [Neutral].
//
// An answer is read as kube-scheduler reads it (pkg/scheduler/extender.go,
// 1.37.1). So what follows the first JSON value is not looked at, the case of
// names does not matter, unknown names are passed over, and an empty object as
// the answer to filter means that no node will do. What is stricter here: an
// answer longer than Config.MaxAnswer is an error, and so is one with whole
// nodes of which some were not asked about.
//
// # A quirk that is kept
//
// Where an extender answers filter with whole nodes, which is what it does
// without NodeCacheCapable, kube-scheduler goes on with the nodes as they came
// back: without the pods on them. Later extenders do not mind, but its plugins
// then score full nodes as if they were empty. This package says so to the engine
// ([extpoints.ExtenderFilterResult].Bare), which does the same, because the same
// configuration is to give the same decisions. Use NodeCacheCapable to have it
// otherwise. Other changes that an extender makes to the nodes it sends back are
// not taken over: there only the names count, and the rest is the engine's own
// knowledge.
//
// # Time
//
// While an extender is asked about a decision the engine does nothing else. An
// answer that takes longer than Config.HTTPTimeout is a failure, and so is
// everything else that is no answer. A workload whose filter failed is tried
// again after the error backoff, unless the extender is Ignorable.
//
// The extender's own goroutines are those of net/http for open connections;
// [Extender.Close] ends them.
package extender
