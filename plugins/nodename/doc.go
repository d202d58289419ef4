// Package nodename is the plugin NodeName: a workload that names its node gets
// that node or none.
package nodename
