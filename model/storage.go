package model

// AccessMode says who may use a volume at the same time.
type AccessMode string

// The access modes.
const (
	ReadWriteOnce         AccessMode = "ReadWriteOnce"         // one node
	ReadOnlyMany          AccessMode = "ReadOnlyMany"          // many nodes, to read
	ReadWriteMany         AccessMode = "ReadWriteMany"         // many nodes
	ReadWriteOnceWorkload AccessMode = "ReadWriteOnceWorkload" // one workload (Kubernetes: ReadWriteOncePod)
)

// VolumeMode says in what form a volume is used.
type VolumeMode string

// The volume modes; the empty value means Filesystem.
const (
	FilesystemVolume VolumeMode = "Filesystem"
	BlockVolume      VolumeMode = "Block"
)

// VolumePhase says what a volume is doing.
type VolumePhase string

// The volume phases; the empty value means VolumeAvailable.
const (
	VolumeAvailable VolumePhase = "Available"
	VolumeBound     VolumePhase = "Bound"
	VolumeReleased  VolumePhase = "Released" // its claim is gone, it is not free yet
	VolumeFailed    VolumePhase = "Failed"
	VolumePending   VolumePhase = "Pending" // not ready yet
)

// BindingMode says when a claim gets its volume.
type BindingMode string

// The binding modes; the empty value is none, which is an error where a mode is
// needed.
const (
	BindImmediate    BindingMode = "Immediate"            // when it is made, by somebody else
	BindWhenConsumed BindingMode = "WaitForFirstConsumer" // when a workload with it is placed
)

// NoProvisioner as [StorageClass].Provisioner: volumes of the class are only
// made by hand.
const NoProvisioner = "kubernetes.io/no-provisioner"

// VolumeClaimRef is a workload's use of a volume claim.
type VolumeClaimRef struct {
	ID string // of the VolumeClaim
	// Name is the claim's name, for messages; empty: ID.
	Name string
	// Generated: the claim is made for this workload alone, by somebody else,
	// and must say so in its Owner.
	Generated bool
}

// DisplayName is what messages call the claim.
func (r *VolumeClaimRef) DisplayName() string {
	if r.Name == "" {
		return r.ID
	}
	return r.Name
}

// Disk is a volume that a workload names itself, without a claim. One without
// keys is no other workload's affair; one without a handle does not count
// against its driver's limit.
type Disk struct {
	// Keys name what is used exclusively: two workloads on one node must not
	// have disks with a key in common, unless both are ReadOnly. May be empty.
	Keys     []string
	ReadOnly bool // see Keys
	// Driver and Handle say which volume of which storage driver it is, for
	// the driver's limit; Handle is empty where it does not count, and both
	// where it is of none. Plugin is the name of
	// the built-in plugin that the driver stands in for, where it does.
	Driver, Handle, Plugin string
}

// VolumeClaim is a wish for a volume, or the right to one.
type VolumeClaim struct {
	ID        string // identity, unique among volume claims
	Namespace string // for messages, and for the orchestrator
	Name      string // for messages; empty: ID
	// UID tells a claim from an earlier one of the same ID; may be empty.
	UID         string
	Class       string       // name of the StorageClass; empty for none
	Request     int64        // bytes; 0: any volume is large enough
	AccessModes []AccessMode // a volume must have all of them
	Mode        VolumeMode   // empty: FilesystemVolume
	// Selector selects volumes by their labels; nil selects all.
	Selector *Selector
	// AttributesClass is the volume attributes class, empty for none.
	AttributesClass string

	// Volume is the name of the volume that it has, or is to have. One that is
	// named and not Bound is somebody else's to bind.
	Volume string
	// Bound: it has its volume for good, whatever its class says.
	Bound bool
	// Lost: the volume that it had is gone for good (Kubernetes: phase Lost).
	Lost bool
	// SelectedNode is the node for which a volume is to be made. No other node
	// will do until it is taken back.
	SelectedNode string
	// Owner is the ID of the workload that it was made for; empty for none.
	Owner    string
	Deleting bool // it is terminating
}

// DisplayName is what messages call the claim.
func (c *VolumeClaim) DisplayName() string {
	if c.Name == "" {
		return c.ID
	}
	return c.Name
}

// ClaimIdentity says which claim a volume belongs to.
type ClaimIdentity struct {
	ID  string // of the VolumeClaim
	UID string // empty: whichever claim has the ID
}

// Volume is a piece of storage.
type Volume struct {
	Name            string            // identity
	Labels          map[string]string // what a claim's Selector goes by
	Class           string            // name of the StorageClass; empty for none
	Capacity        int64             // bytes
	AccessModes     []AccessMode      // what it can be used for
	Mode            VolumeMode        // empty: FilesystemVolume
	AttributesClass string            // the volume attributes class, empty for none
	// Nodes says from which nodes it can be used; nil: from all.
	Nodes *NodeTerms
	// StandInNodes takes the place of Nodes on nodes where a driver stands in
	// for Plugin (see [NodeStorage].StandsIn), for a claim that is bound to the
	// volume; nil: Nodes does there too. (In Kubernetes drivers have topology
	// labels of their own.)
	StandInNodes *NodeTerms
	// Claim is the claim that it belongs to, or is kept for, whatever its phase;
	// nil for none.
	Claim *ClaimIdentity
	Phase VolumePhase // empty: VolumeAvailable
	// Driver and Handle say which volume of which storage driver it is; empty
	// where it does not count against a limit. Plugin is the name of the
	// built-in plugin that the driver stands in for, where it does.
	Driver, Handle, Plugin string
	Deleting               bool // it is terminating
}

// StorageClass is a way of making volumes.
type StorageClass struct {
	Name        string // identity
	Provisioner string // name of a StorageDriver, NoProvisioner, or something else
	// Driver is the storage driver that stands in for Provisioner, where that is
	// a built-in plugin; else empty.
	Driver  string
	Binding BindingMode // when claims of the class get their volume
	// AllowedNodes says for which nodes volumes are made; nil: for all.
	AllowedNodes *NodeTerms
}

// StorageDriver is what a storage driver can do.
type StorageDriver struct {
	Name string // identity
	// TracksCapacity: there are StorageCapacity objects for its classes, and a
	// volume is made only where one says that there is room.
	TracksCapacity bool
	// MustBeInstalled: workloads with volumes of the driver go only to nodes
	// that have it.
	MustBeInstalled bool
}

// NodeDriver is a storage driver on a node.
type NodeDriver struct {
	Name string // of the StorageDriver
	// MaxVolumes is how many volumes of it the node can have; nil: no limit.
	MaxVolumes *int32
}

// NodeStorage is what a node has of storage drivers.
type NodeStorage struct {
	Node    string       // name of the node; identity
	Drivers []NodeDriver // that are installed on the node
	// StandsIn lists the built-in plugins whose volumes are served by drivers.
	StandsIn []string
}

// StorageCapacity is how much room there is for new volumes of a class, seen
// from some nodes.
type StorageCapacity struct {
	ID    string // identity
	Class string // name of the StorageClass
	// Nodes selects the nodes by their labels; nil selects none.
	Nodes    *Selector
	Capacity *int64 // bytes; nil: not known, which counts as none
	// MaxVolumeSize is the largest single volume; nil: Capacity.
	MaxVolumeSize *int64
	// Taken is room that volumes take which are to be made, and which Capacity has in it
	// still. The engine writes it, and a report of the capacity clears it.
	Taken []TakenRoom `json:",omitempty"`
}

// TakenRoom is room for a volume that is to be made.
type TakenRoom struct {
	Claim string // ID of the VolumeClaim that the volume is for
	// Workload is the ID of the workload for which that was decided. It is empty as soon as the
	// orchestrator may have been asked for the volume.
	Workload string `json:",omitempty"`
	Bytes    int64  // the size of the volume
}

// VolumeAttachment is a volume that is attached to a node, or is about to be.
type VolumeAttachment struct {
	ID     string // identity
	Driver string // name of the StorageDriver
	Node   string // name of the node
	Volume string // name of the Volume
	// Handle stands for Volume where the volume has no object.
	Handle string
}

func (*VolumeClaim) sealed()      {}
func (*Volume) sealed()           {}
func (*StorageClass) sealed()     {}
func (*StorageDriver) sealed()    {}
func (*NodeStorage) sealed()      {}
func (*StorageCapacity) sealed()  {}
func (*VolumeAttachment) sealed() {}
