package config

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-project/berth/adapters/kubernetes/internal/strict"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/sysched"
)

// sySchedArgs are SySchedArgs of scheduler-plugins, apis/config/v1, commit 903da7df. They are
// about what the adapter says of pods.
type sySchedArgs struct {
	metav1.TypeMeta         `json:",inline"`
	DefaultProfileNamespace *string `json:"defaultProfileNamespace"`
	DefaultProfileName      *string `json:"defaultProfileName"`
}

func (sySchedArgs) translate() (sysched.Args, error) { return sysched.Args{}, nil }

// profile is the namespace/name of the profile.
func (a sySchedArgs) profile() string {
	namespace, name := metav1.NamespaceDefault, "all-syscalls"
	if a.DefaultProfileNamespace != nil {
		namespace = *a.DefaultProfileNamespace
	}
	if a.DefaultProfileName != nil {
		name = *a.DefaultProfileName
	}
	return namespace + "/" + name
}

// UnconfinedProfile is the namespace/name of the SeccompProfile that SySched takes for pods without
// one; empty where no profile enables the plugin. A pod makes the same calls in the eyes of all
// profiles, so that they must name the same one.
func (c *Config) UnconfinedProfile() (string, error) {
	var found []string
	for i := range c.Effective.Profiles {
		p := &c.Effective.Profiles[i]
		if !enabled(p.Plugins)[plugins.SySched] {
			continue
		}
		var args sySchedArgs
		for j := range p.PluginConfig {
			if entry := &p.PluginConfig[j]; entry.Name == plugins.SySched && len(entry.Args.Raw) > 0 {
				_, _ = strict.JSON(entry.Args.Raw, &args) // what does not fit is for the plugin to report
			}
		}
		found = append(found, args.profile())
	}
	slices.Sort(found)
	switch found = slices.Compact(found); len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("SySched: defaultProfileNamespace, defaultProfileName: profiles name different ones, %q", found)
}
