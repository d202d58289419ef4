package reference

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// held is a framework whose binding cycles wait at their beginning until they are
// let go.
type held struct {
	framework.Framework

	mu    sync.Mutex
	gate  chan struct{}     // closed when they are let go
	bound map[string]string // nodes, by the names of pods
	ended *sync.Cond        // signalled when a pod is bound
}

// HoldBindings lets the goroutines that bind wait, until [Scheduler.LetBind],
// so that what a cycle takes can be told from what comes after it. What
// kube-scheduler says about the state of a group is forgotten from then on.
func (s *Scheduler) HoldBindings() {
	h := &held{Framework: s.Framework, gate: make(chan struct{}), bound: map[string]string{}}
	h.ended = sync.NewCond(&h.mu)
	s.held, s.Profiles[ProfileName] = h, h
}

// LetBind lets the goroutines go that bind, waits until so many pods are bound,
// and returns the pods' nodes, by name.
func (s *Scheduler) LetBind(pods int) map[string]string {
	h := s.held
	late := time.AfterFunc(patience, func() { panic(fmt.Sprintf("reference: waiting for %d bindings", pods)) })
	defer late.Stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.gate)
	for len(h.bound) < pods {
		h.ended.Wait()
	}
	bound := h.bound
	h.gate, h.bound = make(chan struct{}), map[string]string{}
	s.begin()
	return bound
}

// await waits until the binding cycles are let go.
func (h *held) await() {
	h.mu.Lock()
	gate := h.gate
	h.mu.Unlock()
	<-gate
}

// RunPreBindPreFlights implements [framework.Framework]; it is the first that a
// binding cycle does.
func (h *held) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) *fwk.Status {
	h.await()
	return h.Framework.RunPreBindPreFlights(ctx, state, pod, node)
}

// RunPostBindPlugins implements [framework.Framework]; it is the last that is done
// for a pod.
func (h *held) RunPostBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) {
	h.Framework.RunPostBindPlugins(ctx, state, pod, node)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bound[pod.Name] = node
	h.ended.Broadcast()
}
