package volumebinding

import "github.com/berth-project/berth/extpoints"

// The reasons.
const (
	// ReasonNodeConflict is given for nodes from which a volume that a claim is
	// bound to cannot be used.
	ReasonNodeConflict = "node(s) didn't match volume's node affinity"
	// ReasonBindConflict is given for nodes for which a claim gets no volume:
	// none that is there, and none can be made.
	ReasonBindConflict = "node(s) didn't find available volumes to bind"
	// ReasonNotEnoughSpace is given for nodes for which a volume could be made
	// if there were more room.
	ReasonNotEnoughSpace = "node(s) did not have enough free storage"
	// ReasonVolumeGone is given for all nodes where a claim is bound to a volume
	// that is not there.
	ReasonVolumeGone = "node(s) unavailable due to one or more volume claims bound to non-existent volumes"
	// ReasonImmediate is given for workloads with a claim that somebody else
	// has to bind first.
	ReasonImmediate = "workload has unbound immediate volume claims"
)

var (
	skip      = extpoints.NewStatus(extpoints.Skip)
	immediate = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, ReasonImmediate)
)

// verdict is what is wrong with a node; 0 is nothing.
type verdict uint8

// The parts of a verdict, in the order in which their reasons are given.
const (
	nodeConflict verdict = 1 << iota
	bindConflict
	notEnoughSpace
	volumeGone

	verdicts
)

var verdictReasons = []string{ReasonNodeConflict, ReasonBindConflict, ReasonNotEnoughSpace, ReasonVolumeGone}

// statuses has the status of each verdict.
var statuses = func() (list [verdicts]*extpoints.Status) {
	for v := range verdicts {
		var reasons []string
		for i, reason := range verdictReasons {
			if v&(1<<i) != 0 {
				reasons = append(reasons, reason)
			}
		}
		if v != 0 {
			list[v] = extpoints.NewStatus(extpoints.UnschedulableAndUnresolvable, reasons...)
		}
	}
	return list
}()
