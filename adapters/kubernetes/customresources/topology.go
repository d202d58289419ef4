package customresources

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// nodeTopology is a NodeResourceTopology, as far as it is read (topology.node.k8s.io/v1alpha2).
type nodeTopology struct {
	metav1.ObjectMeta `json:"metadata"`
	TopologyPolicies  []string    `json:"topologyPolicies"`
	Attributes        []attribute `json:"attributes"`
	Zones             []struct {
		Name      string `json:"name"`
		Type      string `json:"type"`
		Resources []struct {
			Name        string            `json:"name"`
			Allocatable resource.Quantity `json:"allocatable"`
			Available   resource.Quantity `json:"available"`
		} `json:"resources"`
		Costs []struct {
			Name  string `json:"name"`
			Value int    `json:"value"`
		} `json:"costs"`
	} `json:"zones"`
	came time.Time
}

type attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// zones are the reports whose fingerprint does not agree yet, by node, and the nodes of which the
// engine has a report. The pods are looked up by node in an index that is made anew from time
// to time.
type zones struct {
	lock
	waiting map[string]*nodeTopology
	known   map[string]bool
	pods    map[string][]*v1.Pod
	indexed time.Time
}

// topologyChanged says what changes with a NodeResourceTopology.
func (s *Source) topologyChanged(before, after *unstructured.Unstructured) ([]engine.Change, error) {
	if after == nil {
		name := before.GetName()
		s.zones.do(func() {
			delete(s.zones.waiting, name)
			delete(s.zones.known, name)
		})
		return []engine.Change{engine.RemoveObject(model.ObjectRef{Kind: model.NodeTopologyKind, ID: name})}, nil
	}
	t, err := decode[nodeTopology](after)
	if err != nil {
		return nil, err
	}
	t.came = s.o.Now()
	report := t.model()
	if err := report.Validate(); err != nil {
		return nil, err
	}
	var changes []engine.Change
	s.zones.do(func() {
		delete(s.zones.waiting, t.Name)
		if t.came.Sub(s.zones.indexed) >= retry {
			s.index(t.came)
		}
		first := !s.zones.known[t.Name]
		if !s.agrees(t, report) {
			s.zones.waiting[t.Name] = t
			if !first {
				return
			}
		}
		s.zones.known[t.Name] = true
		changes = []engine.Change{engine.PutObject(report)}
	})
	return changes, nil
}

// agreeing are the reports that agree by now.
func (s *Source) agreeing() (changes []engine.Change) {
	s.zones.do(func() {
		if len(s.zones.waiting) == 0 {
			return
		}
		s.index(s.o.Now())
		for _, name := range slices.Sorted(maps.Keys(s.zones.waiting)) {
			report := s.zones.waiting[name].model()
			if s.agrees(s.zones.waiting[name], report) {
				delete(s.zones.waiting, name)
				changes = append(changes, engine.PutObject(report))
			}
		}
	})
	return changes
}

// agrees reports whether the fingerprint is that of the pods on the node, and has the report
// list them then. Without a fingerprint it is true, and they are not listed.
func (s *Source) agrees(t *nodeTopology, report *model.NodeTopology) bool {
	want := t.attribute("nodeTopologyPodsFingerprint")
	if want == "" {
		want = t.Annotations["topology.node.k8s.io/fingerprint"]
	}
	if want == "" {
		return true
	}
	var counted []*v1.Pod
	var ids []string
	for _, p := range s.zones.pods[t.Name] {
		ids = append(ids, convert.ID(p))
		if t.attribute("nodeTopologyPodsFingerprintMethod") != "with-exclusive-resources" || t.exclusive(p) {
			counted = append(counted, p)
		}
	}
	if fingerprint(counted) != want {
		return false
	}
	slices.Sort(ids)
	report.Listed, report.Workloads = true, ids
	report.At = t.came // it has all who are in it
	return true
}

// index makes the index of the pods whose nodes have begun with them.
func (s *Source) index(now time.Time) {
	s.zones.pods, s.zones.indexed = map[string][]*v1.Pod{}, now
	all, err := s.o.Pods.List(labels.Everything())
	if err != nil { // there is no such error of a list in memory
		return
	}
	for _, p := range all {
		if p.Spec.NodeName != "" && p.Status.Phase != v1.PodPending && p.Status.Phase != "" {
			s.zones.pods[p.Spec.NodeName] = append(s.zones.pods[p.Spec.NodeName], p)
		}
	}
}

// fingerprint is that of the pods, whatever their order (github.com/k8stopologyawareschedwg/
// podfingerprint, v1).
func fingerprint(pods []*v1.Pod) string {
	sums := make([]uint64, len(pods))
	for i, p := range pods {
		d := xxhash.NewWithSeed(xxhash.Sum64String(p.Namespace))
		_, _ = d.WriteString(p.Name) // never fails
		sums[i] = d.Sum64()
	}
	slices.Sort(sums)
	all := xxhash.New()
	for _, sum := range sums {
		_, _ = all.Write(binary.LittleEndian.AppendUint64(nil, sum))
	}
	return "pfp0v001" + hex.EncodeToString(all.Sum(nil))
}

// exclusive reports whether the pod has anything for itself, by what the report knows of.
func (t *nodeTopology) exclusive(p *v1.Pod) bool {
	containers := slices.Clone(p.Spec.Containers)
	for i := range p.Spec.InitContainers {
		if r := p.Spec.InitContainers[i].RestartPolicy; r != nil && *r == v1.ContainerRestartPolicyAlways {
			containers = append(containers, p.Spec.InitContainers[i])
		}
	}
	for i := range containers {
		for name, q := range containers[i].Resources.Requests {
			if q.Sign() > 0 && t.gives(string(name), q, p.Status.QOSClass == v1.PodQOSGuaranteed) {
				return true
			}
		}
	}
	return false
}

// gives reports whether so much of the resource is given to a container for itself.
func (t *nodeTopology) gives(name string, q resource.Quantity, guaranteed bool) bool {
	switch {
	case name == "cpu":
		return guaranteed && q.MilliValue()%1000 == 0
	case name == "memory" || strings.HasPrefix(name, "hugepages-"):
		return guaranteed
	}
	for i := range t.Zones {
		for j := range t.Zones[i].Resources {
			if t.Zones[i].Resources[j].Name == name && strings.Contains(name, "/") {
				return true
			}
		}
	}
	return false
}

func (t *nodeTopology) attribute(name string) string {
	for _, a := range t.Attributes {
		if a.Name == name {
			return a.Value
		}
	}
	return ""
}

// lag is how long before a report comes what it says was so, where it does not say who is in it.
const lag = 30 * time.Second

// model is the report, without the workloads that it counts.
func (t *nodeTopology) model() *model.NodeTopology {
	m := &model.NodeTopology{Node: t.Name, At: t.came.Add(-lag), Source: "NodeResourceTopology"}
	t.configure(m)
	for i := range t.Zones {
		z := &t.Zones[i]
		id, ok := zoneID(z.Name)
		if z.Type != "Node" || !ok {
			continue
		}
		zone := model.NodeZone{ID: id}
		for _, r := range z.Resources {
			zone.Resources = append(zone.Resources, model.ZoneResource{Name: r.Name, Allocatable: units(r.Name, r.Allocatable), Available: units(r.Name, r.Available)})
		}
		for _, c := range z.Costs {
			if to, ok := zoneID(c.Name); ok {
				if zone.Distances == nil {
					zone.Distances = map[int]int{}
				}
				zone.Distances[to] = c.Value
			}
		}
		m.Zones = append(m.Zones, zone)
	}
	slices.SortStableFunc(m.Zones, func(a, b model.NodeZone) int { return cmp.Compare(a.ID, b.ID) })
	return m
}

// units is the amount in the model's units.
func units(name string, q resource.Quantity) int64 {
	if name == "cpu" {
		return max(q.MilliValue(), 0)
	}
	return max(q.Value(), 0)
}

// zoneID reads "node-3"; zones of other names, and of large numbers, are not looked at.
func zoneID(name string) (int, bool) {
	digits, is := strings.CutPrefix(name, "node-")
	id, err := strconv.Atoi(digits)
	return id, is && err == nil && id >= 0 && id <= 63
}

// oldPolicies are the names that say policy and scope at once, which are deprecated.
var oldPolicies = map[string]struct {
	policy model.TopologyPolicy
	scope  model.TopologyScope
}{
	"None":                         {model.AlignNone, ""},
	"BestEffort":                   {model.AlignBestEffort, model.AlignContainer},
	"BestEffortContainerLevel":     {model.AlignBestEffort, model.AlignContainer},
	"BestEffortPodLevel":           {model.AlignBestEffort, model.AlignWorkload},
	"Restricted":                   {model.AlignRestricted, model.AlignContainer},
	"RestrictedContainerLevel":     {model.AlignRestricted, model.AlignContainer},
	"RestrictedPodLevel":           {model.AlignRestricted, model.AlignWorkload},
	"SingleNUMANodeContainerLevel": {model.AlignSingleZone, model.AlignContainer},
	"SingleNUMANodePodLevel":       {model.AlignSingleZone, model.AlignWorkload},
}

// configure reads policy, scope and number of zones: of the deprecated list the first, over
// which the attributes go. What is not known is not looked at.
func (t *nodeTopology) configure(m *model.NodeTopology) {
	if len(t.TopologyPolicies) > 0 {
		old := oldPolicies[t.TopologyPolicies[0]]
		m.Policy, m.Scope = old.policy, old.scope
	}
	for _, a := range t.Attributes {
		switch a.Name {
		case "topologyManagerPolicy":
			if p := model.TopologyPolicy(a.Value); slices.Contains([]model.TopologyPolicy{model.AlignNone, model.AlignBestEffort, model.AlignRestricted, model.AlignSingleZone}, p) {
				m.Policy = p
			}
		case "topologyManagerScope":
			switch a.Value {
			case "container":
				m.Scope = model.AlignContainer
			case "pod":
				m.Scope = model.AlignWorkload
			}
		case "topologyManagerMaxNUMANodes":
			if n, err := strconv.Atoi(a.Value); err == nil && n > 1 {
				m.MaxZones = min(n, 1024)
			}
		}
	}
}
