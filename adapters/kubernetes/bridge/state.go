package bridge

import (
	"context"
	"sync"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/extpoints"
)

// cycle is the [fwk.CycleState] of the bridged plugins of a profile in a cycle. It lies in
// the engine's CycleState, and is cloned with it.
type cycle struct {
	*root
	workload *extpoints.WorkloadInfo
	pod      *v1.Pod
	// ours is the engine's state in which this lies.
	ours atomic.Pointer[extpoints.CycleState]
	// under is what the calls of plugins are given, but for those that have their own.
	under context.Context
	// making: PostFilter is being called.
	making atomic.Bool

	mu   sync.RWMutex
	data map[fwk.StateKey]fwk.StateData
}

var _ fwk.CycleState = (*cycle)(nil)

// held holds a cycle in the engine's state.
type held struct{ *cycle }

// Clone is for clones of the engine's state.
func (h held) Clone() held {
	old := h.cycle
	c := &cycle{root: old.root, workload: old.workload, pod: old.pod}
	c.under = context.WithValue(old.ctx, cycleKey{}, c)
	old.mu.RLock()
	defer old.mu.RUnlock()
	if len(old.data) > 0 {
		c.data = make(map[fwk.StateKey]fwk.StateData, len(old.data))
		for key, value := range old.data {
			c.data[key] = value.Clone()
		}
	}
	return held{c}
}

// cycles is the key of the cycle. All profiles of a host have the same: a state belongs to
// one.
var cycles = extpoints.NewStateKey[held]("kube-scheduler plugins")

// cycleKey is the key of the cycle in a context.
type cycleKey struct{}

// cycleOf is the cycle for which a plugin was called with the context, nil for none.
func cycleOf(ctx context.Context) *cycle {
	c, _ := ctx.Value(cycleKey{}).(*cycle)
	return c
}

// newCycle makes the plugins' side of the engine's state.
func (h *Host) newCycle(s *extpoints.CycleState, w *extpoints.WorkloadInfo) *cycle {
	r := &root{host: h, ctx: s.Context(), ours: s, view: s.View(), own: !s.Trial() && !s.MakingRoom() && s.Group() == nil}
	c := &cycle{root: r, workload: w, pod: h.podInfo(w, "").Pod}
	c.ours.Store(s)
	c.under = context.WithValue(r.ctx, cycleKey{}, c)
	return c
}

// begin is the cycle of the state, which is made if there is none: for points that may write
// to the state.
func (h *Host) begin(s *extpoints.CycleState, w *extpoints.WorkloadInfo) *cycle {
	if known, ok := cycles.Get(s); ok {
		return known.in(s)
	}
	c := h.newCycle(s, w)
	c.data = map[fwk.StateKey]fwk.StateData{framework.PodsToActivateKey: framework.NewPodsToActivate()}
	cycles.Set(s, held{c})
	return c
}

// current is the cycle of the state, for points that must not write to it. Where none of the
// plugins has been called at a point that may, there is none: then one without data will do,
// and the last one that was made is kept.
func (h *Host) current(s *extpoints.CycleState, w *extpoints.WorkloadInfo) *cycle {
	if known, ok := cycles.Get(s); ok {
		return known.in(s)
	}
	// The memory of a state may be used again for another, which has another seed.
	if c := h.bare.Load(); c != nil && c.ours.Load() == s && c.workload == w && c.view == s.View() && c.seed == s.Seed() {
		return c.cycle
	}
	c := h.newCycle(s, w)
	h.bare.Store(&bare{c, s.Seed()})
	return c
}

// bare is a cycle without data, and the seed of its state.
type bare struct {
	*cycle
	seed uint64
}

// in notes in which state the cycle lies: a clone cannot know.
func (h held) in(s *extpoints.CycleState) *cycle {
	if h.ours.Load() != s {
		h.ours.Store(s)
	}
	return h.cycle
}

// trying reports whether the cycle only tries something out. One of a group's becomes real.
func (c *cycle) trying() bool { return c.ours.Load().Trial() }

// Read implements [fwk.CycleState].
func (c *cycle) Read(key fwk.StateKey) (fwk.StateData, error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if value, ok := c.data[key]; ok {
		return value, nil
	}
	return nil, fwk.ErrNotFound
}

// Write implements [fwk.CycleState].
func (c *cycle) Write(key fwk.StateKey, value fwk.StateData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.data == nil {
		c.data = map[fwk.StateKey]fwk.StateData{}
	}
	c.data[key] = value
}

// Delete implements [fwk.CycleState].
func (c *cycle) Delete(key fwk.StateKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.data, key)
}

// Clone implements [fwk.CycleState]: the engine's state is cloned too, so that its filters can
// be asked about the clone.
func (c *cycle) Clone() fwk.CycleState {
	ours := c.ours.Load().Clone()
	if clone, ok := cycles.Get(ours); ok {
		return clone.in(ours)
	}
	clone := held{c}.Clone()
	cycles.Set(ours, clone)
	return clone.in(ours)
}

// activate passes on what plugins have put among the pods to activate.
func (c *cycle) activate() {
	value, err := c.Read(framework.PodsToActivateKey)
	pods, ok := value.(*framework.PodsToActivate)
	if err != nil || !ok {
		return
	}
	pods.Lock()
	defer pods.Unlock()
	for key, pod := range pods.Map {
		c.ours.Load().Activate(string(pod.UID))
		delete(pods.Map, key)
	}
}

// What follows belongs to kube-scheduler's own loop, which asks nobody here.

// ShouldRecordPluginMetrics implements [fwk.CycleState]. The engine measures.
func (*cycle) ShouldRecordPluginMetrics() bool { return false }

// GetSkipFilterPlugins implements [fwk.CycleState].
func (*cycle) GetSkipFilterPlugins() sets.Set[string] { return nil }

// SetSkipFilterPlugins implements [fwk.CycleState].
func (*cycle) SetSkipFilterPlugins(sets.Set[string]) {}

// GetSkipScorePlugins implements [fwk.CycleState].
func (*cycle) GetSkipScorePlugins() sets.Set[string] { return nil }

// SetSkipScorePlugins implements [fwk.CycleState].
func (*cycle) SetSkipScorePlugins(sets.Set[string]) {}

// GetSkipPreBindPlugins implements [fwk.CycleState].
func (*cycle) GetSkipPreBindPlugins() sets.Set[string] { return nil }

// SetSkipPreBindPlugins implements [fwk.CycleState].
func (*cycle) SetSkipPreBindPlugins(sets.Set[string]) {}

// GetParallelPreBindPlugins implements [fwk.CycleState].
func (*cycle) GetParallelPreBindPlugins() sets.Set[string] { return nil }

// SetParallelPreBindPlugins implements [fwk.CycleState].
func (*cycle) SetParallelPreBindPlugins(sets.Set[string]) {}

// ShouldSkipAllPostFilterPlugins implements [fwk.CycleState].
func (*cycle) ShouldSkipAllPostFilterPlugins() bool { return false }

// IsPodGroupSchedulingCycle implements [fwk.CycleState].
func (c *cycle) IsPodGroupSchedulingCycle() bool { return c.ours.Load().Group() != nil }

// GetPodGroupSchedulingCycle implements [fwk.CycleState]. The states of groups are not
// served.
func (*cycle) GetPodGroupSchedulingCycle() fwk.PodGroupCycleState { return nil }

// GetPlacementCycleState implements [fwk.CycleState]. See GetPodGroupSchedulingCycle.
func (*cycle) GetPlacementCycleState() fwk.PlacementCycleState { return nil }
