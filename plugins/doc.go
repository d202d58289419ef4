// Package plugins lists the plugins that come with the engine: their names, how each
// is made, and the profile that uses them as kube-scheduler does by default. Each
// plugin is a package of its own below this one and can be used without the others.
//
// # What the package comments say
//
// Each plugin's package comment begins with what the plugin does and ends with four
// sections. A test compares the first three with the code.
//
//   - Points: the extension points that the plugin serves ([extpoints.Points]), and then
//     the optional interfaces that change what a point does. The engine calls the plugin
//     there and nowhere else.
//   - Events: the cluster events that the plugin registers for
//     ([extpoints.EnqueueExtensions]), as resource and action. A workload that the plugin
//     rejected is woken by these events only, if the plugin's hint agrees. "(Improved)" and
//     "(KubeScheduler137)" mark events of one [extpoints.Compat] mode. "every event" means
//     that the plugin rejects but registers for none.
//   - Signature: the parts of a workload on which the plugin's verdicts depend, as the keys
//     of its fragments ([extpoints.SignPlugin]). Workloads whose fragments are equal for all
//     plugins are interchangeable. "(refuses some workloads)" means that some have no
//     signature; "none needed", that the plugin gives no verdicts on nodes.
//   - Parity: the files and the version of kube-scheduler that the rules come from, and the
//     intended differences.
package plugins
