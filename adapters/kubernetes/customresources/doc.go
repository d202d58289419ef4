// Package customresources reads custom resources of Kubernetes for plugins that go by them, and
// reports them to an engine: [NodeTopologies] for NodeResourceTopologyMatch, and [AppGroups] and
// [NetworkTopologies] for NetworkOverhead and TopologicalSort.
//
//	source, err := customresources.New(customresources.Options{Client: client, Kinds: kinds, Apply: eng.Apply, ...})
//	err = source.Check()  // are the custom resource definitions installed?
//	go source.Run(ctx)
//	<-source.Ready()      // the engine knows all that there is
//
// A NodeResourceTopology (topology.node.k8s.io/v1alpha2) with a fingerprint of the node's pods is
// passed on when it agrees with the pods that are known, which are those that it counts
// then; until it does, the node keeps the report before it, and the two are compared again every
// few seconds. The first report of a node does not wait for that. Without a fingerprint a
// report counts the pods that were placed half a minute before it came, or earlier: it has
// no time of its own. Where containers have their NUMA zones is not read.
//
// An AppGroup (appgroup.diktyo.x-k8s.io/v1alpha1) is a [model.AppGraph] with the ID
// "namespace/name" and the selectors of its workloads as components, in the order that its
// status says; those that the status does not have come first. Each of the weights of a
// NetworkTopology (networktopology.diktyo.x-k8s.io/v1alpha1) is a [model.NetworkCosts] with the name
// "namespace/name/weights".
//
// The other kinds say something of pods, so the adapter reads them with the pods, by the
// functions here that say what they mean: a SeccompProfile (security-profiles-operator.x-k8s.io/
// v1beta1) is the system calls of the pods that name it, see [Syscalls]; an ElasticQuota (scheduling.x-k8s.io/v1alpha1) the queue of its namespace, see
// [Quota]; a PodGroup (scheduling.x-k8s.io/v1alpha1) the group of the pods with its label, see
// [PodGroup].
//
// What cannot be read of an object is reported, and the object left as it was. A role that may get,
// list and watch the resources is for who installs the definitions to make.
package customresources
