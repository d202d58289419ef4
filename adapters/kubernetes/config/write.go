package config

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"sigs.k8s.io/yaml"
)

// Write writes the configuration as YAML, as kube-scheduler does where it is given
// --write-config-to: with every default, and with the arguments of those plugins
// that are enabled, sorted by plugin. A Config that is loaded from it is the same
// again. The second document is written as it was. Keys and certificates of extenders that stand in the file are written, too.
//
// Rules: cmd/kube-scheduler/app/options/configfile.go LogOrWriteConfig and
// framework/runtime/framework.go NewFramework (captureProfile), 1.37.1.
func (c *Config) Write(w io.Writer) error {
	var p problems
	effective := c.withExtenders(&p)
	if err := p.err(); err != nil {
		return err
	}
	for i := range effective.Profiles {
		keepNeededArgs(&effective.Profiles[i])
	}
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeYAML)
	if !ok {
		return fmt.Errorf("write configuration: there is no serializer for %s", runtime.ContentTypeYAML)
	}
	if err := codecs.EncoderForVersion(info.Serializer, configv1.SchemeGroupVersion).Encode(effective, w); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	if c.Queueing == nil {
		return nil
	}
	text, err := yaml.Marshal(c.Queueing)
	if err == nil {
		_, err = fmt.Fprintf(w, "---\n%s", text)
	}
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}

// keepNeededArgs drops the arguments of plugins that are not enabled, and entries
// without arguments.
func keepNeededArgs(p *configv1.KubeSchedulerProfile) {
	needed := enabled(p.Plugins)
	p.PluginConfig = slices.DeleteFunc(p.PluginConfig, func(entry configv1.PluginConfig) bool {
		return !needed[entry.Name] || entry.Args.Object == nil && len(entry.Args.Raw) == 0
	})
	slices.SortFunc(p.PluginConfig, func(a, b configv1.PluginConfig) int { return cmp.Compare(a.Name, b.Name) })
}
