package metrics

import (
	"slices"
	"time"

	"github.com/berth-project/berth/queue"
)

// stage says how far an attempt to place a pod has got.
type stage uint8

const (
	idle      stage = iota // there is none
	filtering              // PreFilter or Filter
	postfiltering
	scoring   // PreScore or Score
	reserving // it has a node
	permitting
	waiting // on Permit
	binding
)

// failedAt are the extension points that a failure in a stage is put down to, for
// the stages on the scheduling goroutine.
var failedAt = [...]string{filtering: "Filter", scoring: "Score", reserving: "Reserve", permitting: "Permit"}

// pod is what is remembered of a pod from when it is submitted to when it is on
// a node. It is touched by the listener alone.
type pod struct {
	profile *profile
	tree    *tree // that it waits with, or was tried with; nil for a pod by itself
	place   queue.Place

	stage   stage
	attempt int
	begun   time.Time     // of the attempt
	since   time.Time     // of waiting or binding
	tried   time.Duration // of a member: how long looking for a node took
	node    string        // that it is to be bound to

	activeAt time.Time // when it first was active; zero for never
	flushed  bool      // the last time it was woken was for waiting too long
	blamed   []string  // plugins in whose gauge it is counted
	victims  int       // asked to leave for its sake since it was last tried
}

// tree is what is remembered of a tree of groups with pods in the queue.
type tree struct {
	id      string
	place   queue.Place
	profile *profile  // of the pods that are tried
	begun   time.Time // of the attempt; zero where there is none
	members int
	victims int
}

// profile returns the series of a profile, also of one that the options did not
// name.
func (r *recorder) profile(name string) *profile {
	p := r.profiles[name]
	if p == nil {
		p = newProfile(r.m, name, false)
		r.profiles[name] = p
	}
	return p
}

// track begins to remember a pod.
func (r *recorder) track(id, profile string) *pod {
	p := &pod{profile: r.profile(profile)}
	r.pods[id] = p
	return p
}

// drop forgets a pod, which has got its node or has gone.
func (r *recorder) drop(id string, p *pod) {
	r.leave(p)
	r.absolve(p)
	r.countVictims(p)
	r.join(p, "")
	delete(r.pods, id)
}

// blame counts a pod among those that a plugin keeps waiting, once.
// (scheduling_queue.go AddUnschedulablePodIfNotPresent and runPreEnqueuePlugin,
// 1.37.1.)
func (r *recorder) blame(p *pod, plugin string) {
	if !slices.Contains(p.blamed, plugin) {
		p.blamed = append(p.blamed, plugin)
		p.profile.rejectors.of(plugin).Inc()
	}
}

// absolve takes it out of these counts: it is tried again, or gone.
// (active_queue.go unlockedMoveEntityToInFlight, 1.37.1.)
func (r *recorder) absolve(p *pod) {
	for _, plugin := range p.blamed {
		p.profile.rejectors.of(plugin).Dec()
	}
	p.blamed = p.blamed[:0]
}

// countVictims records how many pods were asked to leave for the sake of one.
func (r *recorder) countVictims(p *pod) {
	if p.victims > 0 {
		r.m.reference.preempted.Observe(float64(p.victims))
		p.victims = 0
	}
}

// join makes the pod a member of the tree with the ID, empty for none.
func (r *recorder) join(p *pod, root string) {
	var t *tree
	if root != "" {
		if t = r.trees[root]; t == nil {
			t = &tree{id: root}
			r.trees[root] = t
		}
	}
	if t == p.tree {
		return
	}
	if t != nil {
		t.members++
	}
	left := p.tree
	p.tree = t
	if left == nil {
		return
	}
	if left.members--; left.members == 0 {
		r.settle(left, queue.None)
		r.countGroupVictims(left)
		delete(r.trees, left.id)
	}
}

func (r *recorder) countGroupVictims(t *tree) {
	if t.victims > 0 && r.m.reference.groupPreempted != nil {
		r.m.reference.groupPreempted.Observe(float64(t.victims))
	}
	t.victims = 0
}
