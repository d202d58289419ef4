package sidebyside

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/dynamicresources"
)

// berth is Berth.
type berth struct {
	raw  *engine.Raw
	row  Row
	now  time.Time
	made int // workloads of the row
	// since is how many had been made at the last Reset.
	since int
}

// NewBerth makes Berth with the cluster, as it is used.
func NewBerth(r Row, c Cluster) (Side, error) { return newBerth(r, c, engine.FastPathAuto) }

// NewReference makes Berth with the cluster, without its fast decider.
func NewReference(r Row, c Cluster) (Side, error) { return newBerth(r, c, engine.FastPathOff) }

func newBerth(r Row, c Cluster, fast engine.FastPath) (Side, error) {
	profile := plugins.DefaultProfile()
	profile.PercentageOfNodesToScore = &c.Share
	extpoints.Use(&profile, dynamicresources.New, dynamicresources.Args{Evaluator: cel.New()}, extpoints.InPlaceOf(plugins.DynamicResources))
	if c.NoLots {
		subject.BreakTies(&profile, lots)
	}
	raw, err := engine.NewRaw(engine.Config{
		Profiles:     []extpoints.Profile{profile},
		Orchestrator: &extpointstest.Orchestrator{},
		Workers:      1,
		FastPath:     fast,
	})
	if err != nil {
		return nil, err
	}
	b := &berth{raw: raw, row: r, now: epoch}
	b.put(r.common())
	for i := range c.Nodes {
		n, err := convert.Node(r.node(i))
		must(err)
		b.apply(engine.PutNode(n))
		b.put(r.nodeObjects(i))
	}
	for i := range c.Nodes {
		for j := range c.PodsPerNode {
			p := r.already(i, j)
			b.put(r.needs(p))
			w, err := convert.Pod(p)
			must(err)
			b.apply(engine.Adopt(w, model.Binding{Node: p.Spec.NodeName, Since: p.Status.StartTime.Time}))
		}
	}
	return b, nil
}

func (b *berth) put(list []runtime.Object) {
	for _, object := range list {
		change, err := subject.Put(object, convert.Gates{})
		must(err)
		b.apply(change)
	}
}

func (b *berth) apply(changes ...engine.Change) { must(b.raw.Apply(b.now, changes...)) }

// Name implements [Side].
func (b *berth) Name() string { return "berth" }

// Limit implements [Side].
func (b *berth) Limit() int { return b.row.Limit() }

// Queue implements [Side].
func (b *berth) Queue(n int) {
	for i := range n * b.row.Pods() {
		if b.row.Members > 0 && i%b.row.Members == 0 {
			b.put([]runtime.Object{b.row.group(b.made / b.row.Members)})
		}
		p := b.row.pod(b.made)
		b.put(b.row.needs(p))
		w, err := convert.Pod(p)
		must(err)
		b.made++
		b.now = b.now.Add(time.Microsecond) // first come, first served
		b.apply(engine.Submit(w))
	}
}

// Decide implements [Side].
func (b *berth) Decide() {
	if !b.raw.Schedule(b.now) {
		panic("sidebyside: nothing is queued")
	}
}

// Reset implements [Side].
func (b *berth) Reset() []string {
	var chosen []string
	first := b.since
	for ; b.since < b.made; b.since++ {
		id := string(b.row.pod(b.since).UID)
		row, _ := b.raw.View().Workload(id)
		chosen = append(chosen, row.Node+row.Nominated)
		b.apply(engine.Remove(id))
	}
	for t := b.raw.NextTask(); t != nil; t = b.raw.NextTask() {
		t.Settle(errors.New("nobody is to go"))
		b.raw.Finish(b.now, t)
	}
	for _, object := range b.row.gone(first, b.made) {
		change, err := subject.Gone(object)
		must(err)
		b.apply(change)
	}
	b.now = b.now.Add(time.Minute)
	return chosen
}

// Close implements [Side].
func (b *berth) Close() {}
