package sysched

import (
	"slices"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "SySched"

// Args are the arguments of the plugin.
type Args struct {
	// Default are the system calls of workloads that name none, in any order. Default: none,
	// nothing is known of such a workload.
	Default []string
}

// Validate returns an error that names everything that is wrong.
func (a Args) Validate() error {
	var p helper.Problems
	if slices.Contains(a.Default, "") {
		p.Addf("default", "has an empty name")
	}
	return p.Err(Name)
}

// SySched is the plugin.
type SySched struct {
	byDefault []string // sorted, each once
}

// New makes the plugin. Its arguments are [Args].
func New(a Args, _ extpoints.Handle) (*SySched, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	list := slices.Clone(a.Default)
	slices.Sort(list)
	return &SySched{slices.Compact(list)}, nil
}

// Name returns the plugin's name.
func (*SySched) Name() string { return Name }

// calls are those that the workload may make; none where nothing is known.
func (p *SySched) calls(w *model.Workload) []string {
	if len(w.Syscalls) > 0 {
		return w.Syscalls
	}
	return p.byDefault
}

// Score counts calls: those of the node that the workload does not make, and of each
// workload there those that it does not make itself, of all that are made once the new one
// is there.
//
// With U for all calls, and n workloads there, that is |U| less the workload's own, and n
// times |U| less what each of them makes: all of them are in U.
func (p *SySched) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	own := p.calls(w.Workload)
	if len(own) == 0 {
		return 0, nil
	}
	sets := [][]string{own} // each once: most workloads make the same calls as others
	n, made := 0, len(own)
	for _, other := range node.Workloads {
		calls := p.calls(other.Workload)
		if len(calls) == 0 {
			continue
		}
		n++
		made += len(calls)
		if !slices.ContainsFunc(sets, func(s []string) bool { return slices.Equal(s, calls) }) {
			sets = append(sets, calls)
		}
	}
	if n == 0 {
		return 0, nil
	}
	return int64((n+1)*union(sets) - made), nil
}

// union is how many different calls there are.
func union(sets [][]string) int {
	if len(sets) == 1 {
		return len(sets[0])
	}
	all := make(map[string]struct{}, 2*len(sets[0]))
	for _, s := range sets {
		for _, call := range s {
			all[call] = struct{}{}
		}
	}
	return len(all)
}

// NormalizeScore makes the least the best.
func (*SySched) NormalizeScore(_ *extpoints.CycleState, _ *extpoints.WorkloadInfo, _ []*extpoints.NodeInfo, scores []int64) *extpoints.Status {
	return helper.DefaultNormalizeScore(extpoints.MaxScore, true, scores)
}

// Sign signs the calls.
func (p *SySched) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{{Key: "Syscalls", Value: string(helper.Canon(nil).Set(p.calls(w)))}}, nil
}

var (
	_ extpoints.ScoreNormalizer = (*SySched)(nil)
	_ extpoints.SignPlugin      = (*SySched)(nil)
)
