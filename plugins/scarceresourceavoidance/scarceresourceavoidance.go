package scarceresourceavoidance

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "ScarceResourceAvoidance"

// Args are the arguments.
type Args struct {
	// Resources are the names of those that are scarce: mostly scalars, but model.CPU,
	// model.Memory and model.EphemeralStorage may be, too. Required.
	Resources []string
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	if len(a.Resources) == 0 {
		p.Addf("resources", "must not be empty")
	}
	if slices.Contains(a.Resources, "") {
		p.Addf("resources", "a name is empty")
	}
	return p.Err(Name)
}

// ScarceResourceAvoidance is the plugin. It has no state.
type ScarceResourceAvoidance struct{ scarce []string }

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, _ extpoints.Handle) (*ScarceResourceAvoidance, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &ScarceResourceAvoidance{a.Resources}, nil
}

// Name returns the plugin's name.
func (*ScarceResourceAvoidance) Name() string { return Name }

// Score is the part, in percent, that is not scarce of the resources which the node has and the
// workload does not ask for; the highest score where there are none.
func (p *ScarceResourceAvoidance) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	var besides, scarce int64
	count := func(name string, has int64) {
		if has <= 0 || w.Requests.Get(name) > 0 {
			return
		}
		besides++
		if slices.Contains(p.scarce, name) {
			scarce++
		}
	}
	has := &node.Node.Allocatable
	count(model.CPU, has.CPU)
	count(model.Memory, has.Memory)
	count(model.EphemeralStorage, has.EphemeralStorage)
	for i := range has.Scalars {
		count(has.Scalars[i].Name, has.Scalars[i].Amount)
	}
	if besides == 0 {
		return extpoints.MaxScore, nil
	}
	return (besides - scarce) * extpoints.MaxScore / besides, nil
}

// NodeLocal implements [extpoints.NodeLocalPlugin]: it reads which resources the workload asks for.
func (*ScarceResourceAvoidance) NodeLocal(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, key []byte) ([]byte, bool) {
	c := helper.Canon(key)
	for _, name := range w.Requests.Names() {
		if w.Requests.Get(name) > 0 {
			c = c.Str(name)
		}
	}
	return c, true
}

// Sign signs the requests.
func (*ScarceResourceAvoidance) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{helper.RequestsFragment(w)}, nil
}

var (
	_ extpoints.ScorePlugin     = (*ScarceResourceAvoidance)(nil)
	_ extpoints.NodeLocalPlugin = (*ScarceResourceAvoidance)(nil)
	_ extpoints.SignPlugin      = (*ScarceResourceAvoidance)(nil)
)
