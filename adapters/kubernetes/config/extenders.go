package config

import (
	"fmt"

	configv1 "k8s.io/kube-scheduler/config/v1"

	"github.com/berth-project/berth/adapters/extender"
)

// defaultExtenderTimeout is how long an extender's answer may take by default
// (pkg/scheduler/extender.go, 1.37.1).
const defaultExtenderTimeout = extender.DefaultHTTPTimeout

// Extenders translates the extenders, in the order of the file. The codec writes
// the pods and nodes that they are sent.
//
// An extender is called by its URL, and where an earlier one has the same URL by its
// field, too. The error lists everything that is wrong with them, apart from what
// [Config.Validate] finds and from files of certificates, which [extender.New] reads.
func (c *Config) Extenders(codec extender.Codec) ([]extender.Config, error) {
	var p problems
	effective := c.withExtenders(&p)
	var list []extender.Config
	names := map[string]bool{}
	for i := range effective.Extenders {
		x := translateExtender(&effective.Extenders[i], codec)
		if names[x.Name] {
			x.Name += fmt.Sprintf(" (extenders[%d])", i)
		}
		names[x.Name] = true
		rest := x
		rest.Weight, rest.ManagedResources = 1, nil // Validate has looked at these
		p.addEach(fmt.Sprintf("extenders[%d]", i), rest.Validate())
		list = append(list, x)
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return list, nil
}

func translateExtender(in *configv1.Extender, codec extender.Codec) extender.Config {
	out := extender.Config{
		Name:             in.URLPrefix,
		URLPrefix:        in.URLPrefix,
		FilterVerb:       in.FilterVerb,
		PreemptVerb:      in.PreemptVerb,
		PrioritizeVerb:   in.PrioritizeVerb,
		BindVerb:         in.BindVerb,
		Weight:           in.Weight,
		EnableHTTPS:      in.EnableHTTPS,
		HTTPTimeout:      in.HTTPTimeout.Duration,
		NodeCacheCapable: in.NodeCacheCapable,
		Ignorable:        in.Ignorable,
		Codec:            codec,
	}
	for _, r := range in.ManagedResources {
		out.ManagedResources = append(out.ManagedResources, extender.ManagedResource{Name: r.Name, IgnoredByScheduler: r.IgnoredByScheduler})
	}
	if tls := in.TLSConfig; tls != nil {
		out.TLS = &extender.TLSConfig{
			Insecure: tls.Insecure, ServerName: tls.ServerName,
			CertFile: tls.CertFile, KeyFile: tls.KeyFile, CAFile: tls.CAFile,
			CertData: tls.CertData, KeyData: tls.KeyData, CAData: tls.CAData,
		}
	}
	return out
}
