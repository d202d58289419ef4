// Package allocator chooses devices for claims on one node. It is the part of
// the plugin DynamicResources that can be used alone: it wants an
// [extpoints.Devices], claims and a node, and says which devices each claim gets.
//
// # Rules
//
// It chooses the same devices as kube-scheduler 1.37.1 does with its default
// feature gates, where that is no mistake (see [extpoints.Compat]): those of k8s.io/dynamic-resource-allocation 0.37.1, package
// structured/internal/incubating. Claims are served in their order, and of each
// claim the requests in theirs. For each device that is needed the candidates
// are tried one after the other: pools by driver and name, those that have
// devices with binding conditions last, slices by ID, devices in the order of
// their slice. A candidate that is free, matches, and satisfies taints, counters,
// capacity and constraints is taken, and the search goes on with the next device;
// where that fails the next candidate is tried. The first complete solution is
// the answer. Sums are compared as they are, however near to the largest amount; and
// administrative access needs nothing and takes nothing. What is in use of a pool is what
// was drawn when devices were given, not what its slices say by now.
//
// # How it is made fast
//
// What can be found out about slices is found out once: the catalogue has the
// pools of each node and lasts until a slice changes, and parts of unchanged
// slices live on in the next. What is in use of a pool is worked out once for
// each state of the pool. Whether selectors select a device is remembered for
// as long as the slice lasts. So a search on a node reads flags by index, and
// allocates nothing as long as it only wants to know whether there is room.
package allocator
