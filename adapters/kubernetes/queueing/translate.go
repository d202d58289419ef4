package queueing

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/berth-project/berth/adapters/kubernetes/convert"
	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/model"
)

// Validate lists everything that is wrong, an [utilerrors.Aggregate].
func (c *Configuration) Validate() error {
	_, err := c.translate()
	return err
}

// Objects are the queues, limits and holds for the engine, in the order in which it must be
// told of them. Nil where c is nil. The configuration must be valid.
func (c *Configuration) Objects() []model.Object {
	if c == nil {
		return nil
	}
	t, _ := c.translate()
	return t.objects
}

// Order is for engine.Config.Order. That of kube-scheduler where there is no queue.
func (c *Configuration) Order() engine.Order {
	if c == nil || len(c.Queues) == 0 && !c.hasQuotas() {
		return engine.OrderBySort
	}
	return engine.OrderByQueues
}

// Plan is for engine.Config.Backfill. None where the document says nothing of it. The
// configuration must be valid.
func (c *Configuration) Plan() engine.Backfill {
	if c == nil {
		return engine.Backfill{}
	}
	t, _ := c.translate()
	return t.backfill
}

// translation is what a document means, and what is wrong with it.
type translation struct {
	objects  []model.Object
	backfill engine.Backfill
	problems []error
}

func (c *Configuration) translate() (*translation, error) {
	t := &translation{}
	names := map[string]bool{"": true}
	for i := range c.Queues {
		t.queue(field.NewPath("queues").Index(i), &c.Queues[i], names)
	}
	for i := range c.Queues {
		if q := &c.Queues[i]; !names[q.Parent] {
			t.report(field.NotFound(field.NewPath("queues").Index(i).Child("parent"), q.Parent))
		}
	}
	t.circles(c.Queues)
	t.guarantees(c.Queues)
	t.unnameable(c)
	t.elastic(c, names)
	if !names[c.DefaultQueue] {
		t.report(field.NotFound(field.NewPath("defaultQueue"), c.DefaultQueue))
	}
	t.limits(c.Limits, names, c.Order() == engine.OrderByQueues)
	t.plan(field.NewPath("backfill"), c.Backfill, c.Order())
	t.holds(c.Holds)
	return t, utilerrors.NewAggregate(t.problems)
}

func (t *translation) report(err *field.Error) { t.problems = append(t.problems, err) }

// add adds an object, and reports what the model has against it, as far as that has not been
// said yet, in the words and units of the document.
func (t *translation) add(at *field.Path, m model.Object, valid error) {
	t.objects = append(t.objects, m)
	var invalid *model.ValidationError
	if !errors.As(valid, &invalid) {
		return
	}
	for _, p := range invalid.Problems {
		if path := at.Child(p.Field).String(); !t.blames(path) {
			t.report(&field.Error{Type: field.ErrorTypeInvalid, Field: path, BadValue: field.OmitValueType{}, Detail: p.Message})
		}
	}
}

// blames reports whether a problem is that of the field.
func (t *translation) blames(path string) bool {
	return slices.ContainsFunc(t.problems, func(err error) bool {
		var at *field.Error
		return errors.As(err, &at) && at.Field == path
	})
}

// queue translates a queue and notes its name.
func (t *translation) queue(at *field.Path, q *Queue, names map[string]bool) {
	if q.Name != "" && names[q.Name] {
		t.report(field.Duplicate(at.Child("name"), q.Name))
	}
	names[q.Name] = true
	guaranteed, most := t.bounds(at, "guaranteed", q.Guaranteed, q.Max)
	m := &model.Queue{
		Name: q.Name, Parent: q.Parent, Weight: q.Weight, Priority: q.Priority, Policy: model.OrderPolicy(q.Policy),
		Guaranteed: guaranteed, Max: most,
		Lend: t.amounts(at.Child("lend"), q.Lend), Borrow: t.amounts(at.Child("borrow"), q.Borrow),
		Reclaim: model.ReclaimPolicy(q.Reclaim), MinRuntime: q.MinRuntime.Duration,
		HalfLife: q.HalfLife.Duration, Prices: t.prices(at.Child("prices"), q.Prices),
	}
	if m.Policy == model.OrderUsage {
		m.HalfLife = cmp.Or(m.HalfLife, DefaultHalfLife)
	}
	if m.Protected = q.Protected * (model.PerMillion / 100); q.Protected < 0 || q.Protected > 100 {
		m.Protected = 0
		t.report(field.Invalid(at.Child("protected"), q.Protected, "must be from 0 to 100 percent"))
	}
	t.add(at, m, m.Validate())
}

// prices are those of resources that the scheduler counts.
func (t *translation) prices(at *field.Path, list map[v1.ResourceName]int64) map[string]int64 {
	if list == nil {
		return nil
	}
	prices := map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if _, err := convert.Amount(at.Key(string(name)), name, resource.Quantity{}); err != nil {
			t.report(err)
			continue
		}
		prices[string(name)] = list[name]
	}
	return prices
}

// circles reports queues that are above themselves.
func (t *translation) circles(queues []Queue) {
	parents := map[string]string{}
	for i := range queues {
		parents[queues[i].Name] = queues[i].Parent
	}
	for i := range queues {
		q, steps := queues[i].Parent, 0
		for ; q != "" && q != queues[i].Name && steps < len(queues); steps++ {
			q = parents[q]
		}
		if q != "" && q == queues[i].Name && queues[i].Parent != q {
			t.report(field.Invalid(field.NewPath("queues").Index(i).Child("parent"), queues[i].Parent, "what is above it leads back to it"))
		}
	}
}

// unnameable reports queues that nothing can be in: they are above no other, and no namespace can name
// them.
func (t *translation) unnameable(c *Configuration) {
	above := map[string]bool{c.DefaultQueue: true, "": true}
	for i := range c.Queues {
		above[c.Queues[i].Parent] = true
	}
	for i := range c.Queues {
		name := c.Queues[i].Name
		for _, problem := range validation.IsValidLabelValue(name) {
			if !above[name] {
				t.report(field.Invalid(field.NewPath("queues").Index(i).Child("name"), name, "namespaces name it in a label: "+problem))
			}
		}
	}
}

// guarantees reports queues that are guaranteed more than a queue above them may ever use.
func (t *translation) guarantees(queues []Queue) {
	byName := map[string]*Queue{}
	for i := range queues {
		byName[queues[i].Name] = &queues[i]
	}
	for i := range queues {
		q, at := &queues[i], field.NewPath("queues").Index(i).Child("guaranteed")
		for _, resource := range slices.Sorted(maps.Keys(q.Guaranteed)) {
			above := byName[q.Parent]
			for steps := 0; above != nil && steps < len(queues); steps++ {
				if most, said := above.Max[resource]; said && most.Cmp(q.Guaranteed[resource]) < 0 {
					amount := q.Guaranteed[resource]
					t.report(field.Invalid(at.Key(string(resource)), amount.String(), fmt.Sprintf("is more than the max of queue %q above it, %q", above.Name, most.String())))
					break
				}
				above = byName[above.Parent]
			}
		}
	}
}

func (t *translation) amounts(at *field.Path, list v1.ResourceList) map[string]int64 {
	if list == nil {
		return nil
	}
	amounts := map[string]int64{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		if n, ok := t.amount(at.Key(string(name)), name, list[name]); ok {
			amounts[string(name)] = n
		}
	}
	return amounts
}

// amount is the quantity as the engine counts it, if it is one. Cores are not counted in Ki, Mi or Gi.
func (t *translation) amount(at *field.Path, name v1.ResourceName, q resource.Quantity) (n int64, ok bool) {
	n, err := convert.Amount(at, name, q)
	if err == nil && name == v1.ResourceCPU && q.Format == resource.BinarySI {
		err = field.Invalid(at, q.String(), "is not a number of cores")
	}
	if err != nil {
		t.report(err)
	}
	return n, err == nil
}

// bounds are the least and the most of a queue or quota; the field of the least has the name.
// What the model would compare again, in its own units, is made equal.
func (t *translation) bounds(at *field.Path, name string, least, most v1.ResourceList) (guaranteed, top map[string]int64) {
	guaranteed, top = t.amounts(at.Child(name), least), t.amounts(at.Child("max"), most)
	for _, resource := range slices.Sorted(maps.Keys(top)) {
		if top[resource] >= guaranteed[resource] {
			continue
		}
		low, high := least[v1.ResourceName(resource)], most[v1.ResourceName(resource)]
		t.report(field.Invalid(at.Child("max").Key(resource), high.String(), fmt.Sprintf("is less than %s, %q", name, low.String())))
		top[resource] = guaranteed[resource]
	}
	return guaranteed, top
}

// scopes are those of limits, in the words of the document.
var scopes = map[string]model.LimitScope{
	"EachPod": model.LimitEachWorkload, "EachNamespace": model.LimitEachPrincipal,
	"Own": model.LimitOwn, "Subtree": model.LimitSubtree,
}

// Scope is the scope of a limit in the words of the document.
func Scope(of model.LimitScope) string {
	for name, scope := range scopes {
		if scope == of {
			return name
		}
	}
	return string(of)
}

func (t *translation) limits(limits []Limit, queues map[string]bool, ordered bool) {
	if len(limits) > 0 && !ordered {
		t.report(field.Required(field.NewPath("queues"), "limits need a queue; to keep the order of pods by priority, add queues: [{name: all, policy: Priority}] and defaultQueue: all"))
	}
	names := map[string]bool{}
	for i := range limits {
		l, at := &limits[i], field.NewPath("limits").Index(i)
		if names[l.Name] {
			t.report(field.Duplicate(at.Child("name"), l.Name))
		}
		names[l.Name] = true
		if !queues[l.Queue] {
			t.report(field.NotFound(at.Child("queue"), l.Queue))
		}
		t.limit(at, l)
	}
}

func (t *translation) limit(at *field.Path, l *Limit) {
	scope, known := scopes[l.Scope]
	if !known {
		t.report(field.NotSupported(at.Child("scope"), l.Scope, slices.Sorted(maps.Keys(scopes))))
	}
	m := &model.Limit{
		Name: l.Name, Queue: l.Queue, Principal: l.Namespace, Scope: scope,
		Measure: model.LimitResource, Resource: string(l.Resource), Breach: model.LimitHold,
	}
	switch {
	case l.Queue == "" && l.Namespace == "":
		t.report(field.Required(at.Child("queue"), "a limit is that of a queue or of a namespace"))
	case l.Queue != "" && l.Namespace != "":
		t.report(field.Invalid(at.Child("namespace"), l.Namespace, "must be empty where queue is not"))
		m.Principal = ""
	case scope == model.LimitEachPrincipal && l.Queue == "":
		t.report(field.Invalid(at.Child("scope"), l.Scope, "is for the limit of a queue; for that of a namespace use Own"))
	}
	switch {
	case l.Resource != "":
	case scope == model.LimitEachWorkload:
		t.report(field.Required(at.Child("resource"), "the pods of each pod are always 1"))
	case l.OverTime:
		t.report(field.Required(at.Child("resource"), "pods are not counted over time"))
	default:
		m.Measure = model.LimitRunning
	}
	m.Amount = t.limitAmount(at.Child("amount"), l)
	t.overTime(at, l, m)
	t.add(at, m, m.Validate())
}

// limitAmount is the most, of the resource or of pods.
func (t *translation) limitAmount(at *field.Path, l *Limit) int64 {
	switch {
	case l.Amount == nil:
		t.report(field.Required(at, "the most that is allowed; 0 allows nothing"))
		return 0
	case l.Resource == "":
		n, exact := l.Amount.AsInt64()
		if !exact || n < 0 || l.Amount.Format == resource.BinarySI {
			t.report(field.Invalid(at, l.Amount.String(), "is not a number of pods"))
		}
		return n
	}
	n, _ := t.amount(at, l.Resource, *l.Amount)
	return n
}

// The largest amount over time leaves room for seconds and sums.
const (
	secondsInHour = int64(time.Hour / time.Second)
	maxOverTime   = int64(1) << 50
)

// overTime has the limit count what is used over time, if that is asked for.
func (t *translation) overTime(at *field.Path, l *Limit, m *model.Limit) {
	decays := l.OverTime && m.Scope != model.LimitEachWorkload
	if l.HalfLife.Duration != 0 && !decays {
		t.report(field.Invalid(at.Child("halfLife"), l.HalfLife.Duration.String(), "is for overTime, with another scope than EachPod"))
	}
	if !l.OverTime {
		return
	}
	if m.Amount > maxOverTime {
		t.report(field.Invalid(at.Child("amount"), l.Amount.String(), "is too much over time"))
		return
	}
	m.Measure, m.Amount = model.LimitResourceSeconds, m.Amount*secondsInHour
	if decays {
		m.HalfLife = cmp.Or(l.HalfLife.Duration, DefaultHalfLife)
	}
}

// modes are those of backfill, in the words of the document.
var modes = map[string]engine.BackfillMode{
	"InOrder": engine.InOrder, "EASY": engine.EASY, "Reservations": engine.Reservations, "Conservative": engine.Conservative,
}

func (t *translation) plan(at *field.Path, b *Backfill, order engine.Order) {
	if b == nil {
		return
	}
	mode, known := modes[b.Mode]
	if !known {
		t.report(field.NotSupported(at.Child("mode"), b.Mode, slices.Sorted(maps.Keys(modes))))
	}
	if mode == engine.Reservations && b.Reservations < 1 {
		t.report(field.Invalid(at.Child("reservations"), b.Reservations, "must be at least 1 with mode Reservations"))
	}
	if known && mode != engine.Reservations && b.Reservations != 0 {
		t.report(field.Invalid(at.Child("reservations"), b.Reservations, "is for mode Reservations"))
	}
	if b.Depth < 0 {
		t.report(field.Invalid(at.Child("depth"), b.Depth, "must not be negative"))
	}
	if b.Every.Duration < 0 {
		t.report(field.Invalid(at.Child("every"), b.Every.Duration.String(), "must not be negative"))
	}
	if b.Overrun.Duration < 0 {
		t.report(field.Invalid(at.Child("overrun"), b.Overrun.Duration.String(), "must not be negative"))
	}
	if b.ShortestFirst && order == engine.OrderByQueues {
		t.report(field.Invalid(at.Child("shortestFirst"), b.ShortestFirst, "does not go with queues, which take turns"))
	}
	if b.Slack && (b.Pinned || order == engine.OrderByQueues) {
		t.report(field.Invalid(at.Child("slack"), b.Slack, "goes neither with pinned nor with queues"))
	}
	t.backfill = engine.Backfill{
		Mode: mode, Reservations: b.Reservations, Depth: b.Depth, ShortestFirst: b.ShortestFirst,
		Pinned: b.Pinned, Slack: b.Slack, Every: b.Every.Duration, Overrun: b.Overrun.Duration,
	}
}

func (t *translation) holds(holds []Hold) {
	names := map[string]bool{}
	for i := range holds {
		h, at := &holds[i], field.NewPath("holds").Index(i)
		if names[h.Name] {
			t.report(field.Duplicate(at.Child("name"), h.Name))
		}
		names[h.Name] = true
		if len(h.Nodes) == 0 && len(h.NodeSelector) == 0 {
			t.report(field.Required(at.Child("nodes"), "a hold is of nodes, by name or by nodeSelector"))
		}
		if _, found := h.NodeSelector[""]; found {
			t.report(field.Invalid(at.Child("nodeSelector"), "", "is not the name of a label"))
			continue
		}
		users, err := convert.LabelSelector(at.Child("podSelector"), h.PodSelector)
		if err != nil {
			t.problems = append(t.problems, err)
			continue
		}
		if h.Flex && users == nil {
			t.report(field.Invalid(at.Child("flex"), h.Flex, "is for the pods of podSelector, and there is none"))
		}
		m := &model.Hold{Name: h.Name, From: h.From.Time, Until: h.Until.Time, Nodes: h.Nodes, NodeTerms: terms(h.NodeSelector), Users: users, Flex: h.Flex}
		t.add(at, m, m.Validate())
	}
}

// terms select the nodes that have all the labels; nil where there are none.
func terms(labels map[string]string) *model.NodeTerms {
	if len(labels) == 0 {
		return nil
	}
	var term model.NodeTerm
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		term.Labels = append(term.Labels, model.Requirement{Key: key, Operator: model.In, Values: []string{labels[key]}})
	}
	return &model.NodeTerms{Terms: []model.NodeTerm{term}}
}
