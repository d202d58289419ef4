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
		var r *extpoints.PostFilterResult
		st := f.seek(s, "PostFilter", p.Name(), func() (st *extpoints.Status) {
			r, st = p.PostFilter(s, w, statuses)
			return st
		})
		switch st.Code() {
		case extpoints.Success, extpoints.UnschedulableAndUnresolvable:
			return r, st.WithPlugin(p.Name())
		case extpoints.Unschedulable, extpoints.Pending:
		default:
			return nil, failed("PostFilter", p.Name(), about(w), st)
		}
		if r != nil && *r != (extpoints.PostFilterResult{}) {
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
	var failure *extpoints.PluginError
	if errors.As(st.AsError(), &failure) {
		return failure.Err.Error()
	}
	return st.Message()
}
