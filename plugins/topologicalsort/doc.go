// Package topologicalsort is the plugin TopologicalSort: it orders the active queue by
// priority, and workloads of the same application in the order in which its components are
// to be started.
//
// Labels say of which application a workload is, and of which of its components; the order is
// that of [model.AppGraph].Components. A component that is not there comes first. All of an
// application stand in the queue where its graph was created, so that others do not come
// between them; a workload of none has its place by when it came. Where a graph comes or
// changes, those that wait already are in their new order when they are tried again.
//
// # Points
//
//	QueueSort
//
// # Events
//
//	none
//
// # Signature
//
//	none needed
//
// # Parity
//
// kube-scheduler has no such plugin. The rules are those of kubernetes-sigs/
// scheduler-plugins, pkg/networkaware/topologicalsort, commit 903da7df. There the priority
// does not count within an application, and applications have no place of their own: of
// three workloads each may come before the next, in a circle, and two of a component each
// before the other. That is no order, and is not restored by any switch. There a graph that
// is missing ends the process; here its workloads are like others.
package topologicalsort
