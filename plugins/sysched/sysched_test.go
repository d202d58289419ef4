package sysched

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	for _, args := range []Args{{}, {Default: []string{"write", "read"}}} {
		extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New), Args: args, Random: random})
	}
}

// random is a situation in which some make calls.
func random(r *rand.Rand) *extpointstest.Situation {
	s := extpointstest.RandomSituation(r)
	s.Workload.Syscalls = drawn(r)
	for _, n := range s.View.NodeInfos {
		for _, w := range n.Workloads {
			w.Syscalls = drawn(r)
		}
	}
	return s
}

func drawn(r *rand.Rand) (calls []string) {
	for _, c := range []string{"bind", "clone", "open", "read"} {
		if r.IntN(2) == 0 {
			calls = append(calls, c)
		}
	}
	return calls
}

// fields are the words of a text; none of "-".
func fields(text string) []string {
	if text == "-" {
		return nil
	}
	return strings.Fields(text)
}

// on is a node with a workload for each set of calls.
func on(name string, sets ...string) *extpoints.NodeInfo {
	n := extpointstest.NodeWith(&model.Node{Name: name})
	for i, calls := range sets {
		n.AddWorkload(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: fmt.Sprint(name, i), Syscalls: fields(calls)}})
	}
	return n
}

// Known answers of the upstream plugin, the first three of them; those of its tests that
// read profiles and follow pods are about what adapters do here.
func TestScore(t *testing.T) {
	for _, c := range []struct {
		name     string
		calls    string
		node     []string
		fallback string
		want     int64
	}{
		{"fewer calls than the one there", "a b", []string{"a b c"}, "-", 1},
		{"a call that is new there", "a d", []string{"a b c"}, "-", 3},
		{"two there with one call each", "a", []string{"a", "b"}, "-", 3},
		{"the same calls", "a b", []string{"a b", "a b"}, "-", 0},
		{"an empty node", "a b", nil, "-", 0},
		{"nothing is known of it", "-", []string{"a b c"}, "-", 0},
		{"nothing is known of one there", "a", []string{"-", "b"}, "-", 2},
		{"nothing is known of those there", "a", []string{"-", "-"}, "-", 0},
		{"calls by default, its own", "-", []string{"a b c"}, "b a", 1},
		{"calls by default, of one there", "a b", []string{"-"}, "a b c c", 1},
	} {
		p, err := New(Args{Default: fields(c.fallback)}, extpointstest.NewHandle())
		if err != nil {
			t.Fatal(err)
		}
		w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: "w", Syscalls: fields(c.calls)}}
		if got, st := p.Score(nil, w, on("n", c.node...)); got != c.want || st != nil {
			t.Errorf("%s: %d, want %d, %v", c.name, got, c.want, st)
		}
	}
}

// The formula as it is written upstream, without the short cut.
func TestScoreIsTheFormula(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		var sets []string
		for range r.IntN(5) {
			if calls := drawn(r); len(calls) > 0 {
				sets = append(sets, strings.Join(calls, " "))
			}
		}
		own := append([]string{"accept"}, drawn(r)...)
		node := on("n", sets...)
		union := map[string]bool{}
		for _, s := range sets {
			for _, call := range fields(s) {
				union[call] = true
			}
		}
		var want int64
		if len(sets) > 0 {
			want = without(union, own)
			for _, call := range own {
				union[call] = true
			}
			for _, s := range sets {
				want += without(union, fields(s))
			}
		}
		p := &SySched{}
		if got, _ := p.Score(nil, &extpoints.WorkloadInfo{Workload: &model.Workload{Syscalls: own}}, node); got != want {
			t.Fatalf("%v on a node with %q: %d, want %d", own, sets, got, want)
		}
	}
}

// without is how many there are that are not in the list.
func without(all map[string]bool, list []string) (n int64) {
	for call := range all {
		if !slices.Contains(list, call) {
			n++
		}
	}
	return n
}

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ raw, want []int64 }{
		{[]int64{1, 3, 3}, []int64{67, 0, 0}},
		{[]int64{0, 0}, []int64{100, 100}},
		{[]int64{0, 7}, []int64{100, 0}},
	} {
		got := slices.Clone(c.raw)
		if st := (&SySched{}).NormalizeScore(nil, nil, nil, got); st != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v, %v", c.raw, got, c.want, st)
		}
	}
}

func TestArgs(t *testing.T) {
	_, err := New(Args{Default: []string{"read", ""}}, extpointstest.NewHandle())
	if err == nil || !strings.Contains(err.Error(), "default: has an empty name") {
		t.Error(err)
	}
}

// BenchmarkScore is a node with 30 workloads of three kinds, of 200 calls each.
func BenchmarkScore(b *testing.B) {
	var kinds []string
	for k := range 3 {
		var calls []string
		for i := range 200 {
			calls = append(calls, fmt.Sprintf("call%03d", 50*k+i))
		}
		kinds = append(kinds, strings.Join(calls, " "))
	}
	var sets []string
	for i := range 30 {
		sets = append(sets, kinds[i%3])
	}
	p, node := &SySched{}, on("n", sets...)
	w := &extpoints.WorkloadInfo{Workload: &model.Workload{Syscalls: fields(kinds[0])}}
	b.ReportAllocs()
	for b.Loop() {
		p.Score(nil, w, node)
	}
}
