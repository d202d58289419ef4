package dynamicresources

import (
	"strings"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// maxAlternatives is the score of the first alternative of a request; each
// further one is worth one less (k8s.io/api/resource/v1
// FirstAvailableDeviceRequestMaxSize, 0.37.1).
const maxAlternatives = 8

// Score adds up, over the requests with alternatives, how well they like the one
// that they get on the node. A workload that is given nothing in this cycle has
// no preference. (computeScore.)
func (p *DynamicResources) Score(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	st, ok := stateKey.Get(s)
	if !ok || st.search == nil && st.resources == nil || !st.prioritized() {
		return 0, nil
	}
	search, status := st.searchOn(node.Node)
	if status != nil {
		return 0, extpoints.AsStatus(status.AsError())
	}
	var given []*model.Allocation
	if search != nil {
		var err error
		if given, err = search.Allocate(node.Node, s.Seed()); err != nil {
			return 0, extpoints.AsStatus(err)
		}
	} else if st.resources == nil {
		return 0, nil
	}
	var score int64
	for i := range st.claims {
		c := st.claims[i].DeviceClaim
		a := c.Allocation
		if a == nil && len(given) > 0 {
			a, given = given[0], given[1:]
		}
		if a != nil {
			score += scoreOf(c, a)
		}
	}
	return score, nil
}

// prioritized reports whether there is a request with alternatives.
func (st *state) prioritized() bool {
	for i := range st.claims {
		for j := range st.claims[i].Requests {
			if st.claims[i].Requests[j].Prioritized {
				return true
			}
		}
	}
	return false
}

// scoreOf is the part of the score that is about one claim.
func scoreOf(c *model.DeviceClaim, a *model.Allocation) (score int64) {
	for i := range c.Requests {
		r := &c.Requests[i]
		if !r.Prioritized {
			continue
		}
		for j := range r.Alternatives {
			if got(a, r.Name, r.Alternatives[j].Name) {
				score += int64(maxAlternatives - j)
			}
		}
	}
	return score
}

// got reports whether there is a device for the alternative of the request.
func got(a *model.Allocation, request, alternative string) bool {
	for i := range a.Devices {
		name, rest, found := strings.Cut(a.Devices[i].Request, "/")
		if found && name == request && rest == alternative {
			return true
		}
	}
	return false
}

// NormalizeScore stretches the scores to the best one.
func (*DynamicResources) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	return helper.DefaultNormalizeScore(extpoints.MaxScore, false, scores)
}
