package customresources

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/berth-project/berth/model"
)

// Known answers of the upstream plugin: nodeconfig/topologymanager_test.go (commit 903da7df), the named
// rows and those of what is valid. Attributes are policy, scope and number of zones. What is not said
// is written out: no policy, by container, eight zones.
//
// Left out are the eleven rows of TestTopologyManagerEqual: there it is asked whether a node is
// configured anew, here each report is looked at as it is.
func TestKnownConfigurations(t *testing.T) {
	const none = "none container 8"
	for _, c := range []struct {
		name       string
		deprecated string // topologyPolicies
		attributes string // name=value
		want       string
	}{
		// TestIsValidScope
		{"no scope", "", "scope=", none},
		{"scope pod", "", "scope=pod", "none workload 8"},
		{"scope container", "", "scope=container", none},
		{"scope in capitals", "", "scope=POD", none},
		{"scope with a capital", "SingleNUMANodePodLevel", "scope=Container", "single-numa-node workload 8"},
		// TestIsValidPolicy
		{"no policy", "", "policy=", none},
		{"policy none", "SingleNUMANodeContainerLevel", "policy=none", none},
		{"policy best-effort", "", "policy=best-effort", "best-effort container 8"},
		{"policy restricted", "", "policy=restricted", "restricted container 8"},
		{"policy single-numa-node", "", "policy=single-numa-node", "single-numa-node container 8"},
		{"policy None", "SingleNUMANodeContainerLevel", "policy=None", "single-numa-node container 8"},
		{"policy BestEffort", "", "policy=BestEffort", none},
		{"policy Restricted", "", "policy=Restricted", none},
		{"policy with capitals", "", "policy=single-NUMA-node", none},
		{"policy SingleNUMANode", "", "policy=SingleNUMANode", none},
		// TestConfigFromAttributes
		{"no list of attributes", "", "", none},
		{"an empty list", "", "", none},
		{"only a scope", "", "scope=pod", "none workload 8"},
		{"only a policy", "", "policy=restricted", "restricted container 8"},
		{"policy and scope", "", "policy=restricted scope=container", "restricted container 8"},
		{"scope and policy", "", "scope=pod policy=single-numa-node", "single-numa-node workload 8"},
		{"a policy, and no scope Pod", "", "scope=Pod policy=single-numa-node", "single-numa-node container 8"},
		{"a policy, and no scope Container", "", "scope=Container policy=restricted", "restricted container 8"},
		{"zones in no number", "", "zones=A", none},
		{"no zones", "", "zones=0", none},
		{"less than no zones", "", "zones=-2", none},
		{"sixteen zones", "", "zones=16", "none container 16"},
		{"more zones than any node has", "", "zones=65535", "none container 1024"},
		// TestConfigFromPolicies
		{"no deprecated list", "", "", none},
		{"an empty deprecated list", "", "", none},
		{"deprecated: single, by pod", "SingleNUMANodePodLevel", "", "single-numa-node workload 8"},
		{"deprecated: single, by container", "SingleNUMANodeContainerLevel", "", "single-numa-node container 8"},
		{"deprecated: restricted, by container", "RestrictedContainerLevel", "", "restricted container 8"},
		{"deprecated: only the first counts", "RestrictedContainerLevel SingleNUMANodePodLevel", "", "restricted container 8"},
		{"deprecated: not known", "foobar", "", none},
		// TestConfigFromNRT
		{"nothing said", "", "", none},
		{"best effort, by pod", "BestEffortPodLevel", "", "best-effort workload 8"},
		{"the first of two", "RestrictedContainerLevel BestEffortPodLevel", "", "restricted container 8"},
		{"an attribute alone", "", "policy=restricted", "restricted container 8"},
		{"the scope by an attribute", "BestEffortPodLevel", "scope=container", "best-effort container 8"},
		{"both by attributes", "BestEffortPodLevel", "scope=container policy=restricted", "restricted container 8"},
	} {
		report := &nodeTopology{TopologyPolicies: strings.Fields(c.deprecated)}
		for a := range strings.FieldsSeq(c.attributes) {
			name, value, _ := strings.Cut(a, "=")
			full := map[string]string{"policy": "topologyManagerPolicy", "scope": "topologyManagerScope", "zones": "topologyManagerMaxNUMANodes"}[name]
			report.Attributes = append(report.Attributes, attribute{Name: full, Value: value})
		}
		m := report.model()
		got := fmt.Sprint(cmp.Or(m.Policy, model.AlignNone), " ", cmp.Or(m.Scope, model.AlignContainer), " ", cmp.Or(m.MaxZones, 8))
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
