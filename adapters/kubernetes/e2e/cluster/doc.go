// Package cluster is what a test sees of a Kubernetes cluster: it makes objects and
// waits for what happens to them, through the API alone.
//
//	c, err := cluster.Connect(ctx, plane.Config(controlplane.AdminUser))
//	defer c.Close()
//	c.Create(t, cluster.Node("n1").Obj(), cluster.Pod("p").Req(cluster.CPU("1")).Obj())
//	c.BoundTo(t, "p", "n1")
//
// Objects are built with the wrappers that kube-scheduler's own tests use
// (k8s.io/kubernetes/pkg/scheduler/testing); [Pod], [Node] and others start them
// with what the API server insists on and a test does not care about.
//
// Waiting is done on informers: a wait ends with the change that it waits for, and
// gives up after [Patience], which says what is missing. Nothing sleeps. When a test
// has failed, [Cluster.Dump] tells what the cluster looks like.
package cluster
