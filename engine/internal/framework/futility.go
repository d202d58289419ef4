package framework

import "github.com/berth-project/berth/extpoints"

// Company tries to place workloads together.
type Company interface {
	// Fit reports whether so many of w and the others, in this order, would get a node if
	// all workloads were gone that w may displace.
	Fit(w *extpoints.WorkloadInfo, others []string, need int) bool
}

var companyKey = extpoints.NewStateKey[Company]("company")

// HasCompanions reports whether a plugin of the profile holds workloads for others.
func (f *Framework) HasCompanions() bool { return len(f.companions) > 0 }

// UseCompany lets plugins of the cycle know what fits together.
func UseCompany(s *extpoints.CycleState, c Company) { companyKey.Set(s, c) }

var _ extpoints.Futility = preemption{}

// The reasons for which nobody is displaced.
var (
	rejectedThere = extpoints.NewStatus(extpoints.Unschedulable, "room was made for it before, and it was rejected there")
	alone         = extpoints.NewStatus(extpoints.Unschedulable, "those that it has to be placed with would not fit")
)

// Futile implements [extpoints.Futility].
func (p preemption) Futile(s *extpoints.CycleState, members ...*extpoints.WorkloadInfo) *extpoints.Status {
	if p.env.Compat == extpoints.KubeScheduler137 {
		return nil
	}
	for _, w := range members {
		if p.env.InVain != nil && p.env.InVain(w.ID, s.Now()) {
			return rejectedThere
		}
	}
	company, _ := companyKey.Get(s)
	if company == nil || len(members) != 1 {
		return nil
	}
	for _, c := range p.companions {
		if others, need := c.Companions(s, members[0]); need > 1 && !company.Fit(members[0], others, need) {
			return alone
		}
	}
	return nil
}
