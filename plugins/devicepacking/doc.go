// Package devicepacking is the plugin DevicePacking: it scores nodes by how well
// a workload packs onto their devices, and thereby decides how much of the
// devices can still be used when the cluster is nearly full.
//
// A profile gives it one of seven policies (Args.Policy). Six are those that are compared
// in "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
// Fragmentation Gradient Descent" (USENIX ATC'23); Rollout looks further ahead:
//
//	policy      prefers the node                                       score of a workload without devices
//	Random      that is drawn                                          same
//	DotProd     with least left of what the workload wants most (Tetris)  same
//	Clustering  that has workloads of the same kind (Gandiva)          0
//	Packing     where devices that are in use will do (Antman)         0
//	BestFit     with least left after the workload                     same
//	FGD         whose idle devices lose least of their use for the
//	            typical workloads, after the workload is placed        same
//	Rollout     whose idle devices lose least of their use, both for
//	            the next workload and after many more, and whose
//	            models others need least                               same
//
// BestFit is the default: it needs to know nothing. Where the mix of workloads is known
// (Args.Typical) FGD packs better, and Rollout best: on the published traces it
// leaves 0.2 to 1.6 points less of all devices idle than FGD, and several points less where
// many workloads name models; engine/decisions/0046 has the numbers. Where the mix is
// not known Rollout learns it from the workloads on nodes (Args.Relearn), and packs nearly as
// well. A decision of Rollout costs up to about 1.5 times one of FGD, and up to
// three times where it learns.
//
// Several requests are placed one after the other; devices are judged by
// their own model. Of devices that are equally good the first by index is taken; of nodes with
// the same score the one that engine.Config.TieBreak says.
//
// Where devices are not listed but counted, as an amount of a resource, Rollout takes that
// (Args.Resource). It then keeps CPU beside idle devices, and models for those who name
// them; which device a share goes to is not known, so it cannot see rests that are scattered.
//
// The plugin only compares nodes. Use it together with Devices, which keeps
// workloads off nodes that cannot serve them:
//
//	extpoints.Use(&profile, devices.New, extpoints.NoArgs{})
//	extpoints.Use(&profile, devicepacking.New, devicepacking.Args{Policy: devicepacking.Rollout}, extpoints.Weight(20))
//
// The weight has to outweigh plugins that spread workloads. A profile has one policy; to
// compare several, give each a profile of its own.
//
// # Points
//
//	PreFilter (with some arguments), PreScore (with some arguments), Score, ScoreNormalizer (with some arguments)
//
// In PreFilter, Random, FGD and Rollout choose the device of a shared request, by a
// helper.DeviceChooser.
//
// # Events
//
//	none
//
// # Signature
//
//	Requests
//	EstimatedLoad
//	Devices
//	FitLoad
//	(refuses some workloads)
//
// Random signs nothing, because its scores do not depend on the workload, nor does
// Rollout where it learns or models are named, because they depend on all nodes.
//
// # Parity
//
// kube-scheduler has no such plugin. The formulas of the six are those of the authors'
// experiments, to the digit, if a workload has one request of the class and the
// devices of a node are of one model.
package devicepacking
