package fast

import (
	"github.com/berth-project/berth/engine/internal/framework"
	"github.com/berth-project/berth/extpoints"
)

// Diagnosis says why nothing is feasible, of a search from the place start on. Where all nodes were
// searched it shares what it has, which is never changed, with others of the class.
func (f *Found) Diagnosis(nodes extpoints.Nodes, start int) *framework.Diagnosis {
	if f.part != nil || f.slotFilters || len(f.claimed) > 0 { // what was said is true of this search alone
		return f.diagnose().Of(nodes)
	}
	t := &f.class.told
	if t.diagnosis == nil || t.version != f.class.version || t.start != start {
		*t = told{f.diagnose(), f.class.version, start}
	}
	return t.diagnosis.Of(nodes)
}

// diagnose makes it without the nodes, which would keep the view.
func (f *Found) diagnose() *framework.Diagnosis {
	d := framework.NewDiagnosis(nil, f.Evaluated)
	var namer framework.Namer
	f.Rejected(func(node *extpoints.NodeInfo, v *framework.Verdict) { d.Reject(node, namer.Name(v)) })
	return d
}
