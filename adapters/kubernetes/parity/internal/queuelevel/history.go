package queuelevel

import (
	"io"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/queue"
)

// kind is a kind of history.
type kind int

const (
	whole kind = iota // whole scheduling cycles and binding cycles
	ties              // the same, and many pods enter the queue at the same time
	bare              // nothing but the queues
)

// kindOf is the kind of the case of the number.
func kindOf(number uint64) kind {
	switch number % 8 {
	case 1, 3, 5:
		return bare
	case 6:
		return ties
	}
	return whole
}

// stage is where a pod is, as far as the history itself knows.
type stage string

const (
	queued   stage = "queued"   // on no node
	waiting  stage = "waiting"  // on Permit
	binding  stage = "binding"  // at Bind
	orphaned stage = "orphaned" // at Bind, and deleted meanwhile
	assigned stage = "assigned" // on a node

	flying stage = "flying" // taken out of a bare queue
	lost   stage = "lost"   // the same, and deleted meanwhile
	landed stage = "landed" // taken out and done with, but on no node yet
)

// pod is one pod of a history.
type pod struct {
	*v1.Pod // as the API server has it
	stage   stage
	task    *engine.Task // of its binding
	item    *queue.Item  // where it is flying, lost or landed
}

// id is the workload's.
func (p *pod) id() string { return string(p.UID) }

// history is one random sequence of events that happens to both sides.
type history struct {
	objects
	kind   kind
	script script
	// noPopFromBackoff is that setting of both queues.
	noPopFromBackoff bool

	kube       *reference.Scheduler
	kubeBinder *kubeBinder
	popped     map[types.UID]*framework.QueuedPodInfo // by the reference
	lastPopped string
	failed     bool // the reference's last cycle

	berth  berth
	engine *engineSide // berth, unless that is bare
	queue  *queueSide  // berth, if that is bare
	// rejectors are the plugins that a bare queue is told of.
	rejectors []string

	now   time.Time
	still bool // the next moment is this one
	// fractions of a second at which there has been a moment, in a history of ties.
	fractions map[time.Duration]bool

	nodes  map[string]*v1.Node
	pods   []*pod
	serial int

	report *differences.Report
	log    []string
	tell   io.Writer
	over   bool // the two sides went apart
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newHistory makes both sides, with the same plugins.
func newHistory(o objects, k kind, options Options) (*history, error) {
	h := &history{
		objects: o, kind: k, now: epoch, nodes: map[string]*v1.Node{}, tell: options.Tell,
		popped:     map[types.UID]*framework.QueuedPodInfo{},
		kubeBinder: &kubeBinder{waiting: map[types.UID]chan *fwk.Status{}},
	}
	h.script.seed = o.Uint64()
	// The stranger and the nominator are not used together: a change of a
	// nomination comes back from the API server as an update of the pod, which
	// the stranger takes for a reason to try again.
	third := pick(o, stranger, nominator)
	if k == ties {
		third = stranger
	}
	names, err := shared()
	if err != nil {
		return nil, err
	}
	names = append(names, gatekeeper, guard, third, binder)
	h.rejectors = names
	c := o.timing()
	h.noPopFromBackoff = c.NoPopFromBackoff
	h.note("with %s, backoff %s to %s, timeout %s, no pop from backoff: %t", third, c.InitialBackoff, c.MaxBackoff, c.MaxInUnschedulable, c.NoPopFromBackoff)
	if err := h.makeKube(names, c); err != nil {
		return nil, err
	}
	if err := h.makeBerth(names, c, options); err != nil {
		h.kube.Close()
		return nil, err
	}
	if k == ties {
		h.kube.Clock.Run(true)
		h.fractions = map[time.Duration]bool{}
		h.advance(h.apart(0))
		h.setNode("add", o.node("n0"))
	}
	return h, nil
}

// timing is now and then another than the default one.
func (o objects) timing() queue.Timing {
	c := queue.Timing{NoPopFromBackoff: o.chance(20)}.WithDefaults()
	if o.chance(50) {
		c.InitialBackoff = time.Duration(1+o.IntN(4)) * time.Second
		c.MaxBackoff = pick(o, queue.NoBackoff, c.InitialBackoff, 7*time.Second, time.Minute)
		c.MaxInUnschedulable = pick(o, 20*time.Second, time.Minute, 5*time.Minute)
	}
	return c
}

// apply tells Berth of changes.
func (h *history) apply(changes ...engine.Change) {
	must(h.berth.Apply(h.now, changes...))
}

// in lists the pods in any of the stages.
func (h *history) in(stages ...stage) []*pod {
	var list []*pod
	for _, p := range h.pods {
		if slices.Contains(stages, p.stage) {
			list = append(list, p)
		}
	}
	return list
}

// pod returns the pod with the name, nil where there is none.
func (h *history) pod(id string) *pod {
	for _, p := range h.pods {
		if p.id() == id {
			return p
		}
	}
	return nil
}

// forget drops a pod that is gone.
func (h *history) forget(p *pod) {
	h.pods = slices.DeleteFunc(h.pods, func(o *pod) bool { return o == p })
}

// advance moves both clocks, and lets each side do what it does by itself: the
// reference every second and every 30 seconds, Berth when it says that something
// is due.
func (h *history) advance(d time.Duration) {
	end := h.now.Add(d)
	for !h.over {
		next := h.now.Truncate(time.Second).Add(time.Second)
		if next.After(end) {
			break
		}
		h.setTime(next)
		h.kube.FlushBackoff()
		if next.Equal(next.Truncate(30 * time.Second)) {
			h.kube.FlushUnschedulable()
		}
		if h.berth.DoDue(next) || h.uneven() {
			h.compare("time")
		}
	}
	h.setTime(end)
}

func (h *history) setTime(t time.Time) {
	h.now = t
	h.kube.SetTime(t)
}

// moment lets a little time pass, so that no two pods enter the queue at the
// same time: where an event wakes many of those, the reference does so in the
// random order of a map. In a history of ties there are no such events, and equals
// go in the order in which they came, for which the reference's clock runs.
func (h *history) moment() {
	if h.kind != ties && !h.still {
		h.advance(1 + time.Duration(h.IntN(50))*time.Millisecond)
	}
	h.still = false
}

// uneven is a quick look at whether the queues differ.
func (h *history) uneven() bool {
	q, c := h.kube.Queue(), h.berth.QueueCounts()
	return len(q.PodsInActiveQ()) != c.Active || len(q.PodsInBackoffQ()) != c.Backoff+c.ErrorBackoff
}
