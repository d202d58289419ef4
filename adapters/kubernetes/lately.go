package kubernetes

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// lately are objects as the API server had them after a write of this adapter, until
// the informers know of it: what an object was before its own last write an adapter
// must not believe. kube-scheduler's assume cache is for the same
// (pkg/scheduler/util/assumecache, 1.37.1). It may be used by any goroutine.
type lately[T metav1.Object] struct{ objects sync.Map } // by UID

// wrote is told of an object as the API server has it after a write.
func (l *lately[T]) wrote(o T) { l.objects.Store(o.GetUID(), o) }

// newest is the object as it was written last, where known is older than that, else
// known.
func (l *lately[T]) newest(known T) T {
	written, ok := l.objects.Load(known.GetUID())
	if !ok {
		return known
	}
	if o := written.(T); predates(known, o.GetResourceVersion()) {
		return o
	}
	l.objects.CompareAndDelete(known.GetUID(), written)
	return known
}

// outdated reports whether the object was written since it was as it is here.
func (l *lately[T]) outdated(o T) bool {
	return l.newest(o).GetResourceVersion() != o.GetResourceVersion()
}

// follow forgets writes when the informer knows of them.
func (l *lately[T]) follow(informer cache.SharedIndexInformer) error {
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(now any) { l.newest(now.(T)) },
		UpdateFunc: func(_, now any) { l.newest(now.(T)) },
		DeleteFunc: func(o any) {
			if last, unknown := o.(cache.DeletedFinalStateUnknown); unknown {
				o = last.Obj
			}
			l.objects.Delete(o.(T).GetUID())
		},
	})
	return err
}
