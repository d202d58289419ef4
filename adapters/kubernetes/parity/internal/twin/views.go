package twin

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// Views are what the next cycle of each side will see.
type Views struct {
	Reference []fwk.NodeInfo
	Subject   extpoints.ClusterView

	huge bool
	// volumes: pods have volumes.
	volumes bool
	// loose: the order of the pods of a node is left to chance.
	loose bool
}

// Look brings both sides' views up to date.
func (t *Twin) Look() Views {
	t.Reference.UpdateSnapshot()
	list, err := t.Reference.Snapshot.NodeInfos().List()
	if err != nil {
		panic(err)
	}
	return Views{list, t.Subject.Cluster(), t.Huge, t.Storage, t.shuffled}
}

// Compare compares the views: order of the nodes, and of each node the pods and
// every sum over them. It reports whether they have the same nodes in the same
// order.
func (v Views) Compare(r *differences.Report) bool {
	var ref, sub []string
	for _, n := range v.Reference {
		ref = append(ref, n.Node().Name)
	}
	for i := range v.Subject.Nodes().Len() {
		sub = append(sub, v.Subject.Nodes().At(i).Node.Name)
	}
	order := "view order"
	if v.volumes {
		order += " of nodes with volumes"
	}
	if !r.Compare(order, fmt.Sprint(ref), fmt.Sprint(sub), func() string { return "" }) {
		return false
	}
	for i, n := range v.Reference {
		b := v.Subject.Nodes().At(i)
		where := "view node"
		atLimit := func(name string) bool { return b.Requested.Get(name) == math.MaxInt64 }
		if v.huge && slices.ContainsFunc(b.Requested.Names(), atLimit) {
			where += " for amounts whose hundredfold is no int64"
		}
		r.Compare(where, v.describeReference(n, b), v.describeSubject(b), func() string { return Describe(nil, n.Node()) })
	}
	return true
}

// describeReference says what the reference knows of a node, in the words of
// describeSubject. It names no more images than the subject has.
func (v Views) describeReference(n fwk.NodeInfo, b *extpoints.NodeInfo) string {
	var d description
	d.resources("requested", n.GetRequested())
	d.add("estimated", n.GetNonZeroRequested().GetMilliCPU(), n.GetNonZeroRequested().GetMemory())
	d.resources("allocatable", n.GetAllocatable())
	d.add("ports", n.GetUsedPorts().Len())
	for _, name := range sortedNames(b.Images) {
		state := n.GetImageStates()[name]
		if state == nil {
			state = &fwk.ImageStateSummary{}
		}
		d.add("image "+name, state.Size, state.NumNodes)
	}
	d.add("images", len(n.GetImageStates()))
	d.add("pods", v.ordered(podIDs(n.GetPods())))
	d.add("with affinity", v.ordered(podIDs(n.GetPodsWithAffinity())))
	d.add("with required anti-affinity", v.ordered(podIDs(n.GetPodsWithRequiredAntiAffinity())))
	return d.String()
}

func (v Views) describeSubject(b *extpoints.NodeInfo) string {
	var d description
	d.add("requested", b.Requested.CPU, b.Requested.Memory, b.Requested.EphemeralStorage)
	for _, s := range sortedScalars(b.Requested.Scalars) {
		d.add(s.Name, s.Amount)
	}
	d.add("estimated", b.EstimatedCPU, b.EstimatedMemory)
	d.add("allocatable", b.Node.Allocatable.CPU, b.Node.Allocatable.Memory, b.Node.Allocatable.EphemeralStorage)
	for _, s := range sortedScalars(b.Node.Allocatable.Scalars) {
		d.add(s.Name, s.Amount)
	}
	ports := map[model.HostPort]bool{} // the subject has one for each that holds it
	for _, p := range b.Ports {
		ports[p] = true
	}
	d.add("ports", len(ports))
	for _, name := range sortedNames(b.Images) {
		d.add("image "+name, b.Images[name].Size, b.Images[name].NumNodes)
	}
	d.add("images", len(b.Images))
	d.add("pods", v.ordered(workloadIDs(b.Workloads)))
	d.add("with affinity", v.ordered(workloadIDs(b.WithAffinity)))
	d.add("with required anti-affinity", v.ordered(workloadIDs(b.WithRequiredAntiAffinity)))
	return d.String()
}

// ordered are the names as they are to be compared.
func (v Views) ordered(names []string) []string {
	if v.loose {
		slices.Sort(names)
	}
	return names
}

type description struct{ strings.Builder }

func (d *description) add(what string, values ...any) {
	fmt.Fprintf(d, "%s %s, ", what, strings.TrimSuffix(fmt.Sprintln(values...), "\n"))
}

func (d *description) resources(what string, r fwk.Resource) {
	d.add(what, r.GetMilliCPU(), r.GetMemory(), r.GetEphemeralStorage())
	var names []string
	for name, amount := range r.GetScalarResources() {
		if amount != 0 {
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.add(name, r.GetScalarResources()[v1.ResourceName(name)])
	}
}

func podIDs(list []fwk.PodInfo) []string {
	ids := []string{}
	for _, p := range list {
		ids = append(ids, string(p.GetPod().UID))
	}
	return ids
}

func workloadIDs(list []*extpoints.WorkloadInfo) []string {
	ids := []string{}
	for _, w := range list {
		ids = append(ids, w.ID)
	}
	return ids
}

// JSON is the value as text, for people.
func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
