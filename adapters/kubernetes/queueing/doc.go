// Package queueing is what Berth adds to the configuration of kube-scheduler: queues with
// shares, quotas and limits for namespaces, plans by the time limits of pods, and times for
// which nodes are set aside. It is a document of its own in the configuration file, behind
// kube-scheduler's:
//
//	apiVersion: kubescheduler.config.k8s.io/v1
//	kind: KubeSchedulerConfiguration
//	---
//	apiVersion: berth-project.github.io/v1alpha1
//	kind: QueueingConfiguration
//	queues:
//	- name: research
//	  weight: 3
//	  guaranteed: {cpu: "100", nvidia.com/gpu: "8"}
//	- name: production
//	  weight: 1
//
// A namespace is in the queue that its label [NamespaceLabel] names; pods of the others are
// in DefaultQueue, or at the top of the tree where there is none. The pods of one namespace
// go in the order of the profile, and the namespaces of one queue share it. Without the
// document nothing is different from kube-scheduler, and the label has no effect; the
// scheduler logs an error for each namespace that has it.
//
// The limit of a pod is its activeDeadlineSeconds. A pod without it is planned as if it
// never ended.
//
// The file is read once, at the start.
package queueing
