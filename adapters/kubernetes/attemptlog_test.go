package kubernetes_test

import (
	"slices"
	"testing"
	"testing/synctest"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes"
	"github.com/berth-project/berth/adapters/kubernetes/internal/kubetest"
)

// The log has kube-scheduler's lines about each attempt, at its verbosities.
func TestAttemptsAreLogged(t *testing.T) {
	const bound = `"level"=2 "msg"="Successfully bound pod to node" "pod"={"name"="a" "namespace"="default"} "node"="n1"`
	const attemptA = `"level"=3 "msg"="Attempting to schedule pod" "pod"={"name"="a" "namespace"="default"}`
	const attemptB = `"level"=3 "msg"="Attempting to schedule pod" "pod"={"name"="b" "namespace"="default"}`
	const rejected = `"level"=2 "msg"="Unable to schedule pod; no fit; waiting" "pod"={"name"="b" "namespace"="default"}` +
		` "err"="0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."`
	for verbosity, want := range [][]string{nil, nil, {bound, rejected}, {attemptA, bound, attemptB, rejected}} {
		synctest.Test(t, func(t *testing.T) {
			var log said
			client := kubetest.NewServer(node("n1", "2"))
			_, s := start(t, client, kubernetes.Options{Client: client, Logger: log.loggerAt(verbosity)})
			s.create(pod("a", "1"))
			s.until("the pod is bound", func() bool { return s.pod("a").Spec.NodeName != "" && len(s.events("a")) == 1 })
			s.create(pod("b", "3"))
			s.until("the other is not", func() bool { return condition(s.pod("b"), v1.PodScheduled).Status == v1.ConditionFalse })
			log.mu.Lock()
			defer log.mu.Unlock()
			if !slices.Equal(log.lines, want) {
				t.Errorf("at -v=%d: %q, want %q", verbosity, log.lines, want)
			}
		})
	}
}
