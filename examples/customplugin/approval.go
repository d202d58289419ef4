package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// ApprovalName is the plugin's name.
const ApprovalName = "Approval"

// ApprovalArgs are the plugin's arguments.
type ApprovalArgs struct {
	// Within is how long somebody may think about it. Default: a minute.
	Within time.Duration
}

// Approval holds workloads with the label "approval": "needed" back, with their
// node reserved, until a person has said yes or no. No answer in
// time means no.
type Approval struct {
	args   ApprovalArgs
	handle extpoints.Handle
}

var (
	_ extpoints.PermitPlugin      = (*Approval)(nil)
	_ extpoints.EnqueueExtensions = (*Approval)(nil)
)

// NewApproval makes the plugin.
func NewApproval(a ApprovalArgs, h extpoints.Handle) (*Approval, error) {
	a.Within = cmp.Or(a.Within, time.Minute)
	if a.Within < 0 || a.Within > extpoints.MaxPermitTimeout {
		return nil, fmt.Errorf("plugin %s: Within: %v is not in [0, %v]", ApprovalName, a.Within, extpoints.MaxPermitTimeout)
	}
	return &Approval{args: a, handle: h}, nil
}

// Name returns the plugin's name.
func (*Approval) Name() string { return ApprovalName }

// Permit lets a workload wait if it needs an approval.
func (p *Approval) Permit(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, _ *model.Binding) (*extpoints.Status, time.Duration) {
	if w.Labels["approval"] != "needed" {
		return nil, 0
	}
	return extpoints.NewStatus(extpoints.Wait, "somebody must approve"), p.args.Within
}

// Answer is for the person: it may be called from any goroutine. It reports
// whether the workload was waiting.
func (p *Approval) Answer(id string, yes bool, comment string) bool {
	w := p.handle.Waiting().Get(id)
	if w == nil {
		return false
	}
	if yes {
		w.Allow(ApprovalName)
	} else {
		w.Reject(ApprovalName, comment)
	}
	return true
}

// EventsToRegister says what may change the plugin's mind: a new version of the
// workload. (Without this method any event would.)
func (p *Approval) EventsToRegister() ([]extpoints.EventHint, error) {
	return []extpoints.EventHint{{
		Event: extpoints.ClusterEvent{Resource: extpoints.TargetWorkload, Action: extpoints.UpdateWorkloadLabel},
	}}, nil
}
