package snapshot

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// The labels of random objects. Some of them read the same when they are written
// one behind the other without care.
var (
	labelKeys   = []string{"app", "a", "a=b", "", "tier"}
	labelValues = []string{"", "b", "b=b", "=", "web", "1\x00"}
	nodeKeys    = []string{"zone", "rack", "host"}
	spaceNames  = []string{"", "ns", "n", "far"}
)

func pick[T any](r *random, choices []T) T { return choices[r.IntN(len(choices))] }

func (r *random) labels() map[string]string {
	if r.IntN(6) == 0 {
		return nil
	}
	labels := map[string]string{}
	for range r.IntN(4) {
		labels[pick(r, labelKeys)] = pick(r, labelValues)
	}
	if r.IntN(4) == 0 {
		labels["replica"] = fmt.Sprint(r.IntN(1000))
	}
	return labels
}

func (r *random) nodeLabels(name string) map[string]string {
	labels := map[string]string{"host": name}
	if r.IntN(4) > 0 {
		labels["rack"] = fmt.Sprint(r.IntN(5))
	}
	if r.IntN(4) > 0 {
		labels["zone"] = pick(r, labelValues)
	}
	return labels
}

// selector makes a selector, which may be nil, or not valid.
func (r *random) selector() *model.Selector {
	if r.IntN(10) == 0 {
		return nil
	}
	s := &model.Selector{}
	for range r.IntN(3) {
		req := model.Requirement{
			Key:      pick(r, labelKeys),
			Operator: pick(r, []model.Operator{model.In, model.In, model.In, model.NotIn, model.Exists, model.DoesNotExist, model.Gt}),
		}
		for range r.IntN(4) {
			req.Values = append(req.Values, pick(r, labelValues))
		}
		s.Requirements = append(s.Requirements, req)
	}
	if r.IntN(6) == 0 {
		many := model.Requirement{Key: "replica", Operator: model.In}
		for range 1 + r.IntN(2*maxAnchor) {
			many.Values = append(many.Values, fmt.Sprint(r.IntN(1000)))
		}
		s.Requirements = append(s.Requirements, many)
	}
	return s
}

func (r *random) affinity() *model.WorkloadAffinity {
	term := func() model.AffinityTerm {
		t := model.AffinityTerm{Selector: r.selector(), TopologyKey: pick(r, nodeKeys)}
		for range r.IntN(3) {
			t.Namespaces = append(t.Namespaces, pick(r, spaceNames))
		}
		if r.IntN(4) == 0 {
			t.NamespaceSelector = r.selector()
		}
		return t
	}
	a := &model.WorkloadAffinity{}
	for range r.IntN(3) {
		a.Required = append(a.Required, term())
	}
	for range r.IntN(3) {
		a.Preferred = append(a.Preferred, model.WeightedAffinityTerm{Weight: 1 + r.Int32N(2), AffinityTerm: term()})
	}
	return a
}

// addCompany gives the workload what the index is about.
func (r *random) addCompany(w *model.Workload) {
	w.Namespace, w.Labels = pick(r, spaceNames), r.labels()
	switch r.IntN(8) {
	case 0:
		w.Affinity = r.affinity()
	case 1:
		w.AntiAffinity = r.affinity()
	case 2:
		w.Affinity = r.shared()
		w.AntiAffinity = w.Affinity
	}
}

// shared makes terms of which many workloads have the same.
func (r *random) shared() *model.WorkloadAffinity {
	return &model.WorkloadAffinity{Required: []model.AffinityTerm{{
		Selector:    model.SelectLabels(map[string]string{"app": pick(r, labelValues)}),
		TopologyKey: "zone",
	}}}
}

// compareIndex compares the index with what one finds on the nodes. Nodes that
// stay where they are keep their slots.
func (r *random) compareIndex(t *testing.T, h handle) {
	t.Helper()
	nodes := h.view.Nodes()
	twin := &extpointstest.View{}
	for i := range nodes.Len() {
		info := nodes.At(i)
		twin.NodeInfos = append(twin.NodeInfos, info)
		slot, known := h.flat.slots[info.Node.Name]
		require.True(t, !known || slot == info.Slot, "slot of %s", info.Node.Name)
		h.flat.slots[info.Node.Name] = info.Slot
	}
	if r.names > 100 && r.IntN(4) > 0 {
		return // the twin takes its time
	}
	checkIndex(t, h.view)
	for _, key := range nodeKeys {
		require.Equal(t, h.view.topology(key), h.view.Index().Topology(key))
	}
	questions := extpointstest.Questions{Keys: []string{pick(r, nodeKeys), "nothing"}, Namespaces: []string{pick(r, spaceNames), "nowhere"}}
	for range 3 {
		questions.Selectors = append(questions.Selectors, r.selector())
		questions.Labels = append(questions.Labels, r.labels())
	}
	require.Empty(t, questions.Compare(h.view.Index(), twin.Index()))
	if r.names <= 20 && r.IntN(20) == 0 {
		extpointstest.TestView(t, h.view)
	}
}

// checkIndex checks what cannot be seen from outside: that nothing is left over.
func checkIndex(t *testing.T, v *View) {
	t.Helper()
	v.spaces.each(func(s *space) {
		require.Positive(t, s.size)
		filed := map[*id]int{}
		checkCatalog(t, &s.catalog, filed)
		s.members.each(func(m *member[extpoints.WorkloadClass]) {
			require.Equal(t, len(m.shown.Labels), filed[m.id])
			require.Same(t, &m.counts, m.shown.Counts)
		})
	})
	for _, c := range v.terms {
		if c == nil {
			continue
		}
		require.Positive(t, c.size)
		filed := map[*id]int{}
		checkCatalog(t, &c.catalog, filed)
		c.rest.each(func(x *id) { filed[x] = -1 })
		c.members.each(func(m *member[term]) {
			want := -1
			if anchor := m.shown.requirement(); anchor != nil {
				want = len(slices.Compact(slices.Sorted(slices.Values(anchor.Values))))
			}
			require.Equal(t, want, filed[m.id])
			delete(filed, m.id)
			require.Same(t, &m.counts, m.shown.Counts)
		})
		require.Empty(t, filed)
	}
}

// checkCatalog counts the files that each member is in.
func checkCatalog[T any](t *testing.T, c *catalog[T], filed map[*id]int) {
	t.Helper()
	size := 0
	c.members.each(func(m *member[T]) {
		size++
		require.Positive(t, m.counts.total)
		checkCounts(t, &m.counts)
	})
	require.Equal(t, size, c.size)
	c.files.each(func(f *file) {
		size := 0
		f.ids.each(func(x *id) {
			size++
			filed[x]++
			require.NotNil(t, c.get(x))
		})
		require.Positive(t, size)
		require.Equal(t, size, f.size)
	})
}

func dumpIndex(out io.Writer, v *View) {
	var lines []string
	line := func(what any, c extpoints.Counts) {
		text := fmt.Sprintf("%d of %q:", c.Total(), what)
		c.Each(func(slot, count int32) { text += fmt.Sprintf(" %d: %d", slot, count) })
		lines = append(lines, text)
	}
	x := v.Index()
	x.ClassesWhere(func(string) bool { return true }, &model.Selector{}, func(c *extpoints.WorkloadClass) {
		line([]any{c.Namespace, c.Labels, c.Terminating}, c.Counts)
	})
	for kind, c := range v.terms {
		if c == nil {
			continue
		}
		c.members.each(func(m *member[term]) {
			line([]any{kind, m.shown.Weight, *m.shown.Term, m.shown.Term.Selector.Requirements}, m.shown.Counts)
		})
	}
	slices.Sort(lines)
	fmt.Fprintf(out, "%s\n%d %v\n", strings.Join(lines, "\n"), x.Slots(), x.Topology("rack"))
}

// TestIndexWhilePatched asks frozen Views from several goroutines while the one
// that they come from goes on. It is for the race detector.
func TestIndexWhilePatched(t *testing.T) {
	r := &random{Rand: rand.New(rand.NewPCG(newSeed(t), 7)), names: 100}
	live := handle{New(), newFlat()}
	for range 400 {
		r.patch(live)
	}
	var wg sync.WaitGroup
	for range 8 {
		base := live.view.Branch()
		nodes := base.Nodes()
		var all []*extpoints.NodeInfo
		for i := range nodes.Len() {
			all = append(all, nodes.At(i))
		}
		questions := extpointstest.QuestionsAbout(all, 4)
		for range 3 {
			wg.Go(func() {
				twin := &extpointstest.View{NodeInfos: all}
				if problems := questions.Compare(base.Index(), twin.Index()); len(problems) > 0 {
					t.Error(problems)
				}
			})
		}
		for range 100 {
			r.patch(live)
			live.view.Index().Topology(pick(r, nodeKeys))
		}
	}
	wg.Wait()
}
