// Package volumezone is the plugin VolumeZone: a workload goes to nodes in the
// zone and the region of its volumes.
//
// A volume says where it is with labels, of which those of [Labels] count. Their
// values may list several zones, joined with "__". A node without any of these
// labels takes every volume, as in a cluster of one zone. Any other node must
// have each label that the volume has, with one of its values; for a label of
// the old name the new one will do as well, but not the other way round.
//
// Only claims count, not those that are made for one workload, nor disks. A
// claim without a volume is left out where its class waits for a workload to
// need it; everything else that is missing rejects the workload before any node
// is looked at.
package volumezone
