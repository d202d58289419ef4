package queue

import (
	"fmt"

	"github.com/berth-project/berth/extpoints"
)

// ProfileGate stands, among the names of plugins, for the queue itself where it gates a
// workload whose profile is not there. Only an update of the workload opens it.
const ProfileGate = "Profile"

// lacksProfile reports whether the item's profile is not there, and gates it then: there
// are no plugins to ask about it. Members of trees of groups have a profile.
func (q *Queue) lacksProfile(it *Item) bool {
	if it.Group != nil || q.isProfile(it.Workload.Profile) {
		return false
	}
	it.GatingPlugin = ProfileGate
	it.Gate = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, fmt.Sprintf(
		"there is no profile %q; update the workload to a profile of the configuration, or add this one and start the engine again",
		it.Workload.Profile)).WithPlugin(ProfileGate)
	return true
}

// isProfile reports whether there is a profile of the name.
func (q *Queue) isProfile(name string) bool { return q.cfg.Profiles == nil || q.cfg.Profiles[name] }
