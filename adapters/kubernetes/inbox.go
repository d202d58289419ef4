package kubernetes

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/berth-project/berth/engine"
)

// report is what an informer said: an object came (no before), changed, or went
// (no after).
type report struct {
	source        *source
	rank          int // of the source
	before, after any
}

// inbox holds what the informers have said and the engine was not told yet, in the
// order in which they said it. Reports about one object are in their order; between
// kinds of objects there is none.
type inbox struct {
	mu      sync.Mutex
	reports []report
	wake    chan struct{} // holds at most one
}

// put is called on the informers' goroutines.
func (b *inbox) put(r report) {
	b.mu.Lock()
	b.reports = append(b.reports, r)
	b.mu.Unlock()
	poke(b.wake)
}

// poke wakes who waits at the channel, which holds at most one.
func poke(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // somebody is awake already
	}
}

// take takes everything out. The reports given are reused.
func (b *inbox) take(used []report) []report {
	clear(used)
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.reports
	b.reports = used[:0]
	return all
}

// batch is how many changes the engine is told at once, at most: a transaction of
// go-memdb gets slower beyond some thousand rows.
const batch = 1000

// tell tells the engine what the informers say, until ctx ends: first everything
// that there is, when all of them know it, in an order that does not depend on
// chance, and then whatever comes, all that has come in one transaction.
func (a *Adapter) tell(ctx context.Context) {
	var synced []cache.InformerSynced
	for _, s := range a.sources {
		synced = append(synced, s.synced)
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return
	}
	a.factory.WaitForCacheSync(ctx.Done()) // of what others want, too
	a.tellQueueing()
	a.warnOfConfiguration(time.Now())
	first := a.inbox.take(nil)
	slices.SortStableFunc(first, older)
	a.tellAll(first)
	if a.CatchUp(ctx) != nil {
		return
	}
	close(a.ready)
	reports := first
	ticker := time.NewTicker(comparePeriod)
	defer ticker.Stop()
	var differences map[string]difference
	leads := a.opts.Leads
	for {
		select {
		case <-ctx.Done():
			return
		case <-leads:
			leads = nil
			a.pods.speakUp()
		case <-ticker.C:
			differences = a.mend(ctx, differences)
		case <-a.inbox.wake:
			reports = a.inbox.take(reports)
			a.tellAll(reports)
		}
	}
}

// older sorts reports by their source, and those of one source by the age and the name
// of what they are about: the order in which nodes and pods come counts in decisions.
// The API server knows the age in whole seconds only, so that of pods the one goes
// first that was written first, which is the order in which they were made if nobody
// has changed them since. (Nodes are written all the time, and are to keep their order
// when the scheduler starts again.) Reports about one version of an object are equal,
// and stay as they came.
func older(x, y report) int {
	a, b := x.object(), y.object()
	if c := cmp.Compare(x.rank, y.rank); c != 0 || a == nil || b == nil {
		return c
	}
	return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time), cmp.Compare(podVersion(a), podVersion(b)), cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// podVersion is the version of a pod, higher the later it was written; 0 for anything
// else.
func podVersion(o v1.Object) uint64 {
	if _, ok := o.(*corev1.Pod); !ok {
		return 0
	}
	version, _ := strconv.ParseUint(o.GetResourceVersion(), 10, 64) //nolint:errcheck // without a number it is as old as any
	return version
}

// object is what the report is about. (Informers report nothing else.)
func (r *report) object() v1.Object {
	if o, ok := r.after.(v1.Object); ok {
		return o
	}
	o, _ := r.before.(v1.Object)
	return o
}

// tellAll translates the reports and tells the engine. One of two goroutines that tell
// at the same time goes first with all that it has, so that what is told later is newer.
func (a *Adapter) tellAll(reports []report) {
	a.telling.Lock()
	defer a.telling.Unlock()
	var changes []engine.Change
	for i := range reports {
		if r := &reports[i]; !r.source.told.isOld(r.before, r.after) {
			changes = append(changes, r.source.translate(r.before, r.after)...)
		}
		if len(changes) >= batch || i == len(reports)-1 {
			a.apply(changes)
			changes = changes[:0]
		}
	}
}

// apply tells the engine of the changes, all at once, or where it refuses any, one by
// one, so that one object that it cannot take in does not hide the others.
func (a *Adapter) apply(changes []engine.Change) {
	if len(changes) == 0 {
		return
	}
	if a.engine.Apply(changes...) == nil {
		return
	}
	for _, ch := range changes {
		if err := a.engine.Apply(ch); err != nil {
			a.refused(ch, err)
		}
	}
}
