package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/model"
)

// Labels that the controller gives to nodes and workloads.
const (
	// NodeLabel is the label of every node that has its name.
	NodeLabel = "node"
	// ZoneLabel, where an operator gives it, is a node's failure domain: nodes are
	// visited zone by zone in turn.
	ZoneLabel = "zone"
	// jobLabel is the label of workloads that has the job.
	jobLabel = "berth/job"
	// reservationLabel is the label of workloads that has the reservation they may use.
	reservationLabel = "berth/reservation"
	// closesLabel has the moment when the maintenance of a node begins, in seconds
	// since 1970, where there is one to come.
	closesLabel = "berth/closes"
	// closedLabel says why a node takes no tasks now, where it does not.
	closedLabel = "berth/closed"
)

// gpuClass is what the engine calls GPUs.
const gpuClass = "gpu"

// nodeModel is the node as the engine sees it at the time.
func nodeModel(n *state.Node, now time.Time) *model.Node {
	labels := n.AllLabels()
	labels[NodeLabel] = n.Node
	m := &n.Machine
	out := &model.Node{
		Name: n.Node, Labels: labels, Zone: labels[ZoneLabel],
		Allocatable: model.Resources{
			CPU: int64(m.CPU), Memory: int64(m.Memory), EphemeralStorage: int64(m.Disk), Scalars: scalars(m.Other),
		},
		MaxWorkloads:  m.MaxTasks,
		Unschedulable: !n.Usable(),
	}
	if w := n.Maintenance; w != nil && now.Before(w.To) {
		labels[closesLabel] = strconv.FormatInt(w.From.Unix(), 10)
		out.Unschedulable = out.Unschedulable || !now.Before(w.From)
	}
	if out.Unschedulable {
		labels[closedLabel] = closed(n)
	}
	for _, g := range m.GPUs {
		out.Devices = append(out.Devices, model.Device{Class: gpuClass, Model: g.Model})
	}
	return out
}

// closed says why a node takes no tasks now.
func closed(n *state.Node) string {
	switch {
	case n.State != api.NodeReady:
		return "is unreachable"
	case n.Drain != nil:
		return "is drained" + n.Drain.Because()
	case n.Ailment() != "":
		return "is unhealthy"
	}
	return "is in maintenance" + n.Maintenance.Because()
}

func scalars(amounts map[string]int64) []model.Scalar {
	var out []model.Scalar
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		out = append(out, model.Scalar{Name: name, Amount: amounts[name]})
	}
	return out
}

// requests is what the spec asks for.
func requests(r *job.Resources) model.Resources {
	return model.Resources{
		CPU: int64(r.CPU), Memory: int64(r.Memory), EphemeralStorage: int64(r.Disk), Scalars: scalars(r.Other),
	}
}

// groupID is that of a gang's group.
func groupID(id job.TaskID) string { return fmt.Sprintf("%d_%d.%d", id.Job, id.Element, id.Attempt) }

// groupModel is the group of the tasks of an attempt of a gang.
func groupModel(j *state.Job, q *state.Queue, id job.TaskID) *model.Group {
	return &model.Group{
		ID: groupID(id), Namespace: j.Owner, Policy: model.Gang, MinCount: j.Spec.Tasks, TopologyKey: j.Spec.SameLabel,
		Priority: priority(j, q), Preemption: preemption(q), Disruption: model.DisruptAll, CreatedAt: j.Submitted,
	}
}

func priority(j *state.Job, q *state.Queue) int32 { return j.Spec.Priority + q.Priority }

// preemption is that of the queue's jobs. For the engine a workload that may displace others in other
// queues may displace those of lower priority in its own.
func preemption(q *state.Queue) model.PreemptionPolicy {
	if q.Preempts || q.Reclaims() {
		return model.PreemptLower
	}
	return model.PreemptNever
}

// task is the Data of a workload.
type task struct {
	id    job.TaskID
	limit time.Duration // of its time; 0: none
}

// AlikeTo implements [model.Alike]: no plugin looks at the task's number.
func (t task) AlikeTo(other any) bool {
	o, ok := other.(task)
	return ok && o.limit == t.limit
}

// taskOf is the task that a workload is.
func taskOf(w *model.Workload) task { return w.Data.(task) }

// startTime is how long it takes, at most, from the decision about a task until it
// runs. Its time limit begins then.
const startTime = 5 * time.Second

// roomLimit is for how long a task may take room on its node, from the decision on: until
// it runs, then by its limit, and then from TERM to KILL. 0: for ever.
func roomLimit(s *job.Spec) time.Duration {
	if s.TimeLimit == 0 {
		return 0
	}
	return startTime + time.Duration(s.TimeLimit) + killGrace(s)
}

func killGrace(s *job.Spec) time.Duration {
	if s.KillGrace != nil {
		return time.Duration(*s.KillGrace)
	}
	return time.Duration(job.DefaultKillGrace)
}

// workloadModel is a task as the engine sees it. Avoid are nodes that the attempt is
// kept from.
func workloadModel(j *state.Job, q *state.Queue, id job.TaskID, avoid []string) *model.Workload {
	s := j.Spec
	w := &model.Workload{
		ID: id.String(), Namespace: j.Owner, Name: s.Name, Labels: maps.Clone(s.Labels),
		Priority: priority(j, q), Preemption: preemption(q),
		Requests: requests(&s.Resources), NodeAffinity: nodeAffinity(s, q, avoid),
		Affinity: affinity(s.Near), AntiAffinity: affinity(s.Apart), CreatedAt: j.Submitted,
		Limit: roomLimit(s), Data: task{id: id, limit: time.Duration(s.TimeLimit)},
	}
	if w.Labels == nil {
		w.Labels = map[string]string{}
	}
	w.Labels[jobLabel] = j.ID.String()
	delete(w.Labels, reservationLabel) // nobody lets himself in
	if s.Reservation != "" {
		w.Labels[reservationLabel] = s.Reservation
	}
	if s.Tasks > 1 {
		w.Group = groupID(id)
	}
	if g := s.Resources.GPUs; g != nil {
		w.Devices = []model.DeviceRequest{{Class: gpuClass, Count: g.Count, Share: g.Share, Models: g.Models}}
	}
	for i := range s.Spread {
		w.Spread = append(w.Spread, spread(&s.Spread[i], j.ID))
	}
	return w
}

// nodeAffinity is the nodes that will do, and those that are liked.
func nodeAffinity(s *job.Spec, q *state.Queue, avoid []string) *model.NodeAffinity {
	var labels []model.Requirement
	for _, c := range slices.Concat(q.Nodes, s.Constraints) {
		labels = append(labels, requirement(&c))
	}
	if len(s.Nodes) > 0 {
		labels = append(labels, model.Requirement{Key: NodeLabel, Operator: model.In, Values: s.Nodes})
	}
	not := slices.Concat(s.ExcludeNodes, avoid)
	if len(not) > 0 {
		labels = append(labels, model.Requirement{Key: NodeLabel, Operator: model.NotIn, Values: not})
	}
	a := &model.NodeAffinity{}
	if len(labels) > 0 {
		a.Required = &model.NodeTerms{Terms: []model.NodeTerm{{Labels: labels}}}
	}
	for i := range s.Preferences {
		p := &s.Preferences[i]
		term := model.NodeTerm{Labels: []model.Requirement{requirement(&p.Constraint)}}
		a.Preferred = append(a.Preferred, model.PreferredNodeTerm{Weight: p.Weight, NodeTerm: term})
	}
	if a.Required == nil && a.Preferred == nil {
		return nil
	}
	return a
}

var operators = map[job.Operator]model.Operator{
	job.In: model.In, job.NotIn: model.NotIn, job.Exists: model.Exists, job.NotExists: model.DoesNotExist,
	job.Gt: model.Gt, job.Lt: model.Lt,
}

func requirement(c *job.Constraint) model.Requirement {
	return model.Requirement{Key: c.Label, Operator: operators[c.Operator], Values: c.Values}
}

// affinity is what draws a job towards others, or keeps it away.
func affinity(list []job.Affinity) *model.WorkloadAffinity {
	if len(list) == 0 {
		return nil
	}
	out := &model.WorkloadAffinity{}
	for i := range list {
		a := &list[i]
		term := model.AffinityTerm{Selector: model.SelectLabels(a.Labels), TopologyKey: orNode(a.SameLabel)}
		if a.Weight == 0 {
			out.Required = append(out.Required, term)
		} else {
			out.Preferred = append(out.Preferred, model.WeightedAffinityTerm{Weight: a.Weight, AffinityTerm: term})
		}
	}
	return out
}

func spread(s *job.Spread, id job.ID) model.SpreadConstraint {
	mode := model.SpreadRequired
	if s.Soft {
		mode = model.SpreadPreferred
	}
	return model.SpreadConstraint{
		TopologyKey: orNode(s.Label), MaxSkew: s.MaxSkew, Mode: mode,
		Selector: model.SelectLabels(map[string]string{jobLabel: id.String()}),
	}
}

// orNode is the label, or the node itself.
func orNode(label string) string {
	if strings.TrimSpace(label) == "" {
		return NodeLabel
	}
	return label
}
