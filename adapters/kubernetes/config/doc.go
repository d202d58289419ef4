// Package config loads the configuration file of kube-scheduler, of kind
// KubeSchedulerConfiguration in version kubescheduler.config.k8s.io/v1, as
// kube-scheduler 1.37.1 does, and turns it into what Berth's engine needs.
//
//	c, err := config.LoadFile("/etc/kubernetes/scheduler.yaml", config.DefaultGates())
//	...                                        // flags that take precedence go into c.Effective
//	err = c.Validate()
//	registry := config.DefaultRegistry()       // and one's own plugins
//	err = c.Try(cel.New(), registry, nil)      // what plugins and extenders say, to report it together
//	profiles, err := c.Profiles(cel.New(), registry) // for engine.Config.Profiles
//	extenders, err := c.Extenders(codec)       // for extender.New
//	err = c.Write(file)                        // what --write-config-to writes
//
// The types are those of k8s.io/kube-scheduler config/v1. Their defaults and their
// rules are not published as a library; this package has its own, written after
// pkg/scheduler/apis/config of 1.37.1. The module adapters/kubernetes/parity feeds
// the files in testdata, and random sets of plugins, to kube-scheduler's loader and
// to this one: both must take the same files, come to the same values, and run the
// same plugins with the same weights in the same order.
//
// # What is different
//
// A file that kube-scheduler takes and Berth cannot follow is an error that names
// the field, at the latest when the engine is made. There are few of them:
//
//   - the plugin DeferredPodScheduling where its feature gate
//     InPlacePodVerticalScalingSchedulerPreemption is on; there is none here;
//   - weights of plugins below 0, and a plugin that is twice in multiPoint though it
//     is overridden at each point that it serves;
//   - an extender's URL that begins with neither http:// nor https://, and an
//     httpTimeout below 0;
//   - in the arguments of plugins: weights of preferred node affinity outside of 1
//     to 100, a minDomains below 1 or an inclusion policy that does not exist, and
//     resources without a name.
//
// The other way round there is one thing that is not noticed: profiles whose queue is
// sorted by the same plugin with different arguments, where that plugin is not
// kube-scheduler's and only multiPoint enables it.
//
// DynamicResources' filterTimeout is not a time here, because the engine's
// decisions do not depend on the clock: it becomes a number of steps. The default
// of 10 seconds is the allocator's default, other times are in proportion to it,
// and 0 is no limit.
//
// What kube-scheduler takes without doing anything with it has no effect here
// either: arguments of its plugins that take none, and plugins whose feature gate
// is off.
//
// # Plugins
//
// [DefaultRegistry] has the plugins that kube-scheduler has. Others are the caller's, who
// adds them there; their arguments reach their factories as [*runtime.Unknown],
// which holds the JSON as it stands in the file.
package config
