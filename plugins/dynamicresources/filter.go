package dynamicresources

import (
	"errors"
	"fmt"
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/dynamicresources/allocator"
)

const notAvailable = "device claim not available on the node"

var (
	cannotAllocate   = rejection("cannot allocate all claims")
	claimUnavailable = rejection(notAvailable)
)

// Filter lets the node pass where the claims that have devices can be used from
// there, and the others can be given some.
func (p *DynamicResources) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	st, ok := stateKey.Get(s)
	if !ok {
		return nil // nothing to do for this workload
	}
	search, status := st.searchOn(node.Node)
	if status != nil {
		return status
	}
	if search != nil {
		fits, err := search.Fits(node.Node)
		if err != nil {
			return failure(node.Node, err)
		}
		if !fits {
			return cannotAllocate
		}
	}
	if slices.ContainsFunc(st.claims, func(c claim) bool { return c.unavailable(node.Node) }) {
		return claimUnavailable
	}
	return nil
}

// searchOn returns the search for what is to be given on the node, nil where
// that is nothing.
func (st *state) searchOn(n *model.Node) (allocator.Search, *extpoints.Status) {
	if st.resources == nil {
		return st.search, nil
	}
	v, status := st.resources.on(n)
	if v == nil || status != nil {
		return st.search, status
	}
	return v.search, nil
}

// failure is the status for a search on the node that ended with an error.
func failure(n *model.Node, err error) *extpoints.Status {
	var onNode *allocator.NodeError
	switch {
	case errors.Is(err, allocator.ErrTooManySteps):
		return extpoints.AsStatus(fmt.Errorf("node %s: timed out trying to allocate devices", n.Name))
	case errors.As(err, &onNode):
		return rejection(err.Error())
	}
	return extpoints.AsStatus(err)
}
