package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// TopologyPolicy says what a node does with a workload whose parts cannot each have all
// that they request from one of its zones.
type TopologyPolicy string

// The policies, those of Kubernetes' Topology Manager; the empty value means AlignNone.
const (
	AlignNone       TopologyPolicy = "none"             // it does not look at zones
	AlignBestEffort TopologyPolicy = "best-effort"      // it takes from several
	AlignRestricted TopologyPolicy = "restricted"       // it refuses what fewer zones could serve if they were empty
	AlignSingleZone TopologyPolicy = "single-numa-node" // it refuses the workload
)

// TopologyScope says what is served from one zone.
type TopologyScope string

// The scopes; the empty value means AlignContainer.
const (
	AlignContainer TopologyScope = "container" // each of the [Workload].Containers by itself
	AlignWorkload  TopologyScope = "workload"  // the workload as a whole
)

// maxZoneID is the largest number of a zone.
const maxZoneID = 63

// NodeTopology is how a node's resources are divided among its NUMA zones, and how much is
// left in each. Who measures puts the whole report in place of the last one, whenever
// something has changed. Nothing in the engine looks at it, only plugins do.
type NodeTopology struct {
	Node string // identity: the name of the node, which need not be there
	// At is when what is left was read. What was placed then or later is not in it, unless
	// Workloads says so.
	At     time.Time
	Source string         // who has read it, for people; may be empty
	Policy TopologyPolicy // empty: AlignNone
	Scope  TopologyScope  // empty: AlignContainer
	// MaxZones is how many zones the node can have at most: the unit of a score that counts
	// them. 0: 8, as in Kubernetes.
	MaxZones int
	// Zones are in ascending order of ID.
	Zones []NodeZone
	// Listed: Workloads are all whose use is in the report, so that all others on the node
	// were placed since, whenever that was. One that was placed after At has come back, and
	// counts among those. Else it goes by At alone.
	Listed bool
	// Workloads are IDs of workloads, in ascending order, each once.
	Workloads []string
	// Uses say what Workloads take of the zones, where it is known. It is room that comes
	// back when one of them leaves.
	Uses []ZoneUse
}

// NodeZone is a NUMA zone of a node.
type NodeZone struct {
	ID int // 0 to 63, unique in the node
	// Resources are those that belong to the zone, each once. Others belong to the node as a
	// whole.
	Resources []ZoneResource
	// Distances to the zones of the IDs, that to itself included: 0 to 255. One that is not
	// there is not known, and counts as 255.
	Distances map[int]int
}

// ZoneResource is how much there is of a resource in a zone.
type ZoneResource struct {
	Name        string // of the resource
	Allocatable int64  // in all; see [Node].Allocatable
	Available   int64  // what nothing has for itself
}

// ZoneUse is what a workload has of a zone for itself.
type ZoneUse struct {
	Workload  string    // ID
	Zone      int       // ID
	Resources Resources // how much of each
}

func (*NodeTopology) sealed() {}

// clone returns a deep copy, nil of nil.
func (t *NodeTopology) clone() *NodeTopology {
	return clonePointer(t, func(t *NodeTopology) {
		t.Zones = cloneEach(t.Zones, func(z *NodeZone) {
			z.Resources, z.Distances = slices.Clone(z.Resources), maps.Clone(z.Distances)
		})
		t.Workloads = slices.Clone(t.Workloads)
		t.Uses = cloneEach(t.Uses, func(u *ZoneUse) { u.Resources = u.Resources.Clone() })
	})
}

// Validate returns all that is wrong with the report as a [*ValidationError], nil where it
// is valid.
func (t *NodeTopology) Validate() error {
	var c checker
	c.notEmpty("node", t.Node)
	if t.At.IsZero() {
		c.report("at", "must be set")
	}
	c.time("at", t.At)
	c.text("source", t.Source)
	oneOfOrEmpty(&c, "policy", t.Policy, []TopologyPolicy{AlignNone, AlignBestEffort, AlignRestricted, AlignSingleZone})
	oneOfOrEmpty(&c, "scope", t.Scope, []TopologyScope{AlignContainer, AlignWorkload})
	c.between("maxZones", int64(t.MaxZones), 0, 1024)
	for i := range t.Zones {
		c.item("zones", i)
		c.zone(&t.Zones[i])
		if i > 0 && t.Zones[i].ID <= t.Zones[i-1].ID {
			c.report("id", fmt.Sprintf("%d does not come after %d", t.Zones[i].ID, t.Zones[i-1].ID))
		}
		c.leave()
	}
	c.ascending("workloads", t.Workloads)
	var uses unique[workloadInZone]
	for i := range t.Uses {
		c.item("uses", i)
		c.zoneUse(t, &t.Uses[i])
		uses.check(&c, "workload and zone", workloadInZone{t.Uses[i].Workload, t.Uses[i].Zone})
		c.leave()
	}
	return invalid("topology of the node", t.Node, c.problems)
}

// workloadInZone is what there is one use of.
type workloadInZone struct {
	workload string
	zone     int
}

func (c *checker) zone(z *NodeZone) {
	c.between("id", int64(z.ID), 0, maxZoneID)
	var names unique[string]
	for i := range z.Resources {
		r := &z.Resources[i]
		c.item("resources", i)
		c.notEmpty("name", r.Name)
		c.atLeast("allocatable", r.Allocatable, 0)
		c.atLeast("available", r.Available, 0)
		names.check(c, "name", r.Name)
		c.leave()
	}
	for _, id := range slices.Sorted(maps.Keys(z.Distances)) {
		c.between(fmt.Sprintf("distances[%d]", id), int64(z.Distances[id]), 0, 255)
		if id < 0 || id > maxZoneID {
			c.report(fmt.Sprintf("distances[%d]", id), fmt.Sprintf("is of no zone: IDs are between 0 and %d", maxZoneID))
		}
	}
}

func (c *checker) zoneUse(t *NodeTopology, u *ZoneUse) {
	if _, listed := slices.BinarySearch(t.Workloads, u.Workload); !listed {
		c.report("workload", fmt.Sprintf("%q is not one of the workloads", u.Workload))
	}
	if _, known := slices.BinarySearchFunc(t.Zones, u.Zone, func(z NodeZone, id int) int { return cmp.Compare(z.ID, id) }); !known {
		c.report("zone", fmt.Sprintf("%d is not one of the zones", u.Zone))
	}
	c.resources("resources", &u.Resources)
}
