package app

import (
	"fmt"
	"io"
	"strings"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
	utilversion "k8s.io/component-base/version"

	"github.com/berth-project/berth/adapters/kubernetes/internal/release"
)

// unstamped is in what component-base takes for the version of a program whose linker
// was not told one.
const unstamped = "$Format"

// versionInfo is the version of Kubernetes that the command stands in for: the one that
// the linker was told, as Kubernetes' own builds do, or else that of the libraries.
func versionInfo() apimachineryversion.Info {
	info := utilversion.Get()
	if !strings.Contains(info.GitVersion, unstamped) {
		return info
	}
	parts := strings.Split(release.Kubernetes, ".")
	info.Major, info.Minor = parts[0], parts[1]
	info.GitVersion, info.GitCommit = "v"+release.Kubernetes, ""
	return info
}

// printVersion does what the flag --version asks for, and reports whether that was
// anything. (component-base version/verflag PrintAndExitIfRequested, v0.37.1.)
func printVersion(out io.Writer, asked string) bool {
	switch asked {
	case "true":
		fmt.Fprintf(out, "Kubernetes %s\n", versionInfo())
	case "raw":
		fmt.Fprintf(out, "%#v\n", versionInfo())
	default:
		return false
	}
	return true
}

// registerBuildInfo registers a metric with the version. (component-base
// metrics/prometheus/version, v0.37.1.)
func registerBuildInfo(register func(...metrics.Registerable)) {
	vec := metrics.NewGaugeVec(&metrics.GaugeOpts{
		Name: "kubernetes_build_info",
		Help: "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, " +
			"Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
		StabilityLevel: metrics.BETA,
	}, []string{"major", "minor", "git_version", "git_commit", "git_tree_state", "build_date", "go_version", "compiler", "platform"})
	register(vec)
	i := versionInfo()
	vec.WithLabelValues(i.Major, i.Minor, i.GitVersion, i.GitCommit, i.GitTreeState, i.BuildDate, i.GoVersion, i.Compiler, i.Platform).Set(1)
}

// Once a process: it is registered with those of the process.
func init() { registerBuildInfo(legacyregistry.MustRegister) }
