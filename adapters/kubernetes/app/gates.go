package app

import (
	_ "embed"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/util/compatibility"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	clientfeatures "k8s.io/client-go/features"
	basecompatibility "k8s.io/component-base/compatibility"
	"k8s.io/component-base/featuregate"
	metricsfeatures "k8s.io/component-base/metrics/features"
)

// gatesText are the feature gates that kube-scheduler knows, about the API server,
// nodes and controllers, too: a flag for all components of a cluster is taken. The
// module adapters/kubernetes/parity compares it with kube-scheduler's, and writes it.
//
//go:embed gates.txt
var gatesText string

// gates are the feature gates of one command, and the version of Kubernetes that it
// stands for.
type gates struct {
	gate     featuregate.MutableVersionedFeatureGate
	version  basecompatibility.MutableEffectiveVersion
	registry basecompatibility.ComponentGlobalsRegistry // has the flags
}

// newGates returns the gates with their defaults. They are not those of the process,
// so that every command has its own; see [gates.applyToProcess].
func newGates() *gates {
	effective := compatibility.DefaultBuildEffectiveVersion()
	g := &gates{
		gate:     featuregate.NewVersionedFeatureGateWithMinCompatibility(effective.EmulationVersion(), effective.MinCompatibilityVersion()),
		version:  effective,
		registry: basecompatibility.NewComponentGlobalsRegistry(),
	}
	specs, needs, err := parseGates(gatesText)
	if err == nil {
		err = g.gate.AddVersioned(specs)
	}
	if err == nil {
		err = g.gate.AddDependencies(needs)
	}
	if err == nil {
		err = g.registry.Register(basecompatibility.DefaultKubeComponent, g.version, g.gate)
	}
	if err != nil {
		panic(fmt.Errorf("gates.txt: %w", err)) // it is part of the program
	}
	return g
}

// parseGates reads the lines of gates.txt; its first lines say how.
func parseGates(text string) (map[featuregate.Feature]featuregate.VersionedSpecs, map[featuregate.Feature][]featuregate.Feature, error) {
	specs := map[featuregate.Feature]featuregate.VersionedSpecs{}
	needs := map[featuregate.Feature][]featuregate.Feature{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		name := featuregate.Feature(words[0])
		for _, word := range words[1:] {
			if list, ok := strings.CutPrefix(word, "needs:"); ok {
				for other := range strings.SplitSeq(list, ",") {
					needs[name] = append(needs[name], featuregate.Feature(other))
				}
				continue
			}
			spec, err := parseSpec(word)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
			specs[name] = append(specs[name], spec)
		}
	}
	return specs, needs, nil
}

// parseSpec reads what is true of a gate from one version on.
func parseSpec(word string) (featuregate.FeatureSpec, error) {
	var spec featuregate.FeatureSpec
	for i, part := range strings.Split(word, ":") {
		least, isLeast := strings.CutPrefix(part, "with-")
		var err error
		switch {
		case i == 0:
			spec.Version, err = version.ParseMajorMinor(part)
		case isLeast:
			spec.MinCompatibilityVersion, err = version.ParseMajorMinor(least)
		case part == "alpha":
			spec.PreRelease = featuregate.Alpha
		case part == "beta":
			spec.PreRelease = featuregate.Beta
		case part == "ga":
			spec.PreRelease = featuregate.GA
		case part == "deprecated":
			spec.PreRelease = featuregate.Deprecated
		case part == "on":
			spec.Default = true
		case part == "locked":
			spec.LockToDefault = true
		default:
			err = fmt.Errorf("cannot read %q", part)
		}
		if err != nil {
			return spec, err
		}
	}
	return spec, nil
}

// validate lists what is wrong with the flags about gates and versions, and the
// gates that Berth cannot honour.
func (g *gates) validate() []error {
	if problems := g.registry.Validate(); len(problems) > 0 {
		return problems
	}
	return notHonoured(g.gate.Enabled)
}

// applyToProcess brings the gates to the libraries that have gates of their own for
// the whole process: those of the API server, which serve, of clients, and of
// metrics. It must be called before any of them is used.
//
// Rules: k8s.io/kubernetes pkg/features/kube_features.go and
// cmd/kube-scheduler/app/server.go, the functions init, 1.37.1, where all of these
// are the same gates.
func (g *gates) applyToProcess() error {
	clientfeatures.ReplaceFeatureGates(clientGates{g.gate})
	metricsfeatures.ApplyFeatureGates(g.gate)

	process := utilfeature.DefaultMutableFeatureGate
	if err := process.SetEmulationVersionAndMinCompatibilityVersion(g.version.EmulationVersion(), g.version.MinCompatibilityVersion()); err != nil {
		return fmt.Errorf("feature gates of the process: %w", err)
	}
	given := map[string]bool{}
	for name := range process.GetAll() {
		if g.gate.ExplicitlySet(name) {
			given[string(name)] = g.gate.Enabled(name)
		}
	}
	if err := process.SetFromMap(given); err != nil {
		return fmt.Errorf("feature gates of the process: %w", err)
	}
	return nil
}

// clientGates are the gates as client-go asks for them.
type clientGates struct{ gate featuregate.FeatureGate }

// Enabled implements [clientfeatures.Gates].
func (c clientGates) Enabled(name clientfeatures.Feature) bool {
	return c.gate.Enabled(featuregate.Feature(name))
}
