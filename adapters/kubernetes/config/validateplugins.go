package config

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

// removed are plugins that this version of the file does not have any more.
var removed = []string{"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"}

// misnamed is a name that kube-scheduler's validation has in its table where it
// means NodeResourcesFit. No arguments are right for it.
const misnamed = "NodeResourcesFitArgs"

func (p *problems) refuseRemoved(path *field.Path, name string) bool {
	if !slices.Contains(removed, name) {
		return false
	}
	p.add(field.Invalid(path, name, fmt.Sprintf("was invalid in version %q (KubeSchedulerConfiguration is version %q)",
		v1.SchemeGroupVersion, configv1.SchemeGroupVersion)))
	return true
}

// validatePlugins refuses plugins that have been removed. (kube-scheduler looks at
// most points here; at the others it then says that the plugin does not exist.)
func (p *problems) validatePlugins(path *field.Path, sets *configv1.Plugins) {
	for i := range points {
		for j, plugin := range points[i].in(sets).Enabled {
			p.refuseRemoved(path.Child(points[i].name, "enabled").Index(j), plugin.Name)
		}
	}
}

// validatePluginConfig says what is wrong with arguments. Those of NodeResourcesFit
// are not looked at before extenders have had their say; see [Config.Profiles].
//
// Rules: validation.go validatePluginConfig, 1.37.1.
func (p *problems) validatePluginConfig(path *field.Path, list []configv1.PluginConfig, g Gates) {
	seen := map[string]bool{}
	for i := range list {
		at, name := path.Index(i), list[i].Name
		if seen[name] {
			p.add(field.Duplicate(at, name))
		}
		seen[name] = true
		switch {
		case p.refuseRemoved(at, name):
		case name == misnamed:
			p.add(field.Invalid(at.Child("args"), name, "has to match plugin args"))
		default:
			p.validateArgs(at.Child("args"), list[i].Args.Object, g)
		}
	}
}

// validateExtenders says what is wrong with extenders, as far as kube-scheduler
// looks at them here.
//
// Rules: validation.go validateExtenders, 1.37.1.
func (p *problems) validateExtenders(path *field.Path, list []configv1.Extender) {
	binders := 0
	seen := map[string]bool{}
	for i := range list {
		at, x := path.Index(i), &list[i]
		if x.PrioritizeVerb != "" && x.Weight <= 0 {
			p.add(field.Invalid(at.Child("weight"), x.Weight, "must have a positive weight applied to it"))
		}
		if x.BindVerb != "" {
			binders++
		}
		for j := range x.ManagedResources {
			here, name := at.Child("managedResources").Index(j).Child("name"), x.ManagedResources[j].Name
			p.validateExtendedResource(here, name)
			if seen[name] {
				p.add(field.Invalid(here, name, "duplicate extender managed resource name"))
			}
			seen[name] = true
		}
	}
	if binders > 1 {
		p.add(field.Invalid(path, fmt.Sprintf("found %d extenders implementing bind", binders), "only one extender can implement bind"))
	}
}

// validateExtendedResource says why the name is not that of an extended resource:
// one with a domain that is not Kubernetes' own, and that can still be told apart
// when a quota puts "requests." in front of it.
//
// Rules: validation.go validateExtendedResourceName and pkg/apis/core/v1/helper/
// helpers.go IsExtendedResourceName, 1.37.1.
func (p *problems) validateExtendedResource(path *field.Path, name string) {
	if wrong := validation.IsQualifiedName(name); len(wrong) > 0 {
		for _, text := range wrong {
			p.add(field.Invalid(path, name, text))
		}
		return
	}
	if !strings.Contains(name, "/") || strings.Contains(name, v1.ResourceDefaultNamespacePrefix) ||
		strings.HasPrefix(name, v1.DefaultResourceRequestsPrefix) ||
		len(validation.IsQualifiedName(v1.DefaultResourceRequestsPrefix+name)) > 0 {
		p.add(field.Invalid(path, name, "is an invalid extended resource name"))
	}
}
