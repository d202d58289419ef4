// Package imagelocality is the plugin ImageLocality: a workload prefers nodes
// that already have its images, in proportion to how much need not be copied.
package imagelocality
