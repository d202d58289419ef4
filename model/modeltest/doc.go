// Package modeltest helps tests that need model objects, in three ways:
//
//   - builders ([Node], [Workload]) for tests that say exactly what they need;
//   - generators (RandomNode, RandomWorkload, ... [RandomCluster]) of valid
//     objects, for properties that hold for all of them. They prefer the odd
//     corners: nothing at all, zero, the largest int64, empty strings, lists
//     that are empty but not nil, values that occur twice. Names, label keys
//     and label values come from small pools, so that selectors do find
//     something;
//   - breakers (BreakNode, BreakWorkload, ...) that make a valid object invalid
//     in one random way and say for which field that must be reported.
//
// The same seed gives the same objects. A test prints its seed, so that a
// failure can be repeated:
//
//	seed := rand.Uint64()
//	t.Logf("seed %d", seed)
//	r := rand.New(rand.NewPCG(seed, 0))
//
// This package is for tests and other kits only.
package modeltest
