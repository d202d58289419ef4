package devicepacking

import "github.com/berth-project/berth/extpoints"

// clustering keeps workloads of one kind together. On top of up to 25 points
// for how much of the devices is in use,
//
//	b = 25 * (largestShares - G) / largestShares
//
// a node that has only workloads of the same kind gets 75, one that has some of
// it 50, one without workloads that use devices 25.
type clustering struct{ deterministic }

// kind is what clustering compares: none, a share of one device, or a number of
// whole ones.
type kind int64

const (
	kindNone  kind = 0
	kindShare kind = -1
)

func (p *clustering) kindOf(w *extpoints.WorkloadInfo) kind {
	var devices int64
	whole := false
	for i := range w.Workload.Devices {
		if r := &w.Workload.Devices[i]; r.Class == p.class {
			devices += r.Count
			whole = whole || r.IsWhole()
		}
	}
	if devices > 0 && !whole {
		return kindShare
	}
	return kind(devices)
}

// Score is 0 for a workload without devices.
func (p *clustering) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	own := p.kindOf(w)
	if own == kindNone {
		return extpoints.MinScore, nil
	}
	same, other := p.company(own, node)
	score := 25 * (p.largestShares - p.idle(node)) / p.largestShares
	switch {
	case same && !other:
		score += 75
	case same:
		score += 50
	case !other:
		score += 25
	}
	return inRange(score), nil
}

// company reports whether the node has workloads of the kind, and of others.
func (p *clustering) company(own kind, node *extpoints.NodeInfo) (same, other bool) {
	for _, w := range node.Workloads {
		switch p.kindOf(w) {
		case kindNone:
		case own:
			same = true
		default:
			other = true
		}
		if same && other {
			break
		}
	}
	return same, other
}
