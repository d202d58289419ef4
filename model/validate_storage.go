package model

// The values that the enumerated fields of storage objects may have, in the
// order in which messages list them.
var (
	accessModes  = []AccessMode{ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOnceWorkload}
	volumeModes  = []VolumeMode{FilesystemVolume, BlockVolume}
	volumePhases = []VolumePhase{VolumeAvailable, VolumeBound, VolumeReleased, VolumeFailed, VolumePending}
	bindingModes = []BindingMode{BindImmediate, BindWhenConsumed}
)

// Validate returns all that is wrong with the claim as a [*ValidationError], nil
// where it is valid.
func (c *VolumeClaim) Validate() error {
	var k checker
	k.notEmpty("id", c.ID)
	k.text("namespace", c.Namespace)
	k.text("name", c.Name)
	k.text("uid", c.UID)
	k.text("class", c.Class)
	k.atLeast("request", c.Request, 0)
	k.accessModes("accessModes", c.AccessModes)
	oneOfOrEmpty(&k, "mode", c.Mode, volumeModes)
	k.selector("selector", c.Selector)
	k.text("attributesClass", c.AttributesClass)
	k.text("volume", c.Volume)
	if c.Volume == "" && c.Bound {
		k.report("volume", "must not be empty where the claim is bound")
	}
	if c.Volume == "" && c.Lost {
		k.report("volume", "must not be empty where it is lost")
	}
	k.text("selectedNode", c.SelectedNode)
	k.text("owner", c.Owner)
	return invalid("volume claim", c.ID, k.problems)
}

// Validate returns all that is wrong with the volume as a [*ValidationError],
// nil where it is valid.
func (v *Volume) Validate() error {
	var k checker
	k.notEmpty("name", v.Name)
	k.labels("labels", v.Labels)
	k.text("class", v.Class)
	k.atLeast("capacity", v.Capacity, 0)
	k.accessModes("accessModes", v.AccessModes)
	oneOfOrEmpty(&k, "mode", v.Mode, volumeModes)
	k.text("attributesClass", v.AttributesClass)
	k.nodeTerms("nodes", v.Nodes)
	k.nodeTerms("standInNodes", v.StandInNodes)
	if v.StandInNodes != nil && v.Plugin == "" {
		k.report("standInNodes", "must be nil where there is no plugin to stand in for")
	}
	if v.Claim != nil {
		k.enter("claim")
		k.notEmpty("id", v.Claim.ID)
		k.text("uid", v.Claim.UID)
		k.leave()
	}
	oneOfOrEmpty(&k, "phase", v.Phase, volumePhases)
	k.driver(v.Driver, v.Handle, v.Plugin)
	return invalid("volume", v.Name, k.problems)
}

// Validate returns all that is wrong with the class as a [*ValidationError], nil
// where it is valid.
func (c *StorageClass) Validate() error {
	var k checker
	k.notEmpty("name", c.Name)
	k.text("provisioner", c.Provisioner)
	k.text("driver", c.Driver)
	oneOfOrEmpty(&k, "binding", c.Binding, bindingModes)
	k.nodeTerms("allowedNodes", c.AllowedNodes)
	return invalid("storage class", c.Name, k.problems)
}

// Validate returns all that is wrong with the driver as a [*ValidationError],
// nil where it is valid.
func (d *StorageDriver) Validate() error {
	var k checker
	k.notEmpty("name", d.Name)
	return invalid("storage driver", d.Name, k.problems)
}

// Validate returns all that is wrong with the node's storage as a
// [*ValidationError], nil where it is valid.
func (s *NodeStorage) Validate() error {
	var k checker
	k.notEmpty("node", s.Node)
	var names unique[string]
	for i := range s.Drivers {
		d := &s.Drivers[i]
		k.item("drivers", i)
		k.notEmpty("name", d.Name)
		if d.MaxVolumes != nil {
			k.atLeast("maxVolumes", int64(*d.MaxVolumes), 0)
		}
		names.check(&k, "name", d.Name)
		k.leave()
	}
	k.names("standsIn", s.StandsIn)
	return invalid("node storage", s.Node, k.problems)
}

// Validate returns all that is wrong with the capacity as a [*ValidationError],
// nil where it is valid.
func (c *StorageCapacity) Validate() error {
	var k checker
	k.notEmpty("id", c.ID)
	k.notEmpty("class", c.Class)
	k.selector("nodes", c.Nodes)
	if c.Capacity != nil {
		k.atLeast("capacity", *c.Capacity, 0)
	}
	if c.MaxVolumeSize != nil {
		k.atLeast("maxVolumeSize", *c.MaxVolumeSize, 0)
	}
	for i := range c.Taken {
		k.item("taken", i)
		k.notEmpty("claim", c.Taken[i].Claim)
		k.text("workload", c.Taken[i].Workload)
		k.atLeast("bytes", c.Taken[i].Bytes, 0)
		k.leave()
	}
	return invalid("storage capacity", c.ID, k.problems)
}

// Validate returns all that is wrong with the attachment as a
// [*ValidationError], nil where it is valid.
func (a *VolumeAttachment) Validate() error {
	var k checker
	k.notEmpty("id", a.ID)
	k.notEmpty("driver", a.Driver)
	k.notEmpty("node", a.Node)
	k.text("volume", a.Volume)
	k.text("handle", a.Handle)
	switch {
	case a.Volume == "" && a.Handle == "":
		k.report("volume", "must not be empty where handle is")
	case a.Volume != "" && a.Handle != "":
		k.report("handle", "must be empty where volume is not")
	}
	return invalid("volume attachment", a.ID, k.problems)
}

func (c *checker) accessModes(field string, modes []AccessMode) {
	for i := range modes {
		c.item(field, i)
		oneOf(c, "", modes[i], accessModes)
		c.leave()
	}
}

// driver checks that what is said of a volume of a driver names the driver.
func (c *checker) driver(driver, handle, plugin string) {
	c.text("driver", driver)
	c.text("handle", handle)
	c.text("plugin", plugin)
	if driver == "" && handle != "" {
		c.report("handle", "must be empty where driver is")
	}
	if driver == "" && plugin != "" {
		c.report("plugin", "must be empty where driver is")
	}
}

func (c *checker) volumeClaimRefs(field string, refs []VolumeClaimRef) {
	var ids unique[string]
	for i := range refs {
		c.item(field, i)
		c.notEmpty("id", refs[i].ID)
		c.text("name", refs[i].Name)
		ids.check(c, "id", refs[i].ID)
		c.leave()
	}
}

func (c *checker) disks(field string, disks []Disk) {
	for i := range disks {
		c.item(field, i)
		c.names("keys", disks[i].Keys)
		c.driver(disks[i].Driver, disks[i].Handle, disks[i].Plugin)
		c.leave()
	}
}
