// Package nodeunschedulable is the plugin NodeUnschedulable: nodes that are
// marked unschedulable take no new workload, except those that tolerate it.
package nodeunschedulable
