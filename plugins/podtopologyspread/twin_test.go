package podtopologyspread

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// twin says what the plugin must say, by visiting every workload on every node
// for every question. It knows no index, no slots and no sums by anything but
// the values of labels.
type twin struct {
	args Args
	w    *extpoints.WorkloadInfo
	all  []*extpoints.NodeInfo
	// supposed are the differences of the extensions, by constraint and value.
	supposed []map[string]int
	// low are the two values remembered, by constraint.
	low [][2]remembered
}

type remembered struct {
	value string
	known bool
	count int
}

// list is the constraints of the mode.
func (t *twin) list(mode model.SpreadMode) []model.SpreadConstraint {
	from, own := t.w.Spread, true
	if len(from) == 0 {
		if t.w.OwnerSelector == nil || len(t.w.OwnerSelector.Requirements) == 0 {
			return nil
		}
		from, own = t.args.DefaultConstraints, false
		if t.system() {
			from = systemConstraints
		}
	}
	var list []model.SpreadConstraint
	for _, c := range from {
		if c.Mode != mode {
			continue
		}
		if !own {
			c.Selector = t.w.OwnerSelector
		} else if c.Selector != nil {
			merged := model.Selector{Requirements: slices.Clone(c.Selector.Requirements)}
			for _, key := range c.MatchLabelKeys {
				if value, ok := t.w.Labels[key]; ok {
					merged.Requirements = append(merged.Requirements, model.Requirement{Key: key, Operator: model.In, Values: []string{value}})
				}
			}
			c.Selector = &merged
		}
		list = append(list, c)
	}
	return list
}

func (t *twin) system() bool { return t.args.DefaultingType != List }

func lacksKey(n *model.Node, list []model.SpreadConstraint) bool {
	return slices.ContainsFunc(list, func(c model.SpreadConstraint) bool { _, ok := n.Labels[c.TopologyKey]; return !ok })
}

// included reports whether the inclusion policies let the node take part.
func (t *twin) included(c *model.SpreadConstraint, n *model.Node) bool {
	if required := helper.RequiredNodesOf(t.w.Workload); c.NodeAffinityPolicy != model.Ignore && !required.Matches(n) {
		return false
	}
	return c.NodeTaintsPolicy != model.Honor || helper.FirstUntolerated(n.Taints, t.w.Tolerations) == nil
}

func (t *twin) countOn(n *extpoints.NodeInfo, c *model.SpreadConstraint) int {
	count := 0
	for _, other := range n.Workloads {
		if c.Selector != nil && len(c.Selector.Requirements) > 0 && !other.Terminating &&
			other.Namespace == t.w.Namespace && c.Selector.Matches(other.Labels) {
			count++
		}
	}
	return count
}

// byValue counts by value of the key over the nodes that take part; every value
// that one of them has is in the result.
func (t *twin) byValue(list []model.SpreadConstraint, i int, allKeys bool) map[string]int {
	counts := map[string]int{}
	for _, n := range t.all {
		if allKeys && lacksKey(n.Node, list) || !t.included(&list[i], n.Node) {
			continue
		}
		counts[n.Node.Labels[list[i].TopologyKey]] += t.countOn(n, &list[i])
	}
	return counts
}

// prepare remembers two values for each constraint. Of equal ones the reference
// remembers any; the plugin those of the first nodes that take part.
func (t *twin) prepare() {
	list := t.list(model.SpreadRequired)
	t.supposed, t.low = nil, nil
	for i := range list {
		t.supposed = append(t.supposed, map[string]int{})
		t.low = append(t.low, [2]remembered{{count: math.MaxInt32}, {count: math.MaxInt32}})
		counts, met := t.byValue(list, i, true), map[string]bool{}
		for _, n := range t.all {
			value := n.Node.Labels[list[i].TopologyKey]
			if !met[value] && !lacksKey(n.Node, list) && t.included(&list[i], n.Node) {
				met[value] = true
				t.remember(i, value, counts[value])
			}
		}
	}
}

// remember keeps the smallest count in front and the one that it pushed back
// behind it.
func (t *twin) remember(i int, value string, count int) {
	low := &t.low[i]
	for j := range low {
		if low[j].known && low[j].value == value {
			low[j].count = count
			if low[0].count > low[1].count {
				low[0], low[1] = low[1], low[0]
			}
			return
		}
	}
	switch entry := (remembered{value, true, count}); {
	case count < low[0].count:
		low[0], low[1] = entry, low[0]
	case count < low[1].count:
		low[1] = entry
	}
}

// suppose counts a workload on the node, or no longer.
func (t *twin) suppose(other *extpoints.WorkloadInfo, n *model.Node, difference int) {
	list := t.list(model.SpreadRequired)
	if other.Namespace != t.w.Namespace || lacksKey(n, list) {
		return
	}
	for i := range list {
		if list[i].Selector.Matches(other.Labels) && t.included(&list[i], n) {
			value := n.Labels[list[i].TopologyKey]
			t.supposed[i][value] += difference
			t.remember(i, value, t.byValue(list, i, true)[value]+t.supposed[i][value])
		}
	}
}

// filter is the verdict on a node. With exact the smallest count is looked up
// among all values, and not only among the two remembered.
func (t *twin) filter(n *model.Node, exact bool) string {
	list := t.list(model.SpreadRequired)
	for i := range list {
		c := &list[i]
		value, ok := n.Labels[c.TopologyKey]
		if !ok {
			return "UnschedulableAndUnresolvable: " + ReasonMissingLabel
		}
		counts := t.byValue(list, i, true)
		smallest := t.low[i][0].count
		if exact {
			smallest = math.MaxInt
			for v, count := range counts {
				smallest = min(smallest, count+t.supposed[i][v])
			}
		}
		if len(counts) < max(int(c.MinDomains), 1) {
			smallest = 0
		}
		count := counts[value] + t.supposed[i][value]
		if c.Selector.Matches(t.w.Labels) {
			count++
		}
		if count-smallest > int(c.MaxSkew) {
			return "Unschedulable: " + Reason
		}
	}
	return "Success"
}

// scores are the scores of the nodes, before and after normalisation.
func (t *twin) scores(nodes []*extpoints.NodeInfo) (raw, normalized []int64) {
	list := t.list(model.SpreadPreferred)
	allKeys := len(t.w.Spread) > 0 || !t.system()
	var scored []*extpoints.NodeInfo
	for _, n := range nodes {
		if !allKeys || !lacksKey(n.Node, list) {
			scored = append(scored, n)
		}
	}
	least, most := int64(math.MaxInt64), int64(0)
	for _, n := range nodes {
		var score int64
		if slices.Contains(scored, n) {
			score = t.score(list, n, scored, allKeys)
			least, most = min(least, score), max(most, score)
		}
		raw = append(raw, score)
	}
	for i, n := range nodes {
		score := int64(100)
		if most > 0 {
			score = 100 * (most + least - raw[i]) / most
		}
		if !slices.Contains(scored, n) {
			score = 0
		}
		normalized = append(normalized, score)
	}
	return raw, normalized
}

func (t *twin) score(list []model.SpreadConstraint, n *extpoints.NodeInfo, scored []*extpoints.NodeInfo, allKeys bool) int64 {
	sum := 0.0
	for i := range list {
		c := &list[i]
		value, ok := n.Node.Labels[c.TopologyKey]
		if !ok {
			continue
		}
		values := map[string]bool{}
		for _, other := range scored {
			values[other.Node.Labels[c.TopologyKey]] = true
		}
		count, size := t.byValue(list, i, allKeys)[value], len(values)
		if c.TopologyKey == "kubernetes.io/hostname" {
			count, size = t.countOn(n, c), len(scored)
		}
		part := float64(count) * math.Log(float64(size+2))
		sum += part + float64(c.MaxSkew-1)
	}
	return int64(math.Round(sum))
}

func twinOf(s *extpointstest.Situation, args Args) *twin {
	t := &twin{args: args, w: s.Workload, all: s.View.NodeInfos}
	t.prepare()
	return t
}

const rounds = 4000

func TestFilterAgainstTwin(t *testing.T) {
	r := seeded(t)
	verdicts := map[string]int{}
	for range rounds {
		args, s := randomArgs(r), world{}.situation(r)
		p, twin, state := newPlugin(t, args), twinOf(s, args), s.State()
		_, status := p.PreFilter(state, s.Workload)
		if want := len(twin.list(model.SpreadRequired)) == 0; status.Code() == extpoints.Skip != want || !want && status != nil {
			t.Fatalf("PreFilter says %v\n%+v\n%v", status, args, s)
		}
		for _, n := range s.View.NodeInfos {
			got, want := p.Filter(state, s.Workload, n).String(), twin.filter(n.Node, true)
			verdicts[want]++
			if got != want {
				t.Fatalf("node %s: %s, want %s\n%+v\n%v", n.Node.Name, got, want, args, s)
			}
		}
	}
	if len(verdicts) != 3 {
		t.Errorf("not all verdicts were met: %v", verdicts)
	}
}

// supposing adds and removes workloads at random, on clones of clones of the
// state, and compares what Filter then says.
func supposing(t *testing.T, r *rand.Rand, exact bool) (different int) {
	t.Helper()
	args, s := randomArgs(r), world{}.situation(r)
	p, twin, state := newPlugin(t, args), twinOf(s, args), s.State()
	if _, status := p.PreFilter(state, s.Workload); status.Code() == extpoints.Skip {
		return 0
	}
	only := pick(r, s.View.NodeInfos...)
	var clones []*extpoints.CycleState
	var answers [][]string
	for range 8 {
		clones = append(clones, state)
		answers = append(answers, ask(p, state, s))
		state = state.Clone()
		for range 1 + r.IntN(3) {
			n := only
			if !exact {
				n = pick(r, s.View.NodeInfos...)
			}
			if len(n.Workloads) > 0 && one(r, 2) {
				gone := pick(r, n.Workloads...)
				p.RemoveWorkload(state, s.Workload, gone, n)
				twin.suppose(gone, n.Node, -1)
			} else {
				added := world{}.placed(r, "added")
				p.AddWorkload(state, s.Workload, added, n)
				twin.suppose(added, n.Node, 1)
			}
		}
		for i, got := range ask(p, state, s) {
			if want := twin.filter(s.View.NodeInfos[i].Node, exact); got != want {
				t.Fatalf("node %s: %s, want %s\n%+v\n%v", s.View.NodeInfos[i].Node.Name, got, want, args, s)
			} else if twin.filter(s.View.NodeInfos[i].Node, !exact) != want {
				different++
			}
		}
	}
	for i, clone := range clones {
		if !slices.Equal(answers[i], ask(p, clone, s)) {
			t.Fatalf("a later clone changed an earlier one\n%+v\n%v", args, s)
		}
	}
	return different
}

// ask is Filter's answer for each node.
func ask(p *PodTopologySpread, state *extpoints.CycleState, s *extpointstest.Situation) []string {
	var answers []string
	for _, n := range s.View.NodeInfos {
		answers = append(answers, p.Filter(state, s.Workload, n).String())
	}
	return answers
}

// What comes and goes on one node, as when others are displaced there, is
// answered exactly.
func TestExtensionsOnOneNodeAgainstTwin(t *testing.T) {
	r := seeded(t)
	for range rounds {
		if supposing(t, r, true) > 0 {
			t.Fatal("remembering two values is not enough for one node")
		}
	}
}

// What comes and goes on several nodes is answered as the reference does, which
// is not always right.
func TestExtensionsOnManyNodesAgainstTwin(t *testing.T) {
	r := seeded(t)
	different := 0
	for range rounds {
		different += supposing(t, r, false)
	}
	if different == 0 {
		t.Error("it was always right, so nothing was tested")
	}
}

func TestScoreAgainstTwin(t *testing.T) {
	r := seeded(t)
	scored := 0
	for range rounds {
		args, s := randomArgs(r), world{}.situation(r)
		p, twin, state := newPlugin(t, args), twinOf(s, args), s.State()
		// Some of the nodes, in another order.
		nodes := slices.Clone(s.View.NodeInfos)
		r.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		nodes = nodes[:1+r.IntN(len(nodes))]
		status := p.PreScore(state, s.Workload, nodes)
		if want := len(twin.list(model.SpreadPreferred)) == 0; status.Code() == extpoints.Skip != want || !want && status != nil {
			t.Fatalf("PreScore says %v\n%+v\n%v", status, args, s)
		}
		if status.Code() == extpoints.Skip {
			continue
		}
		scored++
		var raw []int64
		for _, n := range nodes {
			score, status := p.Score(state, s.Workload, n)
			if status != nil {
				t.Fatal(status)
			}
			raw = append(raw, score)
		}
		normalized := slices.Clone(raw)
		p.NormalizeScore(state, s.Workload, nodes, normalized)
		wantRaw, want := twin.scores(nodes)
		if !slices.Equal(raw, wantRaw) || !slices.Equal(normalized, want) {
			t.Fatalf("%v and %v, want %v and %v\n%+v\n%v", raw, normalized, wantRaw, want, args, s)
		}
	}
	if scored < rounds/4 {
		t.Errorf("only %d of %d situations had something to score", scored, rounds)
	}
}
