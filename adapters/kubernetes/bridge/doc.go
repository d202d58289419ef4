// Package bridge runs plugins that were written for kube-scheduler 1.37, unmodified, in
// Berth's engine. Package bridge/app has the command for it; this one is for those who put
// an engine together themselves.
//
//	objects := bridge.NewObjects()
//	a, err := kubernetes.New(kubernetes.Options{Translated: objects.Put, ...})
//	host, err := bridge.New(bridge.Options{Objects: objects, Client: client, Informers: a.Informers()})
//	entry := extpoints.Entry{Name: "NodeMetadata", New: host.Factory("NodeMetadata", nodemetadata.New)}
//
// # How a plugin sees the cluster
//
// A plugin is given API objects. [Objects] remembers of which object each workload and node
// of the engine was made, so every version finds its own, on a branch of long ago too. What
// the engine knows better than the API server is filled in: the node of a pod that is
// assumed, the node it is nominated to, that it is terminating. Nodes are
// k8s.io/kubernetes' own NodeInfo, made when a plugin first looks at one, and made again
// when the engine's has changed.
//
// A plugin may keep the lister that its Handle gives it. The lister shows the cluster of the
// cycle in which one of the plugins is being called: calls for other cycles (on a branch, for
// an explanation) wait until none is. So plugins take turns by the call and not by the cycle.
// Points that may block (PreBind, Bind, PostBind) and those without a cycle (PreEnqueue, Less,
// hints) take none: there the lister shows some cycle, the last or another that runs.
//
// # What a plugin does to the cluster
//
// In a call of PostFilter, deletions of pods that are made with the call's context become
// evictions by the engine, which go the way of its own: they are planned on a branch and
// carried out in a cycle. Nominations that are cleared are cleared in the engine. A write
// for a cycle that only tries something out is refused otherwise.
//
// # What does not work
//
//   - Methods of Handle that are not served panic with a [NotServedError], which the engine
//     reports as the failure of the plugin: RunPreScorePlugins, RunScorePlugins,
//     RunReservePluginsReserve and RunReservePluginsUnreserve, AddNominatedPod,
//     UpdateNominatedPod and DeleteNominatedPodIfExists, the claims and slices of
//     SharedDRAManager, PodGroupManager, AddPodInPreBind and RemovePodInPreBind, and
//     KubeConfig of a host that has none. RunFilterPlugins answers with an error where pods
//     are nominated to the node.
//   - A NodeInfo is not a *framework.NodeInfo, and a Handle is no framework.Framework.
//   - The points of pod groups (placements, PodGroupPostFilter), Sign and pre-queueing hints
//     are not called. In Less a tree of groups is shown as its first pod.
//   - A plugin does not find in the CycleState what Berth's own plugins keep there.
//   - On a branch and in an explanation Reserve and Permit are not called, since such
//     plugins keep books of their own, which are about what really happens; PostFilter is
//     called for the plugins of [Options].Plans alone. Plugins that ask informers or
//     servers see the present there.
//   - A run with such plugins is not replayed from a recording: what they went by is not
//     in it.
package bridge
