package kubernetes

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	groupslisters "k8s.io/client-go/listers/scheduling/v1beta1"
	storagelisters "k8s.io/client-go/listers/storage/v1"

	"github.com/berth-project/berth/model"
)

// Pods lists the pods that the adapter watches: those that have not ended. Any
// goroutine may use it.
func (a *Adapter) Pods() corelisters.PodLister { return a.listers.pods }

// Nodes lists the nodes. Any goroutine may use it.
func (a *Adapter) Nodes() corelisters.NodeLister { return a.listers.nodes }

// Groups lists the pod groups, nil where they are not watched. Any goroutine may use
// it.
func (a *Adapter) Groups() groupslisters.PodGroupLister { return a.listers.groups }

// StorageClasses lists the storage classes, nil where they are not watched. Any goroutine may use
// it.
func (a *Adapter) StorageClasses() storagelisters.StorageClassLister { return a.listers.storageClasses }

// OwnerSelector selects the pods that the pod is a replica among, as the engine would
// be told; see convert.OwnerSelector. Any goroutine may call it.
func (a *Adapter) OwnerSelector(p *v1.Pod) *model.Selector { return a.ownerSelector(p) }

// Informers are those of the API server that the adapter asks. What others want of them before
// Run is started with the adapter's own, and waited for before Ready. They must not be
// started by others.
func (a *Adapter) Informers() informers.SharedInformerFactory { return a.factory }

// translated tells of which object something was made.
func (a *Adapter) translated(made, object any) {
	if a.opts.Translated != nil {
		a.opts.Translated(made, object)
	}
}
