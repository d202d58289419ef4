package model

import "fmt"

// The values that the enumerated fields of a workload may have, in the order in
// which messages list them.
var (
	tolerationOperators = []Operator{Equal, Exists, Gt, Lt}
	protocols           = []Protocol{TCP, UDP, SCTP}
	spreadModes         = []SpreadMode{SpreadRequired, SpreadPreferred}
	qosClasses          = []QoSClass{Guaranteed, Burstable, BestEffort}
	inclusionPolicies   = []InclusionPolicy{Honor, Ignore}
)

// Validate returns all that is wrong with the workload as a [*ValidationError],
// nil where it is valid.
func (w *Workload) Validate() error {
	var c checker
	c.notEmpty("id", w.ID)
	c.text("namespace", w.Namespace)
	c.text("name", w.Name)
	c.labels("labels", w.Labels)
	c.text("profile", w.Profile)
	c.text("group", w.Group)
	c.text("queue", w.Queue)
	c.text("principal", w.Principal)
	oneOfOrEmpty(&c, "preemption", w.Preemption, preemptionPolicies)
	oneOfOrEmpty(&c, "qos", w.QoS, qosClasses)
	c.resources("requests", &w.Requests)
	if w.Estimate != nil {
		c.resources("estimate", w.Estimate)
	}
	c.resources("usageLimits", &w.UsageLimits)
	if w.FitLoad != nil {
		c.resources("fitLoad", w.FitLoad)
	}
	c.text("nodeName", w.NodeName)
	c.labels("nodeSelector", w.NodeSelector)
	c.nodeAffinity("nodeAffinity", w.NodeAffinity)
	c.workloadAffinity("affinity", w.Affinity)
	c.workloadAffinity("antiAffinity", w.AntiAffinity)
	c.spread("spread", w.Spread)
	c.tolerations("tolerations", w.Tolerations)
	c.ports("ports", w.Ports)
	c.names("images", w.Images)
	c.deviceRequests("devices", w.Devices)
	c.deviceClaimRefs("deviceClaims", w.DeviceClaims)
	for i := range w.DeviceClaims {
		if w.DeviceClaims[i].OfGroup && w.Group == "" {
			c.item("deviceClaims", i)
			c.report("ofGroup", "the workload is in no group")
			c.leave()
		}
	}
	c.containers("containers", w.Containers)
	c.volumeClaimRefs("volumeClaims", w.VolumeClaims)
	c.disks("disks", w.Disks)
	c.names("features", w.Features)
	c.ascending("syscalls", w.Syscalls)
	c.time("createdAt", w.CreatedAt)
	if w.MinLimit < 0 || w.MinLimit > max(w.Limit, 0) {
		c.report("minLimit", fmt.Sprintf("%v is not between 0 and the limit, %v", w.MinLimit, w.Limit))
	}
	if w.Limit < 0 {
		c.report("limit", fmt.Sprintf("%v is negative; 0 is no limit", w.Limit))
	}
	c.selector("ownerSelector", w.OwnerSelector)
	var gates unique[string]
	for i := range w.Gates {
		c.item("gates", i)
		c.notEmpty("", w.Gates[i])
		gates.check(&c, "name", w.Gates[i])
		c.leave()
	}
	return invalid("workload", w.ID, c.problems)
}

// ascending wants every item to be above the one before it; the first must not be empty.
func (c *checker) ascending(field string, values []string) {
	c.texts(field, values)
	before := ""
	for i, v := range values {
		if v <= before {
			c.item(field, i)
			c.report("", fmt.Sprintf("%q is not above %q, which is before it", v, before))
			c.leave()
		}
		before = v
	}
}

func (c *checker) nodeAffinity(field string, a *NodeAffinity) {
	if a == nil {
		return
	}
	c.enter(field)
	c.nodeTerms("required", a.Required)
	for i := range a.Preferred {
		c.item("preferred", i)
		c.weight(a.Preferred[i].Weight)
		c.nodeTerm(&a.Preferred[i].NodeTerm)
		c.leave()
	}
	c.leave()
}

func (c *checker) workloadAffinity(field string, a *WorkloadAffinity) {
	if a == nil {
		return
	}
	c.enter(field)
	for i := range a.Required {
		c.item("required", i)
		c.affinityTerm(&a.Required[i])
		c.leave()
	}
	for i := range a.Preferred {
		c.item("preferred", i)
		c.weight(a.Preferred[i].Weight)
		c.affinityTerm(&a.Preferred[i].AffinityTerm)
		c.leave()
	}
	c.leave()
}

// affinityTerm does not mind an empty name in Namespaces: workloads may be in
// the nameless namespace.
func (c *checker) affinityTerm(t *AffinityTerm) {
	c.selector("selector", t.Selector)
	c.texts("namespaces", t.Namespaces)
	c.selector("namespaceSelector", t.NamespaceSelector)
	c.notEmpty("topologyKey", t.TopologyKey)
}

func (c *checker) weight(weight int32) { c.between("weight", int64(weight), 1, 100) }

// spreadKey is what a workload has one spread constraint of.
type spreadKey struct {
	topologyKey string
	mode        SpreadMode
}

// spread does not mind a label that is in MatchLabelKeys and in the selector:
// Kubernetes' API server itself stores constraints like that.
func (c *checker) spread(field string, constraints []SpreadConstraint) {
	var keys unique[spreadKey]
	for i := range constraints {
		s := &constraints[i]
		c.item(field, i)
		c.notEmpty("topologyKey", s.TopologyKey)
		c.atLeast("maxSkew", int64(s.MaxSkew), 1)
		oneOf(c, "mode", s.Mode, spreadModes)
		c.selector("selector", s.Selector)
		c.atLeast("minDomains", int64(s.MinDomains), 0)
		if s.MinDomains > 0 && s.Mode != SpreadRequired {
			c.report("minDomains", "only has a meaning where mode is "+string(SpreadRequired))
		}
		oneOfOrEmpty(c, "nodeAffinityPolicy", s.NodeAffinityPolicy, inclusionPolicies)
		oneOfOrEmpty(c, "nodeTaintsPolicy", s.NodeTaintsPolicy, inclusionPolicies)
		if len(s.MatchLabelKeys) > 0 && s.Selector == nil {
			c.report("matchLabelKeys", "has no selector to be added to")
		}
		c.names("matchLabelKeys", s.MatchLabelKeys)
		keys.check(c, "topology key and mode", spreadKey{s.TopologyKey, s.Mode})
		c.leave()
	}
}

func (c *checker) tolerations(field string, tolerations []Toleration) {
	for i := range tolerations {
		t := &tolerations[i]
		c.item(field, i)
		c.text("key", t.Key)
		oneOfOrEmpty(c, "operator", t.Operator, tolerationOperators)
		c.text("value", t.Value)
		switch t.Operator {
		case "", Equal:
			c.tolerationKey(t)
		case Exists:
			if t.Value != "" {
				c.report("value", "must be empty where operator is "+string(Exists))
			}
		case Gt, Lt:
			c.tolerationKey(t)
			if _, ok := plainInt(t.Value); !ok {
				c.report("value", fmt.Sprintf("%q is not a whole number of 64 bits without a plus sign or leading zeros", t.Value))
			}
		}
		oneOfOrEmpty(c, "effect", t.Effect, taintEffects)
		c.leave()
	}
}

// tolerationKey checks the key of a toleration whose operator is not Exists.
func (c *checker) tolerationKey(t *Toleration) {
	if t.Key == "" {
		c.report("key", "may only be empty, for every key, where operator is "+string(Exists))
	}
}

// ports takes the empty protocol for TCP. An empty address and AllAddresses
// are not taken for duplicates of each other, nor is a single address for one
// of all addresses: a workload is not in its own way.
func (c *checker) ports(field string, ports []HostPort) {
	var different unique[HostPort]
	for i := range ports {
		c.item(field, i)
		c.text("ip", ports[i].IP)
		oneOfOrEmpty(c, "protocol", ports[i].Protocol, protocols)
		c.between("port", int64(ports[i].Port), 1, 65535)
		different.check(c, "address, protocol and port", HostPort{ports[i].IP, ports[i].protocol(), ports[i].Port})
		c.leave()
	}
}

func (c *checker) deviceRequests(field string, requests []DeviceRequest) {
	for i := range requests {
		r := &requests[i]
		c.item(field, i)
		c.notEmpty("class", r.Class)
		c.atLeast("count", r.Count, 1)
		if r.Count > 1 && r.Share >= 1 && r.Share < WholeDevice {
			c.report("count", fmt.Sprintf("%d must be 1 where share is less than a whole device", r.Count))
		}
		c.between("share", r.Share, 1, WholeDevice)
		c.names("models", r.Models)
		c.leave()
	}
}
