package bridge

import (
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/extpoints"
)

// The codes are the same numbers on both sides; a test says so.

// toOurs translates a plugin's answer.
func toOurs(st *fwk.Status) *extpoints.Status {
	switch code := st.Code(); code {
	case fwk.Success:
		if st != nil && len(st.Reasons()) > 0 { // PostFilter says what it has done
			return extpoints.NewStatus(extpoints.Success, st.Reasons()...)
		}
		return nil
	case fwk.Error:
		return extpoints.AsStatus(st.AsError())
	default:
		return extpoints.NewStatus(extpoints.Code(code), st.Reasons()...)
	}
}

// toTheirs translates an answer for a plugin.
func toTheirs(st *extpoints.Status) *fwk.Status {
	switch {
	case st.IsSuccess():
		return nil
	case st.Code() == extpoints.Error:
		return fwk.AsStatus(st.AsError()).WithPlugin(st.Plugin())
	}
	return fwk.NewStatus(fwk.Code(st.Code()), st.Reasons()...).WithPlugin(st.Plugin())
}

// statuses are those of nodes, for a plugin.
type statuses struct {
	extpoints.NodeStatuses
	root *root
}

// Get implements [fwk.NodeToStatusReader].
func (s statuses) Get(node string) *fwk.Status {
	st := s.NodeStatuses.Get(node)
	if st == nil { // upstream's reader never has nil for a node that is not there
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable)
	}
	return toTheirs(st)
}

// NodesForStatusCode implements [fwk.NodeToStatusReader].
func (s statuses) NodesForStatusCode(_ fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	return s.root.infos(s.WithCode(extpoints.Code(code))), nil
}
