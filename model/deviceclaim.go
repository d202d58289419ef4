package model

import (
	"slices"
	"time"
)

// DeviceID names a device of a [DeviceSlice] in the whole cluster.
type DeviceID struct {
	// Driver manages the Pool that the Device is in; each is a name.
	Driver, Pool, Device string
}

// PoolID names a pool of devices of a driver.
type PoolID struct {
	// Driver manages the Pool; each is a name.
	Driver, Pool string
}

// PoolID names the pool that the device is in.
func (d DeviceID) PoolID() PoolID { return PoolID{d.Driver, d.Pool} }

// AttributeValue is the value of an attribute of a device. Exactly one field
// is set.
type AttributeValue struct {
	Int     *int64  `json:",omitempty"` // a whole number
	Bool    *bool   `json:",omitempty"` // a truth value
	String  *string `json:",omitempty"` // a text
	Version *string `json:",omitempty"` // semantic version 2.0.0
}

// CapacityPolicy says which amounts of a capacity can be given. Without values
// and range any amount can.
type CapacityPolicy struct {
	// Default is what a claim gets that does not ask for an amount; nil: all.
	Default *int64
	// Values are the amounts that can be given; an amount in between is
	// rounded up to the next.
	Values []int64
	// Min, Max and Step are a range, where Min is not nil: amounts are rounded
	// up to Min plus a multiple of Step (nil: any amount).
	Min, Max, Step *int64
}

// DeviceCapacity is how much a device has of something. All amounts are in the
// unit that the driver means.
type DeviceCapacity struct {
	Amount int64           // all there is of it
	Policy *CapacityPolicy // of a device that is shared; nil: any amount
}

// CounterSet is a stock that devices which overlap draw on, so that not all of
// them can be given away: the memory slices of a card that can be partitioned
// in several ways.
type CounterSet struct {
	Name     string           // unique in the pool
	Counters map[string]int64 // the stock of each counter, by name
}

// CounterUse is what a device draws from one set of its pool.
type CounterUse struct {
	Set      string           // name of the CounterSet
	Counters map[string]int64 // how much of each counter, by name
}

// SliceDevice is one device of a slice.
type SliceDevice struct {
	Name       string                    // unique in its pool
	Attributes map[string]AttributeValue // by name, bare or domain/name
	Capacity   map[string]DeviceCapacity // by name, bare or domain/name
	Consumes   []CounterUse              // what it draws from the counters of its pool
	Taints     []Taint                   // keep claims off it; rules may add others
	// Shared: it can be given to several claims, as far as its capacity goes.
	Shared bool
	// Node, Nodes and AllNodes say from where the device can be used, where
	// the slice says PerDevice; as in [DeviceSlice].
	Node     string
	Nodes    *NodeTerms // the nodes with access
	AllNodes bool       // every node has access
	// BindsToNode: once given away, the claim is for the node of the workload
	// only.
	BindsToNode bool
	// BindingConditions must become true, and BindingFailures must not, before
	// a workload that has been given the device is bound.
	BindingConditions, BindingFailures []string
}

// DeviceSlice is a list of devices that a driver manages. Exactly one of Node,
// Nodes, AllNodes and PerDevice is set.
type DeviceSlice struct {
	ID     string // identity, unique among device slices
	Driver string // name of the driver that manages the devices
	Pool   string // name of the pool, unique with the driver
	// Generation is that of the pool; slices of an older one than the newest do
	// not count. SliceCount is how many slices the pool has at this generation:
	// while some are missing nothing can be given of it.
	Generation, SliceCount int64
	Node                   string        // the one node with access
	Nodes                  *NodeTerms    // the nodes with access
	AllNodes               bool          // every node has access
	PerDevice              bool          // each device says for itself who has access
	Devices                []SliceDevice // the devices
	Counters               []CounterSet  // the stocks that devices of the pool draw on
}

// CompareOperator compares an attribute or a capacity with values.
type CompareOperator string

// The operators. Of several values only OneOf and NoneOf take more than one.
const (
	CompareEqual    CompareOperator = "Equal"
	CompareNotEqual CompareOperator = "NotEqual"
	CompareLess     CompareOperator = "Less"
	CompareAtMost   CompareOperator = "AtMost"
	CompareGreater  CompareOperator = "Greater"
	CompareAtLeast  CompareOperator = "AtLeast"
	CompareOneOf    CompareOperator = "OneOf"
	CompareNoneOf   CompareOperator = "NoneOf"
	CompareExists   CompareOperator = "Exists"
	CompareAbsent   CompareOperator = "Absent"
)

// DeviceRequirement is a condition on one attribute or one capacity of a
// device. A device without it fulfils no requirement but Absent.
type DeviceRequirement struct {
	Attribute string           // exactly one of Attribute, Capacity and Driver is meant
	Capacity  string           // name of a capacity, whose Amount is compared
	Driver    bool             // the name of the driver, as a string
	Operator  CompareOperator  // how to compare
	Values    []AttributeValue // what to compare with; none for Exists and Absent
}

// DeviceSelector selects devices: those that fulfil all requirements and, where
// there is an expression, for which it is true.
type DeviceSelector struct {
	Requirements []DeviceRequirement // all must hold
	// Expression is in a language that the plugin's evaluator understands;
	// without one it is an error to have an expression.
	Expression string
}

// DeviceClass is a kind of device that claims ask for.
type DeviceClass struct {
	Name      string           // identity
	Selectors []DeviceSelector // all must select a device for it to be of the class
	// Resource, where not empty, is the name of a scalar resource: a workload
	// that requests it, on a node that does not have it as an amount, gets
	// devices of the class instead.
	Resource string
	// CreatedAt decides between classes of the same Resource: the newest, then
	// the first by name.
	CreatedAt time.Time
	// Config is handed on with what is allocated.
	Config []DeviceConfig
}

// DeviceConfig is something for a driver to read.
type DeviceConfig struct {
	Requests   []string // names of requests; none: all
	Driver     string   // that reads it
	Parameters []byte   // the driver's own; nobody else reads them
}

// DeviceDemand is what is wanted of one class.
type DeviceDemand struct {
	// Name tells the alternatives of a request apart; empty where the request
	// has one demand only.
	Name      string
	Class     string           // name of the DeviceClass
	Selectors []DeviceSelector // all must select a device, besides those of the class
	// All: every device that matches. Else Count of them, at least 1.
	All   bool
	Count int64 // how many devices, where All is not set
	// AdminAccess: to watch devices that others may have; takes nothing away.
	AdminAccess bool
	Tolerations []Toleration // of taints on devices
	// Capacity is how much is wanted of each device, of shared devices given
	// and of others only asked to be there.
	Capacity map[string]int64
}

// ClaimRequest is one line of a claim: the first of the alternatives that can
// be had.
type ClaimRequest struct {
	Name string // unique in its claim
	// Alternatives in order of preference. Prioritized: the request is a list
	// of alternatives, each with a name, even if it is a list of one.
	Alternatives []DeviceDemand
	Prioritized  bool // it is a list of alternatives, see Alternatives
}

// DeviceConstraint is about the devices of several requests together. Exactly
// one of the attributes is set.
type DeviceConstraint struct {
	Requests []string // names, or request/alternative; none: all
	Match    string   // attribute: all devices have it, with the same value
	Distinct string   // attribute: all devices have it, with different values
}

// AllocatedDevice is a device given to a claim.
type AllocatedDevice struct {
	DeviceID
	Request string // name, or request/alternative
	// AdminAccess: only to watch.
	AdminAccess bool
	Tolerations []Toleration // those of the demand
	// Share tells parts of a shared device apart, and Consumed is how much of
	// its capacity is taken; only for shared devices.
	Share    string
	Consumed map[string]int64 // by name of the capacity; see Share
	// Drawn is what it draws on the counters of its pool for as long as it is given, of a part
	// what the device drew when the part was given: drivers may publish it otherwise
	// afterwards, or not at all. nil: not known, or the pool had no counters. Not for
	// AdminAccess. An orchestrator that keeps claims should keep this, too; where a report
	// does not say it, what the engine decided itself stands, else what the slices say.
	Drawn *Drawn `json:",omitempty"`

	// BindingConditions and BindingFailures are those of the device, see [SliceDevice].
	BindingConditions, BindingFailures []string
}

// Drawn is what a device that is given draws on the counters of its pool.
type Drawn struct {
	Counters []CounterUse // none: nothing
}

// Allocation is what a claim has been given.
type Allocation struct {
	Devices []AllocatedDevice // what it has, in the order of the requests
	// Nodes says from which nodes the devices can be used; nil: from all.
	Nodes *NodeTerms
	// At is when it was decided, for devices with binding conditions.
	At time.Time
	// Config is that of the classes and of the claim.
	Config []AllocatedConfig
}

// Pools lists the pools of the devices, each once, in the order of the devices.
func (a *Allocation) Pools() []PoolID {
	var pools []PoolID
	for i := range a.Devices {
		if p := a.Devices[i].PoolID(); !slices.Contains(pools, p) {
			pools = append(pools, p)
		}
	}
	return pools
}

// AllocatedConfig is configuration and where it comes from.
type AllocatedConfig struct {
	FromClass bool // of the DeviceClass; else of the claim
	DeviceConfig
}

// Consumer is who has a claim reserved: a workload, or a group for all its
// members. Of the two one is set.
type Consumer struct {
	Workload string // ID; empty where Group is set
	Group    string // ID; empty where Workload is set
}

// DeviceClaim is a wish for devices, and what came of it.
type DeviceClaim struct {
	ID        string // identity, unique among device claims
	Namespace string // for messages, and for the orchestrator
	Name      string // for messages; empty: ID
	// UID tells a claim from an earlier one of the same ID; may be empty.
	UID         string
	Requests    []ClaimRequest     // all must be met
	Constraints []DeviceConstraint // about the devices of several requests
	Config      []DeviceConfig     // handed on with what is allocated
	// Owner is the ID of the workload, or OwnerGroup of the group, that it was
	// made for; empty for none.
	Owner, OwnerGroup string

	// Allocation is what it has been given, nil for nothing.
	Allocation *Allocation
	// ReservedFor are those who use it.
	ReservedFor []Consumer
	// Conditions are the binding conditions that drivers report, by device.
	Conditions []DeviceConditions
	Deleting   bool // it is terminating
	// ForResources: it was made by the scheduler for a workload that asks for
	// devices by the name of a scalar resource. It is reserved for its Owner,
	// has the ID that [ResourceClaimID] gives, and says in Uses what its
	// requests are for.
	ForResources bool
	Uses         []ResourceUse // which request is for which scalar resource; see ForResources
}

// ResourceUse says that a container of the workload gets its scalar resource
// from the devices of a request. There may be several for one container.
type ResourceUse struct {
	Container string // name
	Resource  string // name of the scalar resource
	Request   string // name of the claim's request, or request/alternative
}

// ResourceClaimID is the ID of the claim that is made for the scalar resources
// of the workload with the ID.
func ResourceClaimID(workload string) string { return workload + "-extended-resources" }

// DeviceClassResource is the start of the names of scalar resources that stand
// for a device class, whatever its Resource says; the name of the class follows.
const DeviceClassResource = "deviceclass.resource.kubernetes.io/"

// DisplayName is what messages call the claim: namespace/name, or the name alone
// where there is no namespace.
func (d *DeviceClaim) DisplayName() string {
	name := d.Name
	if name == "" {
		name = d.ID
	}
	if d.Namespace == "" {
		return name
	}
	return d.Namespace + "/" + name
}

// DeviceConditions are the conditions of an allocated device that are true.
type DeviceConditions struct {
	DeviceID
	Share string   // as in AllocatedDevice; empty where the device is not shared
	True  []string // the conditions that are true
}

// DeviceClaimRef is a workload's use of a device claim.
type DeviceClaimRef struct {
	// Name is what the workload calls the claim; unique in the workload.
	Name string
	// ID is the DeviceClaim's; empty while the claim that is made for the
	// workload is not there yet.
	ID string
	// Generated: the claim is made for this workload alone, by somebody else,
	// and must say so in its Owner.
	Generated bool
	// OfGroup: the claim is the group's, which all members share; it is
	// reserved for the group.
	OfGroup bool
}

// DeviceTaintRule puts a taint on devices. Of Driver, Pool and Device an empty
// one stands for all.
type DeviceTaintRule struct {
	ID string // identity
	// Driver, Pool and Device name the devices; empty: any.
	Driver, Pool, Device string
	Taint                Taint // put on each of the devices
}

// MaxClaimConsumers is how many may have a claim reserved at once.
const MaxClaimConsumers = 256

func (*DeviceSlice) sealed()     {}
func (*DeviceClass) sealed()     {}
func (*DeviceClaim) sealed()     {}
func (*DeviceTaintRule) sealed() {}

// Reserved reports whether the claim is reserved for the consumer.
func (d *DeviceClaim) Reserved(by Consumer) bool { return slices.Contains(d.ReservedFor, by) }
