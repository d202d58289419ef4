package scheduler

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Where operators have said anything of queues, accounts, users or limits, the engine
// orders by queues; else by priority and number alone, as one queue of one user would be.
// That is not one and the same thing for the engine: by queues every user is a part of the
// order by himself, and jobs of different users are not compared by priority. So nothing of
// it is there for those who configure nothing. When the first is said, or the last taken
// back, the controller begins anew with another engine, as a new leader does.

// Principals of users and of accounts have names of their own, as both may be called the
// same.
func userPrincipal(name string) string    { return "user/" + name }
func accountPrincipal(name string) string { return "account/" + name }

// refreshTree tells the engine of queues, accounts, users and limits, and has it forget
// those that are gone.
func (c *Controller) refreshTree(v state.View) {
	next := map[model.ObjectRef]model.Object{}
	var order []model.ObjectRef
	for _, o := range c.treeModels(v) {
		ref := model.RefOf(o)
		if next[ref] == nil {
			order = append(order, ref)
		}
		next[ref] = o
	}
	for _, ref := range order {
		if !reflect.DeepEqual(next[ref], c.tree[ref]) {
			c.change(engine.PutObject(next[ref]))
		}
	}
	var gone []model.ObjectRef
	for ref := range c.tree {
		if next[ref] == nil {
			gone = append(gone, ref)
		}
	}
	slices.SortFunc(gone, compareRefs)
	for _, ref := range gone {
		c.change(engine.RemoveObject(ref))
	}
	c.tree = next
}

func compareRefs(a, b model.ObjectRef) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
}

// treeModels are queues, accounts, users and limits as the engine sees them. Users are
// those of whom something is said, and those who have jobs.
func (c *Controller) treeModels(v state.View) (list []model.Object) {
	for _, q := range v.Queues() {
		list = append(list, queueModel(q))
	}
	for a := range v.Accounts() {
		list = append(list, accountModel(a))
	}
	for u := range v.Users() {
		list = append(list, userModel(u))
	}
	for _, name := range slices.Sorted(maps.Keys(c.owners)) {
		if v.User(name) == nil {
			list = append(list, userModel(&state.User{Name: name}))
		}
	}
	for l := range v.Limits() {
		for _, m := range limitModels(l) {
			list = append(list, m)
		}
	}
	return list
}

// ownerKnown makes sure that the engine knows the owner of a job.
func (c *Controller) ownerKnown(v state.View, j *state.Job) {
	c.ownerNamed(v, j.Owner)
}

func (c *Controller) ownerNamed(v state.View, name string) {
	if c.owners[name] {
		return
	}
	c.owners[name] = true
	if v.User(name) == nil {
		c.putTree(userModel(&state.User{Name: name}))
	}
}

func (c *Controller) putTree(o model.Object) {
	c.tree[model.RefOf(o)] = o
	c.change(engine.PutObject(o))
}

var policies = map[api.Policy]model.OrderPolicy{
	"": model.OrderShare, api.PolicyShare: model.OrderShare, api.PolicyFIFO: model.OrderFIFO, api.PolicyPriority: model.OrderPriority,
	api.PolicyUsage: model.OrderUsage,
}

var reclaims = map[api.Reclaim]model.ReclaimPolicy{
	"": model.ReclaimNever, api.ReclaimNever: model.ReclaimNever, api.ReclaimLower: model.ReclaimLower, api.ReclaimAny: model.ReclaimAny,
}

// queueModel is a queue as the engine sees it. The priority of a queue is added to that of
// its jobs, and puts it before others too.
func queueModel(q *state.Queue) *model.Queue {
	m := &model.Queue{
		Name: q.Name, Parent: q.Parent, Weight: weight(q.Weight), Priority: q.Priority, Policy: policies[q.Policy],
		Guaranteed: amounts(q.Guaranteed), Max: amounts(q.Max), Lend: amounts(q.Lend), Borrow: amounts(q.Borrow),
		Reclaim: reclaims[q.Reclaim], MinRuntime: time.Duration(q.MinRuntime), Protected: int64(q.Protected) * model.PerMillion / 100,
	}
	if q.Policy == api.PolicyUsage {
		m.HalfLife, m.Prices = time.Duration(cmp.Or(q.HalfLife, api.DefaultHalfLife)), prices(q.Prices)
	}
	return m
}

// prices are prices by the engine's names of resources. Its price of a GPU is that of a thousandth, so all
// are times a thousand.
func prices(said map[string]int64) map[string]int64 {
	if len(said) == 0 {
		return nil
	}
	out := map[string]int64{}
	for name, n := range said {
		switch name {
		case "memory":
			out[model.Memory] = n * pricesPer
		case "disk":
			out[model.EphemeralStorage] = n * pricesPer
		case "gpus":
			out[gpuClass] = n
		default: // cpu has the engine's name
			out[name] = n * pricesPer
		}
	}
	return out
}

// pricesPer is how many of the engine's prices one of the fleet's is.
const pricesPer = model.WholeDevice

// weight is the weight, 1 where none is said: for the engine those without one come last.
func weight(n int32) int64 { return int64(max(n, 1)) }

func accountModel(a *state.Account) *model.Principal {
	p := &model.Principal{Name: accountPrincipal(a.Name), Queue: a.Queue}
	if a.Parent != "" {
		p.Parent = accountPrincipal(a.Parent)
	}
	return p
}

func userModel(u *state.User) *model.Principal {
	p := &model.Principal{Name: userPrincipal(u.Name), Queue: u.Queue, Shares: weight(u.Weight)}
	if u.Account != "" {
		p.Parent = accountPrincipal(u.Account)
	}
	return p
}

// amounts are amounts by the engine's names of resources, in its units.
func amounts(a *api.Amounts) map[string]int64 {
	if a.IsZero() {
		return nil
	}
	out := maps.Clone(a.Other)
	if out == nil {
		out = map[string]int64{}
	}
	if a.CPU != nil {
		out[model.CPU] = int64(*a.CPU)
	}
	if a.Memory != nil {
		out[model.Memory] = int64(*a.Memory)
	}
	if a.Disk != nil {
		out[model.EphemeralStorage] = int64(*a.Disk)
	}
	if a.GPUs != nil {
		out[gpuClass] = *a.GPUs * model.WholeDevice
	}
	return out
}

// limitModels are a limit as the engine sees it: one for each thing that it counts.
func limitModels(l *state.Limit) (list []*model.Limit) {
	of := model.Limit{Queue: l.Queue, Scope: model.LimitSubtree}
	switch {
	case l.Account != "":
		of.Principal = accountPrincipal(l.Account)
	case l.User != "":
		of.Principal = userPrincipal(l.User)
	}
	switch l.Each {
	case api.EachUser:
		of.Scope = model.LimitEachPrincipal
	case api.EachTask:
		of.Scope = model.LimitEachWorkload
	}
	if l.Running != nil {
		m := of
		m.Name, m.Measure, m.Amount = limitName(l.Name, "running"), model.LimitRunning, *l.Running
		list = append(list, &m)
	}
	use := amounts(l.Use)
	for _, resource := range slices.Sorted(maps.Keys(use)) {
		m := of
		m.Name, m.Measure, m.Resource, m.Amount = limitName(l.Name, resource), model.LimitResource, resource, use[resource]
		list = append(list, &m)
	}
	hours := amounts(l.Hours)
	for _, resource := range slices.Sorted(maps.Keys(hours)) {
		m := of
		m.Name, m.Measure, m.Resource, m.Amount = limitName(l.Name, "hours/"+resource), model.LimitResourceSeconds, resource, hours[resource]*secondsInHour
		if of.Scope != model.LimitEachWorkload {
			m.HalfLife = time.Duration(cmp.Or(l.HalfLife, api.DefaultHalfLife))
		}
		list = append(list, &m)
	}
	return list
}

const secondsInHour = int64(time.Hour / time.Second)

// limitName is the engine's name of a limit on one thing. Names of limits have no slash.
func limitName(limit, what string) string { return fmt.Sprintf("%s/%s", limit, what) }

// workload is a task as the engine sees it, with its place in the order. Avoid are nodes
// that the attempt is kept from.
func (c *Controller) workload(v state.View, j *state.Job, q *state.Queue, id job.TaskID, avoid []string) *model.Workload {
	w := workloadModel(j, q, id, avoid)
	if c.byQueues {
		c.ownerKnown(v, j)
	}
	if c.byQueues || c.cfg.Forecasts > 0 { // a forecast goes by those that are alike in this
		w.Queue, w.Principal = j.Spec.Queue, userPrincipal(j.Owner)
	}
	return w
}
