// Package controlplane runs a real Kubernetes control plane, and a scheduler for
// it, as child processes on this machine.
//
// [Start] brings up etcd and kube-apiserver 1.37.1 on loopback, with authorisation
// by RBAC and a token for each user; a kube-controller-manager and kwok (which takes
// pods to Running, as kubelets would) are added by methods of [ControlPlane].
// [StartScheduler] runs a scheduler: the real kube-scheduler or berth-scheduler.
//
//	plane, err := controlplane.Start(ctx, controlplane.Options{})
//	defer plane.Stop()
//	scheduler, err := controlplane.StartScheduler(ctx, controlplane.SchedulerOptions{
//		Kind:       controlplane.Berth,
//		Kubeconfig: plane.Kubeconfig(controlplane.SchedulerUser),
//	})
//	defer scheduler.Remove()
//
// The programs are built from this module's requirements by [Path], the first time
// only: about eight minutes on two cores, most of it for kube-apiserver. They are
// kept in the folder that the variable BERTH_E2E_BIN names, by default berth-e2e in
// the user's cache folder, in one subfolder for each content of go.mod and go.sum.
//
// Every child is told by the kernel to die when this program does, so nothing is
// left behind when a test is killed. That, and the figures of [Usage], need Linux.
package controlplane
