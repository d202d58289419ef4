package bridge

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	coreinformers "k8s.io/client-go/informers/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// The plugins' informers are the adapter's, but for one pod: that for which room is being made.
// kube-scheduler's Evaluator looks it up anew by its name (framework/preemption/preemption.go
// evaluate, 1.37.1), and on a branch there may be no such pod in the API, or it is about to be
// nominated to another node than the API server has told.

type informerFactory struct {
	informers.SharedInformerFactory
	host *Host
}

// Core implements [informers.SharedInformerFactory].
func (f informerFactory) Core() core.Interface {
	return coreGroup{f.SharedInformerFactory.Core(), f.host}
}

type coreGroup struct {
	core.Interface
	host *Host
}

// V1 implements [core.Interface].
func (g coreGroup) V1() coreinformers.Interface { return coreVersion{g.Interface.V1(), g.host} }

type coreVersion struct {
	coreinformers.Interface
	host *Host
}

// Pods implements [coreinformers.Interface].
func (v coreVersion) Pods() coreinformers.TypedPodInformer {
	return podInformer{v.Interface.Pods(), v.host}
}

type podInformer struct {
	coreinformers.TypedPodInformer
	host *Host
}

// Lister implements [coreinformers.TypedPodInformer].
func (i podInformer) Lister() corelisters.PodLister {
	return podLister{i.TypedPodInformer.Lister(), i.host}
}

type podLister struct {
	corelisters.PodLister
	host *Host
}

// Pods implements [corelisters.PodLister].
func (l podLister) Pods(namespace string) corelisters.PodNamespaceLister {
	return podNamespaceLister{l.PodLister.Pods(namespace), l.host, namespace}
}

type podNamespaceLister struct {
	corelisters.PodNamespaceLister
	host      *Host
	namespace string
}

// Get implements [corelisters.PodNamespaceLister].
func (l podNamespaceLister) Get(name string) (*v1.Pod, error) {
	if c := l.host.making.Load(); c != nil && c.pod.Namespace == l.namespace && c.pod.Name == name {
		return c.pod, nil
	}
	return l.PodNamespaceLister.Get(name)
}
