// Package imagelocality is the plugin ImageLocality: a workload prefers nodes that
// already have its images. The score grows with the bytes that need not be pulled.
//
// # Points
//
//	PreScore, Score
//
// # Events
//
//	none
//
// # Signature
//
//	Images
//
// # Parity
//
// Rules: kube-scheduler plugins/imagelocality/image_locality.go, 1.37.1. No
// differences in scores. PreScore only normalises image names once; the reference
// does it for each node.
package imagelocality
