// Package nodeports is the plugin NodePorts: a workload that needs ports of the
// node goes where they are free.
package nodeports
