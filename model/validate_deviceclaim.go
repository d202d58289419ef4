package model

import (
	"fmt"
	"strings"
)

// Validate returns all that is wrong with the claim as a [*ValidationError], nil
// where it is valid. Whether the devices that it was given exist is not seen
// here.
func (d *DeviceClaim) Validate() error {
	var c checker
	c.notEmpty("id", d.ID)
	c.text("namespace", d.Namespace)
	c.text("name", d.Name)
	c.text("uid", d.UID)
	var names unique[string]
	for i := range d.Requests {
		c.item("requests", i)
		c.claimRequest(&d.Requests[i])
		names.check(&c, "name", d.Requests[i].Name)
		c.leave()
	}
	known := d.requestNames()
	for i := range d.Constraints {
		k := &d.Constraints[i]
		c.item("constraints", i)
		if (k.Match == "") == (k.Distinct == "") {
			c.report("match", "exactly one of match and distinct must be set")
		}
		c.requestNames(known, k.Requests)
		c.text("match", k.Match)
		c.text("distinct", k.Distinct)
		c.leave()
	}
	for i := range d.Config {
		c.item("config", i)
		c.requestNames(known, d.Config[i].Requests)
		c.text("driver", d.Config[i].Driver)
		c.leave()
	}
	c.text("owner", d.Owner)
	c.text("ownerGroup", d.OwnerGroup)
	if d.Owner != "" && d.OwnerGroup != "" {
		c.report("ownerGroup", "must be empty where owner is set")
	}
	c.consumers(d)
	if d.Allocation != nil {
		c.enter("allocation")
		c.allocation(d.Allocation)
		c.leave()
	}
	c.conditions(d.Conditions)
	for i := range d.Uses {
		c.item("uses", i)
		c.text("container", d.Uses[i].Container)
		c.text("resource", d.Uses[i].Resource)
		c.text("request", d.Uses[i].Request)
		c.leave()
	}
	return invalid("device claim", d.ID, c.problems)
}

func (c *checker) consumers(d *DeviceClaim) {
	var consumers unique[Consumer]
	for i := range d.ReservedFor {
		c.item("reservedFor", i)
		c.text("workload", d.ReservedFor[i].Workload)
		c.text("group", d.ReservedFor[i].Group)
		if (d.ReservedFor[i].Workload == "") == (d.ReservedFor[i].Group == "") {
			c.report("workload", "exactly one of workload and group must be set")
		}
		consumers.check(c, "consumer", d.ReservedFor[i])
		c.leave()
	}
	if len(d.ReservedFor) > MaxClaimConsumers {
		c.report("reservedFor", fmt.Sprintf("there are %d, more than %d", len(d.ReservedFor), MaxClaimConsumers))
	}
	if len(d.ReservedFor) > 0 && d.Allocation == nil {
		c.report("reservedFor", "must be empty where nothing is allocated")
	}
}

func (c *checker) allocation(a *Allocation) {
	for i := range a.Devices {
		d := &a.Devices[i]
		c.item("devices", i)
		c.notEmpty("driver", d.Driver)
		c.notEmpty("pool", d.Pool)
		c.notEmpty("device", d.Device)
		c.text("request", d.Request)
		c.text("share", d.Share)
		c.amounts("consumed", d.Consumed)
		if d.Share == "" && len(d.Consumed) > 0 {
			c.report("consumed", "is for shares of a device")
		}
		c.drawn(d)
		c.deviceTolerations(d.Tolerations)
		c.texts("bindingConditions", d.BindingConditions)
		c.texts("bindingFailures", d.BindingFailures)
		c.leave()
	}
	c.oneTerm("nodes", a.Nodes)
	c.time("at", a.At)
	for i := range a.Config {
		c.item("config", i)
		c.texts("requests", a.Config[i].Requests)
		c.text("driver", a.Config[i].Driver)
		c.leave()
	}
}

func (c *checker) conditions(list []DeviceConditions) {
	for i := range list {
		c.item("conditions", i)
		c.text("driver", list[i].Driver)
		c.text("pool", list[i].Pool)
		c.text("device", list[i].Device)
		c.text("share", list[i].Share)
		c.texts("true", list[i].True)
		c.leave()
	}
}

func (c *checker) drawn(d *AllocatedDevice) {
	if d.Drawn == nil {
		return
	}
	if d.AdminAccess {
		c.report("drawn", "administrative access draws nothing")
	}
	c.enter("drawn")
	c.counterUses("counters", d.Drawn.Counters)
	c.leave()
}

func (c *checker) claimRequest(r *ClaimRequest) {
	c.requestName(r.Name)
	switch n := len(r.Alternatives); {
	case !r.Prioritized && n != 1:
		c.report("alternatives", fmt.Sprintf("must be exactly one, not %d, unless prioritized", n))
	case n < 1 || n > maxAlternatives:
		c.report("alternatives", fmt.Sprintf("%d is not between 1 and %d", n, maxAlternatives))
	}
	var names unique[string]
	for i := range r.Alternatives {
		d := &r.Alternatives[i]
		c.item("alternatives", i)
		if r.Prioritized {
			c.requestName(d.Name)
			names.check(c, "name", d.Name)
			if d.AdminAccess {
				c.report("adminAccess", "must not be set where there are alternatives")
			}
		} else if d.Name != "" {
			c.text("name", d.Name)
			c.report("name", "must be empty unless prioritized")
		}
		c.demand(d)
		c.leave()
	}
}

func (c *checker) demand(d *DeviceDemand) {
	c.notEmpty("class", d.Class)
	c.deviceSelectors("selectors", d.Selectors)
	if d.All {
		if d.Count != 0 {
			c.report("count", fmt.Sprintf("%d is not 0, and all are wanted", d.Count))
		}
	} else {
		c.atLeast("count", d.Count, 1)
	}
	c.amounts("capacity", d.Capacity)
	c.deviceTolerations(d.Tolerations)
}

func (c *checker) deviceTolerations(list []Toleration) {
	for i := range list {
		t := &list[i]
		c.item("tolerations", i)
		c.text("key", t.Key)
		c.text("value", t.Value)
		oneOfOrEmpty(c, "operator", t.Operator, deviceTolerationOperators)
		if t.Key == "" && t.Operator != Exists {
			c.report("key", "may only be empty, for every key, where operator is "+string(Exists))
		}
		if t.Value != "" && t.Operator == Exists {
			c.report("value", "must be empty where operator is "+string(Exists))
		}
		oneOfOrEmpty(c, "effect", t.Effect, deviceEffects)
		c.leave()
	}
}

// requestName checks a name that others are put together from.
func (c *checker) requestName(name string) {
	c.notEmpty("name", name)
	if strings.Contains(name, "/") {
		c.report("name", fmt.Sprintf("%q has a slash, which comes between a request and its alternative", name))
	}
}

// requestNames are the names of its requests, and of their alternatives, where it has
// anything that may name them.
func (d *DeviceClaim) requestNames() map[string]bool {
	if len(d.Constraints) == 0 && len(d.Config) == 0 {
		return nil
	}
	known := map[string]bool{}
	for i := range d.Requests {
		r := &d.Requests[i]
		known[r.Name] = true
		for j := range r.Alternatives {
			if r.Prioritized {
				known[r.Name+"/"+r.Alternatives[j].Name] = true
			}
		}
	}
	return known
}

// requestNames checks names of requests of the claim, or of their alternatives.
func (c *checker) requestNames(known map[string]bool, names []string) {
	for i, name := range names {
		if !known[name] {
			c.item("requests", i)
			c.report("", fmt.Sprintf("%q is no request of the claim", name))
			c.leave()
		}
	}
}

// deviceClaimRefs checks the uses of claims by a workload or a group.
func (c *checker) deviceClaimRefs(field string, refs []DeviceClaimRef) {
	var names unique[string]
	for i := range refs {
		c.item(field, i)
		c.notEmpty("name", refs[i].Name)
		c.text("id", refs[i].ID)
		if refs[i].ID == "" && !refs[i].Generated {
			c.report("id", "may only be empty where the claim is generated")
		}
		names.check(c, "name", refs[i].Name)
		c.leave()
	}
}

// containers checks the parts of a workload.
func (c *checker) containers(field string, list []Container) {
	for i := range list {
		c.item(field, i)
		c.text("name", list[i].Name)
		c.resources("requests", &list[i].Requests)
		c.leave()
	}
}
