// Package convert translates Kubernetes' objects into the model, and is the
// last place where they are called what Kubernetes calls them.
//
//	Pod                  [Pod], and what is not part of a workload: [Status]
//	Node                 [Node]
//	PodDisruptionBudget  [Budget]
//	Namespace            [Namespace]
//	PriorityClass        [PriorityClassOf], for pods without a priority: [Prioritize]
//	Service, ReplicationController, ReplicaSet, StatefulSet
//	                     [OwnerSelector]
//
// All functions are pure. Their results share maps and slices with the objects
// they are made of, so neither may be changed any more, as is the rule for
// objects of an informer as well as for those of an engine.
//
// # What is translated
//
// Every field that kube-scheduler 1.37.1 reads to make a decision, with the
// feature gates as they are by default. A test knows the fate of every field of
// every object, and the reason of those that are ignored; it fails when a new
// version of the API has one more.
//
// Objects are taken for what the API server stores. It fills in a lot: requests
// where there are only limits, host ports of pods in the host's network,
// priorities, the selectors that matchLabelKeys of affinity add to. A manifest
// that has never been there means something else here than it will then.
//
// Not built yet are volumes, resource claims and pod groups. A pod that has any
// is translated as if it had not.
//
// # What cannot be translated
//
// The functions that can fail list all problems at once, in a
// [model.ValidationError] whose fields have the names of Kubernetes' API. They
// return what is left of the object as well, which is valid, because the
// scheduler does not forget a pod or a node either because it cannot read a term
// of theirs: what runs takes room. See [Pod] for how far that goes.
//
// # Known differences
//
//   - What is in the status of a pod on no node does not count towards its
//     requests. The scheduler lets it count where the pod is nominated to a node.
//     Nothing writes such a status.
//   - Amounts that are less than 0, and sums that are no int64, are problems. In
//     the scheduler the latter become something else.
//   - A pod with preferred node affinity that cannot be read has a problem. The
//     scheduler places it where there is only one node for it, and fails
//     otherwise.
package convert
