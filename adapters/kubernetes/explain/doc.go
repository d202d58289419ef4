// Package explain answers over HTTP why pods are where they are, or nowhere, what
// waits, what queues and limits allow and how much of it is used, and where pods would go
// that are not there yet:
//
//	GET  /explain/pods/{namespace}/{name}   why the pod is where it is, or nowhere
//	     ?uid=                              only if it is the pod of this UID
//	GET  /explain/queue                     what waits, first what goes first
//	     ?namespace=  ?limit=               only of the namespace; at most so many (500)
//	GET  /explain/queues                    the tree of queues and the limits, and what is used of them
//	     ?queue=                            only the queue, those below it, and their limits
//	POST /explain/simulate                  where the pods of the body would go
//	     ?namespace=                        of objects that name none ("default")
//
// The answers are JSON, of the kinds in package api; errors are metav1.Status:
//
//	400 the request cannot be read      405 there is no such method
//	404 there is no such pod, queue     413 the body is too long
//	    or path
//	409 the pod is of another UID       415 the body is neither JSON nor YAML
//	422 objects are wrong: all problems 429 there are too many questions at once
//	                                    503 the cluster is not known yet
//
// kubectl-berth (cmd/kubectl-berth) asks and shows the answers.
//
// # Access
//
// The handler does not authenticate: mount it behind a filter that does. An answer
// may be about pods of any namespace, so a user with access sees something of all of
// them. A simulation changes nothing; it needs the verb of POST, which is "post" for
// a nonResourceURL.
//
// # What is remembered
//
// Of pods that wait nothing need be remembered but why their last attempt failed,
// in one line; they are tried again, on the cluster as it is. Of pods that have a
// node the engine remembers the most recent decisions, as many as
// engine.Config.RememberDecisions says; [Decisions] is a good number. It does not remember
// what every node scored but the cluster as it was, which shares with the cluster of
// the next decision all that did not change between the two. At 5,000 nodes, with a
// thousand small pods that come and go, a decision takes about 4.6 KiB: 5 MiB for
// 1,024; with the order by queues about 2 KiB more, and 16 bytes for each node that was passed
// over for the sake of a reservation. What changes in the cluster besides is kept once more for
// every decision that is followed by such a change.
//
// # What a simulation is
//
// The pods are tried on a branch of the engine's state, with the code that schedules,
// as if they had been created now and nothing else were to be placed first. What they
// would preempt is taken away on the branch, and they are tried once more. Extenders
// are asked as in any decision, save that they bind nothing. What a quota or a limit
// would hold back is not tried, and takes no room; whose turn it would be does not
// count, nor what is planned ahead. Pods of other schedulers are left out, and those that have a
// node in the cluster stay there, as with "kubectl apply".
//
// A pod of the body has not been through the API server. It is given what the API
// server gives: requests where there are limits only, host ports on the host network,
// the scheduler's name, a priority by its class. What other admission plugins
// add (LimitRanger, RuntimeClass, webhooks) must be in the body already. Claims that
// controllers make from the pod, for ephemeral volumes and devices, are not there either.
//
// The body has objects in JSON or YAML, in as many documents and lists as wanted: Pods;
// objects of which controllers make pods, their owners; and, where they are not in the
// cluster or are to be others, the PodGroups, CompositePodGroups and PriorityClasses that
// they name. They are read strictly, and there are at most 1,000 of them, in 3 MiB. What
// is wrong is said of all at once, by kind, name and field, with the namespace where the
// object names one, and with the position where another object has the same name. Names
// must be such as the API server takes. Those that are made up, with numbers for the API
// server's random letters, are none that the body gives, and of owners none that has pods in
// the cluster. What decides nothing about where pods go is not checked, and the API server may
// refuse it all the same, such as a job's template without restartPolicy.
//
// # Owners
//
// They are tried as the pods that the controllers of kube-controller-manager would make
// of them, at most 1,000 with those of the body:
//
//	Deployment, ReplicaSet,  spec.replicas, or one
//	ReplicationController
//	StatefulSet              likewise, with their names and claims; all at once
//	Job                      spec.parallelism, or one, and no more than spec.completions
//	CronJob                  those of one job
//
// What is suspended or paused is tried as if it were not, as pods are with scheduling gates.
// DaemonSets are refused: their controller chooses the nodes.
//
// What is there stays, as with "kubectl apply". A pod of a StatefulSet that has a node in the
// cluster is known by its name, as other pods of the body are. Of all other owners but
// CronJobs only as many pods are tried as they lack: what they are to have, less what they have on
// nodes. The answer says how many these are. So nothing is tried of a Deployment that is applied
// again and has all its pods, and two of one that is to have two more, with the template of the
// body; nor is a rollout tried, which would replace those that are there: for that, give the
// Deployment another name. The run of a CronJob comes on top of its earlier runs. What a Job has
// done already is not known. A pod that was told to go counts no more: its controller makes
// another one. An owner that another one of the body controls is left out: its pods are that
// one's.
//
// The label pod-template-hash that the controller of a Deployment would make of the template is that
// of its newest pod on a node, and "new" where there is none: the pods are spread with those.
//
// The claims of a StatefulSet's templates that are not in the cluster are there, too, with the default
// storage class where a template names none. A class that makes volumes at once
// (volumeBindingMode Immediate), not when a pod needs them, has made none yet: pods with such claims
// are Unplaced, with that as the reason.
package explain
