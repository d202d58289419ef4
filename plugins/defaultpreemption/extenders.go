package defaultpreemption

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berth-project/berth/extpoints"
)

// askExtenders lets the extenders that are interested in the workload drop
// candidates and choose other victims, one after the other. An extender that
// fails, or wants no victim on a node, fails the attempt unless it may be
// ignored: then what it says, or that node, is left out.
//
// Rules: kube-scheduler framework/preemption/preemption.go callExtenders,
// 1.37.1.
func (p *DefaultPreemption) askExtenders(s *extpoints.CycleState, w *extpoints.WorkloadInfo, candidates []candidate, q *queues) ([]candidate, error) {
	var victims map[string]*extpoints.Victims // nil until one is asked
	for _, e := range p.handle.Preemption().Extenders() {
		if !e.Interested(w.Workload) {
			continue
		}
		if victims == nil {
			victims = byName(candidates)
		}
		answer, err := e.Preempt(s.Context(), w, victims, s.View().Nodes())
		if err == nil {
			answer, err = checked(answer, victims, e)
		} else if e.Ignorable {
			continue
		}
		if err != nil {
			return nil, err
		}
		if victims = answer; len(victims) == 0 {
			break
		}
	}
	if victims == nil {
		return candidates, nil
	}
	left := make([]candidate, 0, len(victims))
	for _, c := range candidates {
		chosen := c.victims
		if c.victims = victims[c.name()]; c.victims != nil && q.agree(chosen, c.victims) {
			left = append(left, c)
		}
	}
	return left, nil
}

func byName(candidates []candidate) map[string]*extpoints.Victims {
	victims := make(map[string]*extpoints.Victims, len(candidates))
	for i := range candidates {
		victims[candidates[i].name()] = candidates[i].victims
	}
	return victims
}

// checked returns the nodes of the answer that have victims.
func checked(answer, victims map[string]*extpoints.Victims, e extpoints.Extender) (map[string]*extpoints.Victims, error) {
	valid := make(map[string]*extpoints.Victims, len(answer))
	for _, node := range slices.Sorted(maps.Keys(answer)) {
		switch v := answer[node]; {
		case v != nil && len(v.Workloads) > 0 && victims[node] != nil:
			valid[node] = v
		case e.Ignorable:
		case victims[node] == nil:
			return nil, fmt.Errorf("extender %q chooses node %q, which is no candidate", e.Name, node)
		default:
			return nil, fmt.Errorf("expected at least one victim on node %q", node)
		}
	}
	return valid, nil
}
