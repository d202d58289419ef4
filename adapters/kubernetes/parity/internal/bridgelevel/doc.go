// Package bridgelevel compares kube-scheduler with an engine that runs kube-scheduler's own
// plugins, by package adapters/kubernetes/bridge, in the histories of package decisionlevel.
// What is compared there is compared here: decisions, messages, victims, nominations, and
// where each pod is in the queue. So the bridge is compared, and not the plugins.
package bridgelevel
