package modeltest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/berth-project/berth/model"
)

// VolumeClaimBuilder builds a volume claim step by step; start with
// [VolumeClaim].
type VolumeClaimBuilder struct{ claim model.VolumeClaim }

// VolumeClaim starts a claim of the given ID that asks for nothing in
// particular.
func VolumeClaim(id string) *VolumeClaimBuilder {
	return &VolumeClaimBuilder{model.VolumeClaim{ID: id}}
}

// Build returns the claim. The builder may go on to be changed and to build
// others like it.
func (b *VolumeClaimBuilder) Build() *model.VolumeClaim {
	return model.CloneObject(&b.claim)
}

// With calls change on the claim under construction, for whatever has no method
// here.
func (b *VolumeClaimBuilder) With(change func(*model.VolumeClaim)) *VolumeClaimBuilder {
	change(&b.claim)
	return b
}

// Class sets the storage class.
func (b *VolumeClaimBuilder) Class(name string) *VolumeClaimBuilder {
	b.claim.Class = name
	return b
}

// Request sets how large the volume must be, in bytes.
func (b *VolumeClaimBuilder) Request(bytes int64) *VolumeClaimBuilder {
	b.claim.Request = bytes
	return b
}

// Access adds access modes that the volume must have.
func (b *VolumeClaimBuilder) Access(modes ...model.AccessMode) *VolumeClaimBuilder {
	b.claim.AccessModes = append(b.claim.AccessModes, modes...)
	return b
}

// Bound says that it has the volume for good.
func (b *VolumeClaimBuilder) Bound(volume string) *VolumeClaimBuilder {
	b.claim.Volume, b.claim.Bound = volume, true
	return b
}

// Selected says that a volume is to be made for the node.
func (b *VolumeClaimBuilder) Selected(node string) *VolumeClaimBuilder {
	b.claim.SelectedNode = node
	return b
}

// Owner says for which workload it was made.
func (b *VolumeClaimBuilder) Owner(workload string) *VolumeClaimBuilder {
	b.claim.Owner = workload
	return b
}

// VolumeBuilder builds a volume step by step; start with [Volume].
type VolumeBuilder struct{ volume model.Volume }

// Volume starts an available volume of the given name, of no size, that can be
// used from all nodes.
func Volume(name string) *VolumeBuilder { return &VolumeBuilder{model.Volume{Name: name}} }

// Build returns the volume. The builder may go on to be changed and to build
// others like it.
func (b *VolumeBuilder) Build() *model.Volume {
	return model.CloneObject(&b.volume)
}

// With calls change on the volume under construction, for whatever has no
// method here.
func (b *VolumeBuilder) With(change func(*model.Volume)) *VolumeBuilder {
	change(&b.volume)
	return b
}

// Class sets the storage class.
func (b *VolumeBuilder) Class(name string) *VolumeBuilder {
	b.volume.Class = name
	return b
}

// Capacity sets the size in bytes.
func (b *VolumeBuilder) Capacity(bytes int64) *VolumeBuilder {
	b.volume.Capacity = bytes
	return b
}

// Label sets a label.
func (b *VolumeBuilder) Label(key, value string) *VolumeBuilder {
	b.volume.Labels = set(b.volume.Labels, key, value)
	return b
}

// Access adds access modes that it has.
func (b *VolumeBuilder) Access(modes ...model.AccessMode) *VolumeBuilder {
	b.volume.AccessModes = append(b.volume.AccessModes, modes...)
	return b
}

// On adds one more alternative to the nodes from which it can be used: those
// whose label has one of the values.
func (b *VolumeBuilder) On(key string, values ...string) *VolumeBuilder {
	if b.volume.Nodes == nil {
		b.volume.Nodes = &model.NodeTerms{}
	}
	b.volume.Nodes.Terms = append(b.volume.Nodes.Terms, labelTerm(key, values))
	return b
}

// For says which claim it belongs to or is kept for.
func (b *VolumeBuilder) For(claim string) *VolumeBuilder {
	b.volume.Claim = &model.ClaimIdentity{ID: claim}
	return b
}

// Phase sets the phase.
func (b *VolumeBuilder) Phase(phase model.VolumePhase) *VolumeBuilder {
	b.volume.Phase = phase
	return b
}

// StorageClassBuilder builds a storage class step by step; start with
// [StorageClass].
type StorageClassBuilder struct{ class model.StorageClass }

// StorageClass starts a class of the given name whose claims get a volume when
// a workload with them is placed, and whose volumes are only made by hand.
func StorageClass(name string) *StorageClassBuilder {
	return &StorageClassBuilder{model.StorageClass{Name: name, Provisioner: model.NoProvisioner, Binding: model.BindWhenConsumed}}
}

// Build returns the class. The builder may go on to be changed and to build
// others like it.
func (b *StorageClassBuilder) Build() *model.StorageClass {
	return model.CloneObject(&b.class)
}

// Immediate says that somebody else binds its claims when they are made.
func (b *StorageClassBuilder) Immediate() *StorageClassBuilder {
	b.class.Binding = model.BindImmediate
	return b
}

// Provisioner says what makes volumes of the class.
func (b *StorageClassBuilder) Provisioner(name string) *StorageClassBuilder {
	b.class.Provisioner = name
	return b
}

// Allow adds one more alternative to the nodes for which volumes are made: those
// whose label has one of the values.
func (b *StorageClassBuilder) Allow(key string, values ...string) *StorageClassBuilder {
	if b.class.AllowedNodes == nil {
		b.class.AllowedNodes = &model.NodeTerms{}
	}
	b.class.AllowedNodes.Terms = append(b.class.AllowedNodes.Terms, labelTerm(key, values))
	return b
}

func labelTerm(key string, values []string) model.NodeTerm {
	return model.NodeTerm{Labels: []model.Requirement{{Key: key, Operator: model.In, Values: values}}}
}

// VolumeClaim adds a claim whose volume it uses.
func (b *WorkloadBuilder) VolumeClaim(id string) *WorkloadBuilder {
	b.workload.VolumeClaims = append(b.workload.VolumeClaims, model.VolumeClaimRef{ID: id})
	return b
}

// GeneratedVolumeClaim adds a claim that is made for it alone.
func (b *WorkloadBuilder) GeneratedVolumeClaim(id string) *WorkloadBuilder {
	b.workload.VolumeClaims = append(b.workload.VolumeClaims, model.VolumeClaimRef{ID: id, Generated: true})
	return b
}

// Disk adds a disk that it uses, exclusively under the keys.
func (b *WorkloadBuilder) Disk(keys ...string) *WorkloadBuilder {
	b.workload.Disks = append(b.workload.Disks, model.Disk{Keys: keys})
	return b
}

// RandomVolumeClaim returns a valid claim.
func RandomVolumeClaim(r *rand.Rand) *model.VolumeClaim {
	c := &model.VolumeClaim{
		ID:              volumeClaimID(r.IntN(30)),
		Namespace:       pick(r, namespaces),
		Name:            maybe(r, "data"),
		UID:             maybe(r, pick(r, []string{"1", "2"})),
		Class:           maybe(r, pick(r, storageClasses)),
		Request:         RandomAmount(r),
		AccessModes:     picks(r, 2, accessModes),
		Mode:            pick(r, volumeModes),
		AttributesClass: pick(r, []string{"", "", "", "fast"}),
		Deleting:        r.IntN(10) == 0,
	}
	if r.IntN(4) == 0 {
		c.Selector = RandomSelector(r)
	}
	switch r.IntN(4) {
	case 0:
		c.Volume, c.Bound = volumeName(r.IntN(30)), r.IntN(4) > 0
		c.Lost = r.IntN(8) == 0
	case 1:
		c.SelectedNode = nodeName(r.IntN(50))
	}
	if r.IntN(4) == 0 {
		c.Owner = workloadID(r.IntN(200))
	}
	return c
}

// RandomVolume returns a valid volume.
func RandomVolume(r *rand.Rand) *model.Volume {
	v := &model.Volume{
		Name:            volumeName(r.IntN(30)),
		Labels:          RandomLabels(r),
		Class:           maybe(r, pick(r, storageClasses)),
		Capacity:        RandomAmount(r),
		AccessModes:     picks(r, 3, accessModes),
		Mode:            pick(r, volumeModes),
		AttributesClass: pick(r, []string{"", "", "", "fast"}),
		Nodes:           randomNodeTerms(r),
		Phase:           pick(r, []model.VolumePhase{"", model.VolumeAvailable, model.VolumeBound, model.VolumeReleased, model.VolumeFailed, model.VolumePending}),
		Deleting:        r.IntN(10) == 0,
	}
	if r.IntN(3) == 0 {
		v.Claim = &model.ClaimIdentity{ID: volumeClaimID(r.IntN(30)), UID: maybe(r, pick(r, []string{"1", "2"}))}
	}
	v.Driver, v.Handle, v.Plugin = randomDriver(r)
	if v.Plugin != "" {
		v.StandInNodes = randomNodeTerms(r)
	}
	return v
}

// RandomStorageClass returns a valid class.
func RandomStorageClass(r *rand.Rand) *model.StorageClass {
	return &model.StorageClass{
		Name:         pick(r, storageClasses),
		Provisioner:  pick(r, provisioners),
		Binding:      pick(r, []model.BindingMode{model.BindImmediate, model.BindWhenConsumed, model.BindWhenConsumed, ""}),
		AllowedNodes: randomNodeTerms(r),
	}
}

// RandomStorageDriver returns a valid driver.
func RandomStorageDriver(r *rand.Rand) *model.StorageDriver {
	return &model.StorageDriver{Name: pick(r, provisioners[2:]), TracksCapacity: r.IntN(2) == 0, MustBeInstalled: r.IntN(2) == 0}
}

// RandomNodeStorage returns the valid storage of a node.
func RandomNodeStorage(r *rand.Rand) *model.NodeStorage {
	s := &model.NodeStorage{Node: nodeName(r.IntN(50)), StandsIn: picks(r, 2, builtIn)}
	for _, name := range provisioners[2:] {
		if r.IntN(2) == 0 {
			d := model.NodeDriver{Name: name}
			if r.IntN(2) == 0 {
				most := pick(r, []int32{0, 1, 2, 25, math.MaxInt32})
				d.MaxVolumes = &most
			}
			s.Drivers = append(s.Drivers, d)
		}
	}
	return s
}

// RandomStorageCapacity returns a valid capacity.
func RandomStorageCapacity(r *rand.Rand) *model.StorageCapacity {
	amount := func() *int64 {
		if r.IntN(3) == 0 {
			return nil
		}
		bytes := RandomAmount(r)
		return &bytes
	}
	c := &model.StorageCapacity{
		ID:    fmt.Sprintf("capacity-%d", r.IntN(30)),
		Class: pick(r, storageClasses),
		Nodes: RandomSelector(r), Capacity: amount(), MaxVolumeSize: amount(),
	}
	for range max(0, r.IntN(5)-2) {
		c.Taken = append(c.Taken, model.TakenRoom{Claim: fmt.Sprintf("claim-%d", r.IntN(30)), Bytes: RandomAmount(r)})
	}
	return c
}

// RandomVolumeAttachment returns a valid attachment.
func RandomVolumeAttachment(r *rand.Rand) *model.VolumeAttachment {
	a := &model.VolumeAttachment{
		ID:     fmt.Sprintf("attachment-%d", r.IntN(30)),
		Driver: pick(r, provisioners[2:]), Node: nodeName(r.IntN(50)),
	}
	if r.IntN(4) == 0 {
		a.Handle = fmt.Sprintf("handle-%d", r.IntN(30))
	} else {
		a.Volume = volumeName(r.IntN(30))
	}
	return a
}

func randomNodeTerms(r *rand.Rand) *model.NodeTerms {
	if r.IntN(2) == 0 {
		return nil
	}
	t := &model.NodeTerms{}
	for range 1 + r.IntN(2) {
		t.Terms = append(t.Terms, RandomNodeTerm(r))
	}
	return t
}

func volumeName(i int) string { return fmt.Sprintf("volume-%d", i) }
