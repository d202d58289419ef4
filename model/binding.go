package model

import (
	"errors"
	"fmt"
	"time"
)

// Binding is the outcome of scheduling one workload: where it goes, and what of
// the node is set aside for it. An orchestrator that reports where a workload is has one
// too.
type Binding struct {
	Workload string // ID
	Node     string // name
	// Devices are the device shares reserved for the workload, in the order of
	// its requests. Of one device they are no more than all of it together. The node may
	// have no such device any more, or not yet.
	Devices []DeviceShare
	// Decided are the objects that the decision changes, as it leaves them:
	// volumes and claims that belong together from now on, claims with the
	// devices that they are given. Each is a claim or a volume, and there once.
	Decided Objects `json:",omitempty"`
	// Since is when the workload started there, where the orchestrator says so
	// when it confirms; zero in decisions. Preemption spares those that have run
	// for longer.
	Since time.Time `json:",omitzero"`
	// Limit is the limit that the workload was granted, where that is shorter than its own
	// (see [Workload].MinLimit); 0: its own. One that adopts what runs says it again; it is
	// not looked at in confirmations, since it is fixed from the start.
	Limit time.Duration `json:",omitempty"`
}

// Validate returns all that is wrong with the binding as a [*ValidationError], nil where
// it is valid, also with an object in Decided. Whether there are such a workload and such
// devices is not seen here.
func (b *Binding) Validate() error {
	var c checker
	c.notEmpty("workload", b.Workload)
	c.notEmpty("node", b.Node)
	c.deviceShares(b.Devices)
	for i, o := range b.Decided {
		c.item("decided", i)
		c.object(o)
		c.leave()
	}
	c.time("since", b.Since)
	if b.Limit < 0 {
		c.report("limit", fmt.Sprintf("%v is negative; 0 is the workload's own", b.Limit))
	}
	return invalid("binding of workload", b.Workload, c.problems)
}

// object reports what is wrong with an object that is a part of another.
func (c *checker) object(o Object) {
	if RefOf(o).ID == "" {
		c.report("", "is no object with an identity")
		return
	}
	var invalid *ValidationError
	if errors.As(o.Validate(), &invalid) {
		for _, p := range invalid.Problems {
			c.report(p.Field, p.Message)
		}
	}
}

// deviceShares checks the shares, also those of one device together.
func (c *checker) deviceShares(shares []DeviceShare) {
	sums := map[int]int64{}
	for i, s := range shares {
		c.item("devices", i)
		c.atLeast("device", int64(s.Device), 0)
		c.between("share", s.Share, 1, WholeDevice)
		if s.Share >= 1 && s.Share <= WholeDevice {
			sums[s.Device] += s.Share
			if sum := sums[s.Device]; sum > WholeDevice {
				c.report("share", fmt.Sprintf("with those before it of the same device it is %d, more than all, %d", sum, WholeDevice))
			}
		}
		c.leave()
	}
}
