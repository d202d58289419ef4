package config

import (
	"errors"
	"slices"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/adapters/kubernetes/internal/strict"
)

// loadFitting is what fits of a document that kube-scheduler's decoder does not take, because of
// the first value that is not of its field's type; nil where it is no such document. Its
// Validate reports all such values.
func loadFitting(text []byte, g Gates) *Config {
	var file configv1.KubeSchedulerConfiguration
	unfit, err := strict.YAML(text, &file)
	if err != nil || file.GroupVersionKind() != configv1.SchemeGroupVersion.WithKind("KubeSchedulerConfiguration") {
		return nil
	}
	for i := range file.Profiles {
		for j := range file.Profiles[i].PluginConfig {
			at := field.NewPath("profiles").Index(i).Child("pluginConfig").Index(j).Child("args")
			unfit = append(unfit, fitArgs(at, &file.Profiles[i].PluginConfig[j])...)
		}
	}
	c := newConfig(file, g)
	c.unfit = unfit
	return c
}

// fitArgs decodes the arguments of a plugin of kube-scheduler's that takes some.
func fitArgs(at *field.Path, entry *configv1.PluginConfig) []*strict.Problem {
	args, err := scheme.New(configv1.SchemeGroupVersion.WithKind(entry.Name + "Args"))
	if err != nil || len(entry.Args.Raw) == 0 {
		return nil
	}
	problems, err := strict.JSON(entry.Args.Raw, args)
	if err != nil {
		return nil // it has been read once
	}
	for _, p := range problems {
		p.Field = at.Child(p.Field).String()
	}
	entry.Args.Object = args
	return problems
}

// withoutConsequences are the problems apart from those that may follow from values that are left
// out.
func withoutConsequences(err error, unfit []*strict.Problem) error {
	return utilerrors.FilterOut(err, func(err error) bool {
		var at *field.Error
		return errors.As(err, &at) && slices.ContainsFunc(unfit, func(p *strict.Problem) bool { return p.Touches(at.Field) })
	})
}
