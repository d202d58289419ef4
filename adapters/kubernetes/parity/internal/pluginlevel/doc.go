// Package pluginlevel compares plugins one by one: each of kube-scheduler's, made
// by its own constructor with the handle of a real framework, and its counterpart
// are asked the same about the same random cluster, at every extension point.
//
// What is compared, for every plugin that has the point: PreFilter (code, reasons,
// set of nodes), Filter on every node (code, reasons), AddPod and RemovePod
// followed by Filter, PreScore, Score on every node, NormalizeScore, PreEnqueue,
// Less, what is made of events (queueing hints), and the equality that
// signatures say. Reasons are compared in order, except where the reference puts
// them in the random order of a map; they are sorted then.
//
// Plugins about volumes and devices are asked in clusters with objects of their
// own, and also at Reserve: which volume is for which claim, and which devices.
//
// Plugins about groups have cases of their own ([RunGroups]), and so have those of kubernetes-sigs/
// scheduler-plugins ([RunSchedulerPlugins]), with measurements and custom resources: both sides are
// told of the same, the reference's plugins by clients in the place of those that they have made. The
// same is there for whole histories of package decisionlevel ([SchedulerPluginsDecisions]).
// Those that do not compile with this kube-scheduler as they are belong to files with the build tag
// patched; see the folder patches.
//
// Every plugin is also asked where the framework would not: Filter on nodes that
// another plugin rules out, Score on nodes that are not feasible. Both sides see
// the same nodes.
package pluginlevel
