package config

import (
	"fmt"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	componentinternal "k8s.io/component-base/config"
	componentconfig "k8s.io/component-base/config/v1alpha1"
	componentvalidation "k8s.io/component-base/config/validation"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/utils/ptr"

	"github.com/berth-project/berth/adapters/kubernetes/queueing"
)

// Validate lists everything that is wrong with the values of the configuration, an
// [utilerrors.Aggregate] of field errors mostly, in kube-scheduler's words. What can
// only be told when plugins are made is not among it; see [Config.Profiles] and
// [Config.Extenders].
//
// Rules: apis/config/validation/validation.go ValidateKubeSchedulerConfiguration,
// 1.37.1.
func (c *Config) Validate() error {
	var p problems
	e := &c.Effective
	p.addList(validateClientConnection(&e.ClientConnection))
	p.addList(validateLeaderElection(&e.LeaderElection))
	if n := ptr.Deref(e.Parallelism, 0); n <= 0 {
		p.add(field.Invalid(field.NewPath("parallelism"), n, "should be an integer value greater than zero"))
	}
	profiles := field.NewPath("profiles")
	if len(e.Profiles) == 0 {
		p.add(field.Required(profiles, ""))
	} else {
		p.validateProfiles(profiles, e.Profiles, c.gates)
	}
	p.validatePercentage(field.NewPath("percentageOfNodesToScore"), e.PercentageOfNodesToScore)
	initial, longest := ptr.Deref(e.PodInitialBackoffSeconds, 0), ptr.Deref(e.PodMaxBackoffSeconds, 0)
	if initial <= 0 {
		p.add(field.Invalid(field.NewPath("podInitialBackoffSeconds"), initial, "must be greater than 0"))
	}
	if longest < initial {
		p.add(field.Invalid(field.NewPath("podMaxBackoffSeconds"), longest, "must be greater than or equal to PodInitialBackoffSeconds"))
	}
	p.validateExtenders(field.NewPath("extenders"), e.Extenders)
	if c.Queueing != nil {
		p.addEach(queueing.Kind, c.Queueing.Validate())
	}
	all := problems{[]error{withoutConsequences(p.err(), c.unfit)}}
	for _, problem := range c.unfit {
		all.add(problem)
	}
	return all.err()
}

// problems collects what is wrong.
type problems struct{ list []error }

func (p *problems) add(err error) { p.list = append(p.list, err) }

// addEach adds each of the errors that err is made of, with the words in front of it.
func (p *problems) addEach(front string, err error) {
	for _, err := range errorsOf(err) {
		p.add(fmt.Errorf("%s: %w", front, err))
	}
}

// errorsOf are those that an [utilerrors.Aggregate] or errors.Join has made one of, the error
// itself, or none where it is nil.
func errorsOf(err error) []error {
	switch several := err.(type) { //nolint:errorlint // what wraps several has words of its own
	case nil:
		return nil
	case utilerrors.Aggregate:
		return several.Errors()
	case interface{ Unwrap() []error }:
		return several.Unwrap()
	}
	return []error{err}
}

func (p *problems) addList(list field.ErrorList) {
	for _, err := range list {
		p.add(err)
	}
}

// err is all problems as one error, nil where there are none.
func (p *problems) err() error {
	if all := utilerrors.Flatten(utilerrors.NewAggregate(p.list)); all != nil {
		return all
	}
	return nil
}

// The two that all components share are validated by their library, which wants
// its own types.

func validateClientConnection(c *componentconfig.ClientConnectionConfiguration) field.ErrorList {
	var in componentinternal.ClientConnectionConfiguration
	path := field.NewPath("clientConnection")
	if err := componentconfig.Convert_v1alpha1_ClientConnectionConfiguration_To_config_ClientConnectionConfiguration(c, &in, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return componentvalidation.ValidateClientConnectionConfiguration(&in, path)
}

func validateLeaderElection(c *componentconfig.LeaderElectionConfiguration) field.ErrorList {
	var in componentinternal.LeaderElectionConfiguration
	path := field.NewPath("leaderElection")
	if err := componentconfig.Convert_v1alpha1_LeaderElectionConfiguration_To_config_LeaderElectionConfiguration(c, &in, nil); err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	list := componentvalidation.ValidateLeaderElectionConfiguration(&in, path)
	if in.LeaderElect && in.ResourceLock != leasesLock {
		list = append(list, field.Invalid(path.Child("resourceLock"), in.ResourceLock, `resourceLock value must be "leases"`))
	}
	return list
}

func (p *problems) validatePercentage(path *field.Path, percentage *int32) {
	if percentage != nil && (*percentage < 0 || *percentage > 100) {
		p.add(field.Invalid(path, *percentage, "not in valid range [0-100]"))
	}
}

func (p *problems) validateProfiles(path *field.Path, profiles []configv1.KubeSchedulerProfile, g Gates) {
	seen := map[string]bool{}
	for i := range profiles {
		at, name := path.Index(i), ptr.Deref(profiles[i].SchedulerName, "")
		if name == "" {
			p.add(field.Required(at.Child("schedulerName"), ""))
		}
		p.validatePercentage(at.Child("percentageOfNodesToScore"), profiles[i].PercentageOfNodesToScore)
		p.validatePlugins(at.Child("plugins"), profiles[i].Plugins)
		p.validatePluginConfig(at.Child("pluginConfig"), profiles[i].PluginConfig, g)
		if seen[name] {
			p.add(field.Duplicate(at.Child("schedulerName"), name))
		}
		seen[name] = true
	}
	p.validateQueueSort(path, profiles)
}

// validateQueueSort says where profiles would sort the one queue differently, as far
// as they name the plugin at its extension point. Which plugin MultiPoint brings
// there is known when plugins are made.
//
// Rules: validation.go validateCommonQueueSort, 1.37.1.
func (p *problems) validateQueueSort(path *field.Path, profiles []configv1.KubeSchedulerProfile) {
	first := profiles[0].Plugins.QueueSort
	if n := len(first.Enabled); n > 1 {
		p.add(field.Invalid(path.Index(0).Child("plugins", "queueSort", "Enabled"), n, "only one queue sort plugin can be enabled"))
	}
	var name string
	if len(first.Enabled) > 0 {
		name = first.Enabled[0].Name
	}
	args, _ := argsOf(&profiles[0], name)
	for i := 1; i < len(profiles); i++ {
		if own := profiles[i].Plugins.QueueSort; !apiequality.Semantic.DeepEqual(first, own) {
			p.add(field.Invalid(path.Index(i).Child("plugins", "queueSort"), names(own), "must be the same for all profiles"))
		}
		if own, given := argsOf(&profiles[i], name); given && !apiequality.Semantic.DeepEqual(args, own) {
			p.add(field.Invalid(path.Index(i).Child("pluginConfig", "args"), name, "queueSort must be the same for all profiles"))
		}
	}
}

// names are those of the plugins that the set enables.
func names(set configv1.PluginSet) []string {
	list := []string{}
	for _, plugin := range set.Enabled {
		list = append(list, plugin.Name)
	}
	return list
}

// argsOf are the arguments that the profile has for the plugin, if any.
func argsOf(p *configv1.KubeSchedulerProfile, plugin string) (args runtime.RawExtension, given bool) {
	for i := range p.PluginConfig {
		if plugin != "" && p.PluginConfig[i].Name == plugin {
			return p.PluginConfig[i].Args, true
		}
	}
	return args, false
}
