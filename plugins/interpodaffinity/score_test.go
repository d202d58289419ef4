package interpodaffinity

import (
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

var ignoring = Args{IgnorePreferredTermsOfExistingPods: true}

func hard(weight int32) Args { return Args{HardPodAffinityWeight: &weight} }

var scoreCases = []struct {
	name  string
	args  Args
	w     *model.Workload
	nodes nodes
	raw   []int64 // nil where PreScore skips
	want  []int64
}{
	{"no terms anywhere", Args{}, web, nodes{node("zone=a", db), node("zone=b")}, nil, nil},
	{"only required terms of its own", Args{}, workload("", nearTo(to("app=db", "zone")), awayFrom(to("app=db", "zone"))), nodes{node("zone=a", db), node("zone=b")}, nil, nil},
	{"nobody is meant", Args{}, workload("", likes(5, to("app=db", "zone"))), nodes{node("zone=a", web), node("zone=b")}, nil, nil},
	{"whoever is meant is on a node without the label", Args{}, workload("", likes(5, to("app=db", "zone"))), nodes{node("rack=a", db), node("zone=b")}, nil, nil},

	{"likes: every workload of the domain counts", Args{}, workload("", likes(5, to("app=db", "zone"))),
		nodes{node("zone=a", db, db), node("zone=a", db), node("zone=b", db), node("")}, []int64{15, 15, 5, 0}, []int64{100, 100, 33, 0}},
	{"likes: any of the terms", Args{}, workload("", likes(5, to("app=db", "zone")), likes(3, to("app", "zone")), likes(2, to("tier", "rack"))),
		nodes{node("zone=a,rack=1", db, workload("tier=x")), node("zone=b,rack=1", web), node("zone=c,rack=2")}, []int64{10, 5, 0}, []int64{100, 50, 0}},
	{"dislikes", Args{}, workload("", dislikes(5, to("app=db", "zone"))), nodes{node("zone=a", db), node("zone=b"), node("")}, []int64{-5, 0, 0}, []int64{0, 100, 100}},
	{"likes and dislikes", Args{}, workload("", likes(8, to("app=db", "zone")), dislikes(5, to("app=web", "zone"))),
		nodes{node("zone=a", db, web), node("zone=b", web), node("zone=c", db)}, []int64{3, -5, 8}, []int64{61, 0, 100}},
	{"all cancelled out is not skipped", Args{}, workload("", likes(5, to("app=db", "zone")), dislikes(5, to("app=db", "zone"))),
		nodes{node("zone=a", db), node("zone=b")}, []int64{0, 0}, []int64{0, 0}},
	{"all the same", Args{}, workload("", likes(5, to("app=db", "zone"))), nodes{node("zone=a", db), node("zone=a")}, []int64{5, 5}, []int64{0, 0}},
	{"an empty value is a domain like others", Args{}, workload("", likes(5, to("app=db", "zone"))), nodes{node("zone=", db), node("zone=b"), node("rack=")}, []int64{5, 0, 0}, []int64{100, 0, 0}},
	{"the same name twice counts once", Args{}, workload("", likes(5, toIn("a a", "", "app=db", "zone"))),
		nodes{node("zone=a", workload("app=db", inside("a"))), node("zone=b")}, []int64{5, 0}, []int64{100, 0}},
	{"the same term twice counts twice", Args{}, workload("", likes(5, to("app=db", "zone")), likes(5, to("app=db", "zone"))),
		nodes{node("zone=a", db), node("zone=b")}, []int64{10, 0}, []int64{100, 0}},
	{"namespaces by selector", Args{}, workload("", inside("a"), likes(5, toIn("", "team=b", "app=db", "zone")), likes(2, toIn("", "*", "app=db", "zone"))),
		nodes{node("zone=a", workload("app=db", inside("a"))), node("zone=b", workload("app=db", inside("b"))), node("zone=c", workload("app=db", inside("ghost")))},
		[]int64{2, 7, 2}, []int64{0, 100, 0}},

	{"others require: by the weight of the arguments", Args{}, web, nodes{node("zone=a", workload("", nearTo(to("app=web", "zone"), to("app", "zone")))), node("zone=b")}, []int64{2, 0}, []int64{100, 0}},
	{"others require: 50", hard(50), web, nodes{node("zone=a", workload("", nearTo(to("app=web", "zone")))), node("zone=b")}, []int64{50, 0}, []int64{100, 0}},
	{"others require: 0 does not count", hard(0), web, nodes{node("zone=a", workload("", nearTo(to("app=web", "zone")))), node("zone=b")}, nil, nil},
	{"others must be apart: for Filter alone", Args{}, web, nodes{node("zone=a", workload("", awayFrom(to("app=web", "zone")))), node("zone=b")}, nil, nil},
	{"others like", Args{}, web, nodes{node("zone=a", workload("", likes(7, to("app=web", "zone")))), node("zone=b", workload("", likes(3, to("app=web", "zone"))))}, []int64{7, 3}, []int64{100, 0}},
	{"others dislike", Args{}, web, nodes{node("zone=a", workload("", dislikes(7, to("app=web", "zone")))), node("zone=b"), node("")}, []int64{-7, 0, 0}, []int64{0, 100, 100}},
	{"others of other namespaces", Args{}, workload("app=web", inside("b")), nodes{
		node("zone=a", workload("", inside("a"), likes(7, to("app=web", "zone")))),
		node("zone=b", workload("", inside("a"), likes(7, toIn("", "team=b", "app=web", "zone")))),
		node("zone=c", workload("", inside("b"), likes(2, to("app=web", "zone")))),
	}, []int64{0, 7, 2}, []int64{0, 100, 28}},
	{"both sides", Args{}, workload("app=web", likes(5, to("app=db", "zone")), dislikes(1, to("app=db", "rack"))), nodes{
		node("zone=a,rack=1", workload("app=db", nearTo(to("app=web", "rack")), likes(4, to("app=web", "zone")))),
		node("zone=a,rack=2"), node("zone=b,rack=1", workload("", dislikes(2, to("app=web", "zone")))),
	}, []int64{9, 9, -2}, []int64{100, 100, 0}},

	{"others ignored, no preference of its own", ignoring, workload("app=web", nearTo(to("app", "zone"))), nodes{
		node("zone=a", workload("app=db", nearTo(to("app=web", "zone")), likes(7, to("app=web", "zone")))), node("zone=b"),
	}, nil, nil},
	{"others ignored, not for one with preferences", ignoring, workload("app=web", likes(3, to("app=db", "zone"))), nodes{
		node("zone=a", workload("app=db", nearTo(to("app=web", "zone")), likes(7, to("app=web", "zone")))), node("zone=b"),
	}, []int64{11, 0}, []int64{100, 0}},
	{"others ignored, not for one with preferences about nobody", ignoring, workload("app=web", dislikes(3, to("app=none", "zone"))), nodes{
		node("zone=a", workload("app=db", likes(7, to("app=web", "zone")))), node("zone=b"),
	}, []int64{7, 0}, []int64{100, 0}},
}

func TestScore(t *testing.T) {
	for _, c := range scoreCases {
		p := newPlugin(t, c.args)
		s := situation(c.w, c.nodes...)
		state := s.State()
		status := p.PreScore(state, s.Workload, s.View.NodeInfos)
		if status.Code() == extpoints.Skip != (c.raw == nil) || status.Code() != extpoints.Skip && status != nil {
			t.Errorf("%s: PreScore says %v", c.name, status)
		}
		raw := scores(t, p, s.Workload, state, s.View.NodeInfos)
		if c.raw == nil {
			if slices.ContainsFunc(raw, func(score int64) bool { return score != 0 }) {
				t.Errorf("%s: PreScore skips, but Score says %v", c.name, raw)
			}
			continue
		}
		normal := slices.Clone(raw)
		if status := p.NormalizeScore(state, s.Workload, s.View.NodeInfos, normal); status != nil {
			t.Errorf("%s: NormalizeScore says %v", c.name, status)
		}
		if !slices.Equal(raw, c.raw) || !slices.Equal(normal, c.want) {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, raw, normal, c.raw, c.want)
		}
	}
}

// The division comes before the multiplication, so that some scores are one
// less than the exact value.
func TestNormalizeScore(t *testing.T) {
	for _, c := range []struct{ scores, want []int64 }{
		{[]int64{}, []int64{}},
		{[]int64{-4}, []int64{0}},
		{[]int64{0, 29, 100}, []int64{0, 28, 100}}, // 100 * 0.29 is 28.999999999999996
		{[]int64{-50, 7, 50}, []int64{0, 56, 100}}, // 100 * 0.57 is 56.99999999999999
		{[]int64{3, 4, 6}, []int64{0, 33, 100}},
	} {
		scores := slices.Clone(c.scores)
		if status := (&InterPodAffinity{}).NormalizeScore(nil, nil, nil, scores); status != nil || !slices.Equal(scores, c.want) {
			t.Errorf("%v becomes %v (%v), want %v", c.scores, scores, status, c.want)
		}
	}
}
