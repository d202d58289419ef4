package framework

import (
	"errors"

	"github.com/berth-project/berth/extpoints"
)

// PostFilter runs the PostFilter plugins until one ends the round. Semantics:
// kube-scheduler framework/runtime/framework.go RunPostFilterPlugins, 1.37.1.
func (f *Framework) PostFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (*extpoints.PostFilterResult, *extpoints.Status) {
	var result *extpoints.PostFilterResult
	var reasons []string
	var rejector string
	for _, p := range f.postFilter {
		r, st := callPostFilter(p, s, w, statuses)
		switch st.Code() {
		case extpoints.Success, extpoints.UnschedulableAndUnresolvable:
			return r, st.WithPlugin(p.Name())
		case extpoints.Unschedulable, extpoints.Pending:
		default:
			return nil, failed("PostFilter", p.Name(), st)
		}
		if r != nil && r.NominatingInfo != nil && r.Mode != extpoints.NominatingNoop {
			result = r // the last one that says something counts
		}
		reasons = append(reasons, st.Reasons()...)
		if rejector == "" {
			rejector = p.Name()
		}
	}
	return result, extpoints.NewStatus(extpoints.Unschedulable, reasons...).WithPlugin(rejector)
}

// PostFilterMessage is what the one-line summary says of PostFilter's outcome:
// of a failure, as in kube-scheduler, the plugin's own words only.
func PostFilterMessage(st *extpoints.Status) string {
	var failure *PluginError
	if errors.As(st.AsError(), &failure) {
		return failure.Err.Error()
	}
	return st.Message()
}

func callPostFilter(p extpoints.PostFilterPlugin, s *extpoints.CycleState, w *extpoints.WorkloadInfo, statuses extpoints.NodeStatuses) (r *extpoints.PostFilterResult, st *extpoints.Status) {
	defer func() {
		if cause := recover(); cause != nil {
			r, st = nil, panicked("PostFilter", p.Name(), cause)
		}
	}()
	return p.PostFilter(s, w, statuses)
}
