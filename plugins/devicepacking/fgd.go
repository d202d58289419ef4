package devicepacking

import (
	"math"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// fgd is fragmentation gradient descent: it prefers the node and the device by
// which the fragmentation F of the node (see [fragments]) grows least.
//
//	100 * sigmoid((F before - F after) / 1000)
//
// For a share every device that fits is tried; the first of the best truncated
// score is scored and taken: a device that is better by less than a point does
// not replace an earlier one. Whole devices are taken from the lowest index.
type fgd struct {
	deterministic
	fragments fragments
}

func newFGD(b base, a Args) extpoints.ScorePlugin {
	return &fgd{deterministic{b}, newFragments(a.Typical)}
}

// PreFilter makes the plugin choose the devices.
func (p *fgd) PreFilter(s *extpoints.CycleState, w *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	return p.makeChoice(s, w, p)
}

// Score is the formula, truncated. Of several requests each is placed after the
// one before it, and the last one's score, which counts them all, is the node's.
func (p *fgd) Score(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) (int64, *extpoints.Status) {
	var b buffer
	t := p.newTrial(&b, w, node)
	score := int64(-1)
	for i := range w.Workload.Devices {
		if r := &w.Workload.Devices[i]; r.Class == p.class {
			score = t.place(r).score
		}
	}
	if score < 0 {
		score = t.score()
	}
	return score, nil
}

// ChooseDevices chooses the device that was scored, for shares; the choice of
// whole devices is the one that everybody makes.
func (p *fgd) ChooseDevices(_ *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo, request int, free []int64) []int {
	r := &w.Workload.Devices[request]
	if r.Class != p.class || r.IsWhole() {
		return nil
	}
	var b buffer
	t := p.newTrial(&b, w, node)
	t.load(free)
	chosen := t.place(r).device
	if chosen < 0 {
		return nil
	}
	return []int{t.indexOf(chosen)}
}

// trial is a workload that is being placed on a node for the sake of argument.
type trial struct {
	pool   // what is left after what was placed so far
	judge  *fragments
	before float64 // F of the node as it is
}

func (p *fgd) newTrial(b *buffer, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) trial {
	t := trial{pool: newPool(b, p.class, node), judge: &p.fragments}
	t.before = t.judge.of(&t.pool)
	t.cpu -= w.Requests.CPU
	return t
}

// score is the score of what was placed so far.
func (t *trial) score() int64 {
	return percent(sigmoid((t.before - t.judge.of(&t.pool)) / 1000))
}

// placement is the outcome of placing one request: for a share the device, by
// its place in the pool, else -1; and the score.
type placement struct {
	device int
	score  int64
}

// place takes devices for the request out of the pool, as far as there are any.
func (t *trial) place(r *model.DeviceRequest) placement {
	if r.IsWhole() {
		var buffer [stackDevices]int
		chosen, _ := helper.TightestDevices(buffer[:0], t.devices, t.free, r)
		for _, d := range chosen {
			t.free[d] -= r.Share
		}
		return placement{-1, t.score()}
	}
	best := placement{-1, -1}
	for d := range t.devices {
		if t.free[d] < r.Share || !r.Admits(&t.devices[d]) || t.sameBefore(d) {
			continue
		}
		t.free[d] -= r.Share
		if score := t.score(); score > best.score {
			best = placement{d, score}
		}
		t.free[d] += r.Share
	}
	if best.device < 0 {
		return placement{-1, t.score()}
	}
	t.free[best.device] -= r.Share
	return best
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
