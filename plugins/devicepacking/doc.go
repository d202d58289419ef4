// Package devicepacking is the plugin DevicePacking: it scores nodes by how well
// a workload packs onto their devices, and thereby decides how much of the
// devices can still be used when the cluster is nearly full.
//
// A profile gives it one of six policies (Args.Policy), those that are compared
// in "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent" (USENIX ATC'23):
//
//	policy      prefers the node                                       score of a workload without devices
//	Random      that is drawn                                          same
//	DotProd     with least left of what the workload wants most (Tetris)  same
//	Clustering  that has workloads of the same kind (Gandiva)          0
//	Packing     where devices that are in use will do (Antman)         0
//	BestFit     with least left after the workload                     same
//	FGD         whose idle devices lose least of their use for the
//	            typical workloads, after the workload is placed        same
//
// BestFit is the default: it needs to know nothing. FGD packs best where the mix
// of workloads is known (Args.Typical).
//
// The formulas are those of the authors' experiments, to the digit, where a
// workload has one request of the class and the devices of a node are of one
// model. Several requests are placed one after the other; devices are judged by
// their own model.
//
// The plugin only compares nodes. Enable it together with Devices, which keeps
// workloads off nodes that cannot serve them, and through MultiPoint: Random and
// FGD also choose the device of a shared request, in PreFilter, by a
// helper.DeviceChooser. Only one policy fits a profile; to compare several give
// each its own profile.
package devicepacking
