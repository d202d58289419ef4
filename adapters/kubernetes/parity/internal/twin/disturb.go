package twin

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/berth-project/berth/adapters/kubernetes/parity/generate"
)

// Populate fills the empty cluster: namespaces, owners and the given number of
// nodes.
func (t *Twin) Populate(nodes int) {
	for _, n := range t.NamespaceObjects() {
		t.PutNamespace(n)
	}
	t.PutOwners(t.Owners())
	for i := range nodes {
		t.PutNode(t.Source.Node(i))
	}
	t.populateObjects()
}

// AddNode adds a node of a name that is free, if there is one.
func (t *Twin) AddNode() {
	for range 30 {
		if n := t.Source.Node(t.IntN(t.Source.Nodes)); t.Node(n.Name) == nil {
			t.PutNode(n)
			return
		}
	}
}

// AnyNode draws the name of a node, empty where there is none.
func (t *Twin) AnyNode() string {
	if len(t.nodes) == 0 {
		return ""
	}
	return t.nodes[t.IntN(len(t.nodes))]
}

// AnyPod draws a pod in one of the places, nil where none was found.
func (t *Twin) AnyPod(places ...Place) *Pod {
	for range 10 {
		if len(t.pods) == 0 {
			return nil
		}
		p := t.pods[t.IntN(len(t.pods))]
		for _, place := range places {
			if p.Place == place {
				return p
			}
		}
	}
	return nil
}

// Disturb makes a random change, and says what it was. The number of nodes stays
// near the wanted one.
func (t *Twin) Disturb(wanted int) string {
	if (t.Storage || t.Devices) && t.Percent(40) {
		return t.DisturbObjects()
	}
	switch k := t.IntN(24); {
	case k <= 1 && len(t.nodes) < wanted+3:
		t.AddNode()
		return "a new node"
	case k <= 3 && len(t.nodes) > max(wanted-3, 0):
		if name := t.AnyNode(); name != "" {
			t.RemoveNode(name)
		}
		return "removal of a node"
	case k <= 8:
		if name := t.AnyNode(); name != "" {
			t.PutNode(t.ChangeNode(t.Node(name)))
		}
		return "a change of a node"
	case k <= 13:
		t.Adopt()
		return "a pod found on a node"
	case k <= 17:
		if p := t.AnyPod(Assumed, Placed); p != nil {
			t.Remove(p)
		}
		return "removal of a pod on a node"
	case k <= 19:
		if p := t.AnyPod(Assumed); p != nil {
			t.Confirm(p)
		}
		return "a confirmation"
	case k <= 21:
		t.changePlaced()
		return "a change of a pod on a node"
	case k == 22:
		t.PutNamespace(t.Namespace(generate.Pick(t.Source, generate.Namespaces[:3]...)))
		return "a change of a namespace"
	default:
		if p := t.AnyPod(Placed); p != nil && !p.Going {
			t.Terminate(p)
		}
		return "a pod being told to go"
	}
}

// Adopt adds a pod that is on a node already; now and then the node is unknown.
func (t *Twin) Adopt() {
	name := t.AnyNode()
	if name == "" || t.Percent(3) {
		name = generate.NodeName(t.IntN(t.Source.Nodes))
	}
	// Start times are all different, so that preemption has no ties.
	since := t.now.Add(-time.Duration(t.IntN(1000))*time.Second + time.Duration(t.serial))
	t.Put(t.Source.Placed(t.NewPod(), name, since))
}

// changePlaced changes labels, requests or tolerations of a pod on a node.
func (t *Twin) changePlaced() {
	if p := t.AnyPod(Placed); p != nil {
		t.Update(p, t.ChangePod(t.Object(p)))
	}
}

// Describe is for people: what a pod and a node look like.
func Describe(p *v1.Pod, n *v1.Node) string {
	text := ""
	if p != nil {
		text = fmt.Sprintf("pod %s/%s labels %s spec %s status %s", p.Namespace, p.Name, JSON(p.Labels), JSON(p.Spec), JSON(p.Status))
	}
	if n != nil {
		text += fmt.Sprintf("; node %s labels %s spec %s status %s", n.Name, JSON(n.Labels), JSON(n.Spec), JSON(n.Status))
	}
	return text
}
