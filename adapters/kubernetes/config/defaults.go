package config

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	componentconfig "k8s.io/component-base/config/v1alpha1"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// The defaults of kube-scheduler (apis/config/v1/defaults.go, 1.37.1) that have no
// constant in a library.
const (
	defaultParallelism           int32   = 16
	defaultPercentage            int32   = 0 // adaptive
	defaultInitialBackoffSeconds int64   = 1
	defaultMaxBackoffSeconds     int64   = 10
	defaultQPS                   float32 = 50
	defaultBurst                 int32   = 100
	leasesLock                           = "leases"
)

// orElse gives a field that is not set its default.
func orElse[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// orElseZero does so for a field that is no pointer.
func orElseZero[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// setDefaults fills in what the file leaves out.
//
// Rules: apis/config/v1/defaults.go SetDefaults_KubeSchedulerConfiguration, 1.37.1.
func setDefaults(c *configv1.KubeSchedulerConfiguration, g Gates) {
	orElse(&c.Parallelism, defaultParallelism)
	orElse(&c.PercentageOfNodesToScore, defaultPercentage)
	orElse(&c.PodInitialBackoffSeconds, defaultInitialBackoffSeconds)
	orElse(&c.PodMaxBackoffSeconds, defaultMaxBackoffSeconds)

	orElseZero(&c.LeaderElection.ResourceLock, leasesLock)
	orElseZero(&c.LeaderElection.ResourceNamespace, configv1.SchedulerDefaultLockObjectNamespace)
	orElseZero(&c.LeaderElection.ResourceName, configv1.SchedulerDefaultLockObjectName)
	componentconfig.RecommendedDefaultLeaderElectionConfiguration(&c.LeaderElection)

	orElseZero(&c.ClientConnection.ContentType, runtime.ContentTypeProtobuf)
	orElseZero(&c.ClientConnection.QPS, defaultQPS)
	orElseZero(&c.ClientConnection.Burst, defaultBurst)

	orElse(&c.EnableProfiling, true)
	orElse(&c.EnableContentionProfiling, *c.EnableProfiling)

	if len(c.Profiles) == 0 {
		c.Profiles = []configv1.KubeSchedulerProfile{{}}
	}
	if len(c.Profiles) == 1 { // where there are more, each needs a name
		orElse(&c.Profiles[0].SchedulerName, v1.DefaultSchedulerName)
	}
	for i := range c.Profiles {
		orElse(&c.Profiles[i].SchedulerName, "") // which Validate refuses
		setProfileDefaults(&c.Profiles[i], g)
	}
}

// setProfileDefaults merges the default plugins with the profile's own and gives
// every plugin that takes arguments all of them.
//
// Plugins that are enabled for podGroupPostFilter and nowhere else get none where
// the file has none, because kube-scheduler forgets that point there. It then
// refuses to start, as [Config.Profiles] does.
//
// Rules: apis/config/v1/defaults.go setDefaults_KubeSchedulerProfile and
// default_plugins.go mergePlugins, 1.37.1.
func setProfileDefaults(p *configv1.KubeSchedulerProfile, g Gates) {
	p.Plugins = mergePlugins(defaultPlugins(g), p.Plugins)
	given := map[string]bool{}
	for i := range p.PluginConfig {
		given[p.PluginConfig[i].Name] = true
		if args := &p.PluginConfig[i].Args; args.Object != nil {
			args.Raw = nil
			setArgsDefaults(args.Object, g)
		}
	}
	considered := *p.Plugins
	considered.PodGroupPostFilter = configv1.PluginSet{}
	for _, name := range slices.Sorted(maps.Keys(enabled(&considered))) {
		if given[name] {
			continue
		}
		args, err := scheme.New(configv1.SchemeGroupVersion.WithKind(name + "Args"))
		if err != nil {
			continue // it takes none, or is not kube-scheduler's
		}
		setArgsDefaults(args, g)
		p.PluginConfig = append(p.PluginConfig, configv1.PluginConfig{Name: name, Args: runtime.RawExtension{Object: args}})
	}
}
