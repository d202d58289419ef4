// Package configlevel compares how kube-scheduler and Berth read a configuration
// file: whether they take it, what every field is once the defaults are in place,
// what --write-config-to would write, and which plugins run at which extension point,
// in which order and with which weights.
//
// A file goes all the way on both sides: on kube-scheduler's through its codecs, its
// validation and scheduler.New, as its command does it; on Berth's through
// adapters/kubernetes/config and engine.NewRaw. The files are those in the testdata
// of that package and random ones, which change the sets of plugins in every way
// there is.
//
// Of the orders of plugins those of Filter and Score are what Berth's engine says
// itself. It does not tell the others; there the rule by which it expands a profile
// is followed here, over the plugins that it made. The engine's own tests are about
// that rule.
package configlevel
