package transcript

import (
	"fmt"
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var actions = []struct {
	name   string
	action extpoints.Action
}{
	{"Add", extpoints.Add},
	{"Delete", extpoints.Delete},
	{"Update", extpoints.Update},
	{"All", extpoints.AllActions},
	{"UpdateNodeAllocatable", extpoints.UpdateNodeAllocatable},
	{"UpdateNodeLabel", extpoints.UpdateNodeLabel},
	{"UpdateNodeTaint", extpoints.UpdateNodeTaint},
	{"UpdateNodeDevices", extpoints.UpdateNodeDevices},
	{"UpdateWorkloadLabel", extpoints.UpdateWorkloadLabel},
	{"UpdateWorkloadScaleDown", extpoints.UpdateWorkloadScaleDown},
	{"UpdateWorkloadScaleUp", extpoints.UpdateWorkloadScaleUp},
	{"UpdateWorkloadToleration", extpoints.UpdateWorkloadToleration},
	{"UpdateWorkloadGatesEliminated", extpoints.UpdateWorkloadGatesEliminated},
	{"UpdateWorkloadDeviceClaims", extpoints.UpdateWorkloadDeviceClaims},
}

func eventName(v extpoints.ClusterEvent) string {
	if v.Label != "" {
		return v.Label
	}
	for _, a := range actions {
		if a.action == v.Action {
			return string(v.Resource) + "/" + a.name
		}
	}
	return fmt.Sprintf("%s/%#x", v.Resource, v.Action)
}

// parseEvent reads KIND/ACTION[+ACTION].
func parseEvent(text string) extpoints.ClusterEvent {
	kind, names, _ := strings.Cut(text, "/")
	v := extpoints.ClusterEvent{Resource: model.ObjectKind(kind)}
	for name := range strings.SplitSeq(names, "+") {
		found := false
		for _, a := range actions {
			if a.name == name {
				v.Action |= a.action
				found = true
			}
		}
		if !found {
			panic("there is no action " + name)
		}
	}
	return v
}
