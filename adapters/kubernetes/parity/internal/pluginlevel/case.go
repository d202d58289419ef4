package pluginlevel

import (
	"fmt"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/twin"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// How much one case does.
const (
	rounds         = 12 // times that the cluster changes and is looked at
	podsPerRound   = 4
	eventsPerRound = 12
	podsToSign     = 12
)

// comparison is one case under way.
type comparison struct {
	beside
	report *differences.Report
	pairs  []*pair
	views  twin.Views
	handle *extpointstest.Handle // of the subject's plugins
	signed []*v1.Pod
}

// Run runs one case: a cluster that changes, and pods that all plugins are asked
// about.
func Run(seed, number uint64, report *differences.Report, mutation Mutation) error {
	source := generate.New(seed, number, moodOf(number))
	t, err := twin.New(source, reference.Config{}, subject.Config{})
	if err != nil {
		return err
	}
	defer t.Close()
	c := &comparison{beside: beside{Twin: t}, report: report, handle: extpointstest.NewHandle()}
	if c.pairs, err = newPairs(t, c.handle, mutation); err != nil {
		return err
	}
	size := 2 + t.IntN(source.Nodes-3)
	t.Populate(size)
	for range rounds {
		for range 1 + t.IntN(6) {
			t.Disturb(size)
		}
		c.round()
	}
	for range podsToSign {
		c.addSigned(c.candidate())
	}
	c.compareSignatures()
	return nil
}

// moodOf goes through the moods. One case of five is about storage and one about
// devices. Three of eight others are about relations between pods, some of them
// in many zones. In one of three the feature gate of tolerations that compare numbers
// is off.
func moodOf(number uint64) generate.Mood {
	mood := generate.Mood{Nodes: 12, Several: true, Comparing: true, ComparingOff: number%3 == 0}
	switch number % 5 {
	case 3:
		mood.Tame, mood.Storage, mood.Unrelated = true, true, true
		return mood
	case 4:
		mood.Tame, mood.Devices, mood.Unrelated = true, true, true
		return mood
	}
	switch number % 16 {
	case 4:
		mood.Huge, mood.ByContainer = true, true
		return mood
	case 12:
		mood.Odd = true
		return mood
	}
	switch number % 8 {
	case 1, 5:
		mood.Related = true
	case 3:
		mood.Related, mood.Tame = true, true
	case 6:
		mood.Nodes, mood.Zones, mood.Related = 24, 16, true
	case 7:
		mood.Tame = true
	}
	return mood
}

// round asks all plugins about some pods and some events.
func (c *comparison) round() {
	c.roundOfCycles()
	for range eventsPerRound {
		c.compareEvent()
		c.compareQueueing()
	}
}

// roundOfCycles asks all plugins about some pods.
func (c *comparison) roundOfCycles() {
	var pods []*v1.Pod
	for range podsPerRound {
		pods = append(pods, c.candidate())
	}
	c.look() // what was made for the pods included
	if c.views.Compare(c.report) && len(c.views.Reference) > 0 {
		for _, p := range pods {
			q := c.newQuestion(p)
			for _, p := range c.pairs {
				c.compareCycle(p, q)
			}
		}
	}
}

// look brings the views up to date, also that of the subject's plugins.
//
// Without a node the subject has no cycle in which plugins could look at anything.
func (c *comparison) look() {
	if len(c.Nodes()) == 0 {
		c.AddNode()
	}
	c.views = c.Look()
	c.handle.Cluster = c.views.Subject
}

// candidate draws a pod to ask about.
func (c *comparison) candidate() *v1.Pod {
	p := c.NewPod()
	if c.Wild(10) {
		p.Spec.NodeName = generate.NodeName(c.IntN(c.Source.Nodes))
	}
	return p
}

// workload converts a candidate: unlike a pod's, its node is a wish.
func (c *comparison) workload(p *v1.Pod) *model.Workload {
	w := c.Convert(p)
	w.NodeName = p.Spec.NodeName
	return w
}

// question is one pod that plugins are asked about.
type question struct {
	pod  *v1.Pod
	info *extpoints.WorkloadInfo
	// scored are the places in the views of the nodes that are scored.
	scored []int
	// tried is the place of the node on which pods come and go.
	tried int
	// changes are what comes (a pod) and goes (nil: one that is there).
	changes []*v1.Pod
}

func (c *comparison) newQuestion(p *v1.Pod) *question {
	q := &question{pod: p, info: &extpoints.WorkloadInfo{Workload: c.workload(p)}}
	share := generate.Pick(c.Source, 100, 100, 70, 40)
	for i := range c.views.Reference {
		if c.Percent(share) {
			q.scored = append(q.scored, i)
		}
	}
	q.tried = c.IntN(len(c.views.Reference))
	for range c.IntN(4) {
		var comes *v1.Pod
		if c.Percent(60) {
			comes = c.Source.Placed(c.NewPod(), c.views.Reference[q.tried].Node().Name, c.Now())
			if c.Storage && c.Percent(50) { // one that wants the same
				comes.Namespace, comes.Spec.Volumes = p.Namespace, p.Spec.Volumes
			}
		}
		q.changes = append(q.changes, comes)
	}
	return q
}

// detail describes what was asked.
func (c *comparison) detail(p *pair, pod *v1.Pod, node *v1.Node) func() string {
	return func() string {
		text := twin.Describe(pod, node)
		if p.args != "" {
			text = "args " + p.args + "; " + text
		}
		return fmt.Sprintf("%s; %d nodes", text, len(c.views.Reference))
	}
}
