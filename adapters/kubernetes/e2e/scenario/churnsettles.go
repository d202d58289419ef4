package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berth-project/berth/adapters/kubernetes/e2e/cluster"
)

// settle returns when all is as it must be after end: each node is full and no more,
// who finds no room says so and gets some that becomes free, each pod that uses a disk
// or a device is bound and has its own, and no disk or device is kept for anybody else.
func (c *churn) settle(t *testing.T) {
	t.Helper()
	defer c.Check(t) // says most where the rest has failed
	for len(c.away) > 0 {
		must(t, c.returnNode(t.Context(), 0))
	}
	for len(c.plain) < mostPods {
		must(t, c.createPlain(t.Context()))
	}
	for len(c.plain) > mostPods {
		must(t, c.deletePlain(t.Context()))
	}
	c.Await(t, "disks of claims that are gone are free", func() error { return c.disksFree(t.Context()) })
	c.AllBound(t, c.disks.app, diskPods)
	c.AllBound(t, c.devices.app, devicePods)
	c.Await(t, "each pod has its disk", func() error { return c.disksUsed(t.Context()) })
	c.Await(t, "each pod has its device", func() error { return c.devicesUsed(t.Context()) })
	c.plainSettle(t)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plainSettle waits until all nodes are full, and makes room for those who wait.
func (c *churn) plainSettle(t *testing.T) {
	t.Helper()
	const room = plainNodes * plainRoom
	c.SomeBound(t, "plain", room)
	var bound, waiting []string
	for _, p := range c.pods(t, "plain") {
		if p.Spec.NodeName != "" {
			bound = append(bound, p.Name)
			continue
		}
		waiting = append(waiting, p.Name)
		c.AwaitPod(t, p.Name, "says that it finds no room", saysUnschedulable)
	}
	if len(bound) != room || len(waiting) != mostPods-room {
		t.Errorf("%d pods are bound and %d wait, want %d and %d", len(bound), len(waiting), room, mostPods-room)
	}
	for _, name := range bound[:len(waiting)] {
		must(t, c.deletePod(t.Context(), name))
	}
	for node, n := range c.AllBound(t, "plain", room) {
		if n != plainRoom {
			t.Errorf("node %s has %d pods, want %d", node, n, plainRoom)
		}
	}
}

func saysUnschedulable(p *corev1.Pod) error {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
			return nil
		}
	}
	return fmt.Errorf("its conditions are %v", p.Status.Conditions)
}

// pods are those with the label app, as the API server has them.
func (c *churn) pods(t *testing.T, app string) []corev1.Pod {
	t.Helper()
	all, err := c.Client.CoreV1().Pods(cluster.Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + app})
	must(t, err)
	return all.Items
}

// disksFree recycles volumes, and says which are still to be.
func (c *churn) disksFree(ctx context.Context) error {
	stale, err := c.recycle(ctx)
	if err != nil {
		return err
	}
	claims, err := c.diskClaims(ctx)
	if err == nil && (len(stale) > 0 || len(claims) != diskPods) {
		err = fmt.Errorf("there are %d claims for %d pods, and %q", len(claims), diskPods, stale)
	}
	return err
}

// disksUsed says which pod that uses a disk is not where its disk is, and which disk is
// nobody's and yet not free.
func (c *churn) disksUsed(ctx context.Context) error {
	volumes, err := c.Client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	claims, err := c.diskClaims(ctx)
	if err != nil {
		return err
	}
	var problems []error
	used := map[string]string{} // node of the volume, by claim
	for _, v := range volumes.Items {
		if v.Spec.ClaimRef == nil {
			continue
		}
		claim := claims[v.Spec.ClaimRef.UID]
		if claim == nil || claim.Spec.VolumeName != v.Name || claim.Status.Phase != corev1.ClaimBound {
			problems = append(problems, fmt.Errorf("volume %s is %s for %s, which does not have it", v.Name, v.Status.Phase, v.Spec.ClaimRef.Name))
			continue
		}
		used[claim.Name] = nodeOf(&v)
	}
	for i, claim := range c.disks.claims {
		pod, err := c.Client.CoreV1().Pods(cluster.Namespace).Get(ctx, c.disks.pod(i), metav1.GetOptions{})
		if err == nil && (used[claim] == "" || used[claim] != pod.Spec.NodeName) {
			err = fmt.Errorf("pod %s is on %q, its volume on %q", pod.Name, pod.Spec.NodeName, used[claim])
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// nodeOf is the node that a local volume is on.
func nodeOf(v *corev1.PersistentVolume) string {
	return v.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
}

// devicesUsed says which pod that uses a device has none to itself, and which claim is
// for somebody who is gone.
func (c *churn) devicesUsed(ctx context.Context) error {
	all, err := c.Client.ResourceV1().ResourceClaims(cluster.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(all.Items) != devicePods {
		return fmt.Errorf("there are %d claims for %d pods", len(all.Items), devicePods)
	}
	var problems []error
	holders := map[string]string{}
	for i := range all.Items {
		claim := &all.Items[i]
		number := slices.Index(c.devices.claims, claim.Name)
		if number < 0 {
			return fmt.Errorf("claim %s is no pod's", claim.Name)
		}
		pod, err := c.Client.CoreV1().Pods(cluster.Namespace).Get(ctx, c.devices.pod(number), metav1.GetOptions{})
		if err != nil {
			return err
		}
		device, err := deviceFor(claim, pod)
		if err == nil && holders[device] != "" {
			err = fmt.Errorf("pods %s and %s have device %s", holders[device], pod.Name, device)
		}
		problems = append(problems, err)
		holders[device] = pod.Name
	}
	return errors.Join(problems...)
}

// deviceFor is the device that the claim has, if it is for the pod alone and on its
// node.
func deviceFor(claim *resourcev1.ResourceClaim, pod *corev1.Pod) (string, error) {
	uids := []types.UID{}
	for _, user := range claim.Status.ReservedFor {
		uids = append(uids, user.UID)
	}
	if !slices.Equal(uids, []types.UID{pod.UID}) {
		return "", fmt.Errorf("claim %s is for %q, want pod %s, %q", claim.Name, uids, pod.Name, pod.UID)
	}
	a := claim.Status.Allocation
	if a == nil || len(a.Devices.Results) != 1 || a.Devices.Results[0].Pool != pod.Spec.NodeName {
		return "", fmt.Errorf("claim %s has %+v, want a device of node %s", claim.Name, a, pod.Spec.NodeName)
	}
	return a.Devices.Results[0].Pool + "/" + a.Devices.Results[0].Device, nil
}
