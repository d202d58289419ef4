package pluginlevel

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/extpoints"
)

// status is an answer in words, the same for both sides. The codes are the same
// numbers.
func status(code int, reasons []string) string {
	return strings.TrimSpace(fmt.Sprint(extpoints.Code(code), " ", strings.Join(inOrder(reasons), "; ")))
}

// ofReference leaves out what a plugin has to say where nothing is in the way.
func ofReference(s *fwk.Status) string {
	if s.IsSuccess() {
		return status(0, nil)
	}
	return status(int(s.Code()), s.Reasons())
}

// ofSubject is the answer as Kubernetes' users get it.
func ofSubject(s *extpoints.Status) string { return status(int(s.Code()), words.Texts(s.Reasons())) }

// inOrder sorts the part of the reasons that the reference has in the random
// order of a map: shortages of scalar resources, which come last.
func inOrder(reasons []string) []string {
	sorted := slices.Clone(reasons)
	from := 0
	for from < len(sorted) && !isScalarShortage(sorted[from]) {
		from++
	}
	slices.Sort(sorted[from:])
	return sorted
}

func isScalarShortage(reason string) bool {
	name, ok := strings.CutPrefix(reason, "Insufficient ")
	return ok && name != "cpu" && name != "memory" && name != "ephemeral-storage"
}

// nodeSet is a set of nodes in words; nil means all.
func nodeSet[V any](set map[string]V) string {
	if set == nil {
		return "all nodes"
	}
	return fmt.Sprint(slices.Sorted(maps.Keys(set)))
}

func referenceSet(result *fwk.PreFilterResult) string {
	if result == nil {
		return nodeSet[sets.Empty](nil)
	}
	return nodeSet(result.NodeNames)
}
