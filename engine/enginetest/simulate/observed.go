package simulate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

const (
	// cardResource is a scalar resource for which the cards stand.
	cardResource = "example.com/card"
	// simDriver is the storage driver of all volumes that are not local.
	simDriver = "csi.disk"
)

// observed is what can be seen of an engine at one moment, from outside, and
// what those around it know. The checkers below look at nothing else, so that
// each can be shown a state that is wrong.
type observed struct {
	at     time.Time
	groups map[string]*model.Group
	nodes  map[string]*model.Node
	rows   map[string]model.WorkloadRecord
	ids    []string // of rows, sorted

	positions map[string]queue.Position // of all workloads that were ever heard of
	counts    queue.Counts
	waiting   map[string]bool // on permit
	// tasks are the binding tasks that are not given back: those that the
	// engine counts on, and those that it has given up.
	tasks, abandoned map[string]int
	// asked are the objects that bindings are about which were called off.
	asked map[model.ObjectRef]bool

	// dense is the view that the next cycle gets, nil where there are no nodes.
	dense extpoints.ClusterView
	// lists are the engine's answers to questions about parts of the rows.
	lists []listed

	book map[string]*booked
	// forced are the nodes on which the last input, and not the engine, has
	// put more, or has left less room.
	forced map[string]bool
	// plansAhead: the engine does. Only a moment says so.
	plansAhead bool
	byApps     bool // TopologicalSort orders; only a moment says so, too
	// disputed are ports that several workloads of a node were put on from
	// outside. The first to go frees such a port.
	disputed map[nodePort]bool

	index   uint64 // of the engine's last transaction
	objects objects
	holds   []*model.Hold
	told    bool // the last input has reported objects
	// topologies and loads are what nodes have reported; nil where the last input has.
	topologies map[string]*model.NodeTopology
	loads      map[string]*model.NodeLoad

	// graphs and costs are what the engine was last told of applications and of what the network costs; toldGraphs is when.
	graphs     map[string]*model.AppGraph
	costs      *model.NetworkCosts
	toldGraphs time.Time

	used map[string]*usage // see usage

	queues     map[string]*model.Queue // that are defined, as the next two are
	principals map[string]*model.Principal
	limits     map[string]*model.Limit
	spent      map[gauge]spent // of limits on what is used over time
	// past is what parts of the order by queues have used, decayed. Only a moment has it.
	past map[partName]map[string]int64
}

// gauge is what a limit counts together: everything, or what one principal has.
type gauge struct{ limit, principal string }

// spent is what has been used of a limit on resource-seconds since it was said: at least so much,
// decayed.
type spent struct {
	limit *model.Limit
	used  float64
}

// listed is a list of workloads and what it should be.
type listed struct {
	what      string
	got, want []string
}

type nodePort struct {
	node string
	port model.HostPort
}

// booked is what the orchestrator's own book says of a workload.
type booked struct {
	spec *model.Workload
	// node is where it runs or is terminating; empty where it does not run.
	node    string
	devices []model.DeviceShare
	leaving bool
	ended   bool
	// known: the engine was told that it runs there.
	known bool
	// unreported: a confirmation is still to be sent.
	unreported bool
	// grants are what its node has given it of zones; none, where the node could not.
	grants []zoneGrant
}

// lost forgets that the workload runs.
func (e *booked) lost() {
	e.node, e.devices, e.known, e.unreported, e.leaving, e.grants = "", nil, false, false, false, nil
}

// zoneGrant is what a node has given a workload of a zone.
type zoneGrant struct {
	zone   int
	amount model.Resources
}

// measure looks at what nodes have reported.
func (o *observed) measure(v *engine.View) {
	o.topologies, o.loads = map[string]*model.NodeTopology{}, map[string]*model.NodeLoad{}
	for row := range v.Objects(model.NodeTopologyKind) {
		t := row.Object.(*model.NodeTopology)
		o.topologies[t.Node] = t
	}
	for row := range v.Objects(model.NodeLoadKind) {
		l := row.Object.(*model.NodeLoad)
		o.loads[l.Node] = l
	}
}

// problems collects what a checker found.
type problems []string

func (p *problems) add(format string, args ...any) {
	*p = append(*p, fmt.Sprintf(format, args...))
}

// objects are what can be seen of storage and devices at one moment.
type objects map[model.ObjectRef]model.ObjectRecord

// current is the object as decisions take it, nil where there is none.
func current[T model.Object](list objects, id string) T {
	var none T
	o, _ := list[model.ObjectRef{Kind: model.RefOf(none).Kind, ID: id}].Object.(T)
	return o
}

// all lists the objects of the kind, by ID.
func all[T model.Object](list objects) []T {
	var none T
	var found []T
	for _, ref := range sortedRefs(keysOf(list), []model.ObjectKind{model.RefOf(none).Kind}) {
		found = append(found, list[ref].Object.(T))
	}
	return found
}

// usage is what is used of a node, added up from the rows.
type usage struct {
	workloads        []string
	requested        model.Resources
	cpu, memory      int64                       // estimated
	ports            map[model.HostPort][]string // who has it
	devices          map[int]int64
	affinity, antiAf int
}

// usage adds up the rows, once.
func (o *observed) usage() map[string]*usage {
	if o.used != nil {
		return o.used
	}
	all := make(map[string]*usage, len(o.nodes))
	o.used = all
	for _, id := range o.ids {
		row := o.rows[id]
		if row.Node == "" || !row.Phase.TakesRoom() {
			continue
		}
		u := all[row.Node]
		if u == nil {
			u = &usage{}
			all[row.Node] = u
		}
		u.add(&row)
	}
	return all
}

func (u *usage) add(row *model.WorkloadRecord) {
	u.workloads = append(u.workloads, row.ID)
	u.requested.Add(&row.Requests)
	load := row.EstimatedLoad()
	u.cpu += load.CPU
	u.memory += load.Memory
	for _, port := range row.Ports {
		if u.ports == nil {
			u.ports = map[model.HostPort][]string{}
		}
		if p := fullPort(port); !slices.Contains(u.ports[p], row.ID) {
			u.ports[p] = append(u.ports[p], row.ID)
		}
	}
	for _, share := range row.Shares {
		if u.devices == nil {
			u.devices = map[int]int64{}
		}
		u.devices[share.Device] += share.Share
	}
	if row.Affinity != nil || row.AntiAffinity != nil {
		u.affinity++
	}
	if row.AntiAffinity != nil && len(row.AntiAffinity.Required) > 0 {
		u.antiAf++
	}
}

func fullPort(p model.HostPort) model.HostPort {
	if p.IP == "" {
		p.IP = model.AllAddresses
	}
	if p.Protocol == "" {
		p.Protocol = model.TCP
	}
	return p
}

// sortedKeys lists the keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func mostWorkloads(n *model.Node) int64 {
	switch {
	case n.MaxWorkloads == model.Unlimited:
		return math.MaxInt64
	case n.MaxWorkloads < 0:
		return 0
	}
	return n.MaxWorkloads
}

func keysOf(list objects) func(func(model.ObjectRef) bool) {
	return func(yield func(model.ObjectRef) bool) {
		for ref := range list {
			if !yield(ref) {
				return
			}
		}
	}
}

// partName names a part of the order by queues.
type partName struct{ queue, principal string }
