package volumebinding

import (
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins/helper"
)

// scoresOf are the scores of all nodes; nil where PreScore says Skip.
func scoresOf(t *testing.T, p *VolumeBinding, s *extpointstest.Situation) []int64 {
	t.Helper()
	state := s.State()
	p.PreFilter(state, s.Workload)
	if status := p.PreScore(state, s.Workload, s.View.NodeInfos); status.Code() == extpoints.Skip {
		return nil
	} else if status != nil {
		t.Fatal(status)
	}
	var scores []int64
	for _, n := range s.View.NodeInfos {
		score, status := p.Score(state, s.Workload, n)
		if status != nil {
			t.Fatal(status)
		}
		scores = append(scores, score)
	}
	return scores
}

func TestScore(t *testing.T) {
	// The nearer to what was asked for, the better.
	tight := []helper.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 100, Score: 10}}
	onAll := func(id, class string, rooms ...int64) (list []model.Object) {
		for i, room := range rooms {
			node := []string{"a", "b", "c"}[i]
			list = append(list, capacity(id+node, class, onHost(node), room, -1))
		}
		return list
	}
	volumes := func(class string, sizes ...int64) (list []model.Object) {
		for i, size := range sizes {
			node := []string{"a", "b", "c"}[i%3]
			list = append(list, modeltest.Volume(class+string(rune('0'+i))).Class(class).Capacity(size).On(host, node).Build())
		}
		return list
	}
	for _, c := range []struct {
		name    string
		shape   []helper.ShapePoint
		w       *modeltest.WorkloadBuilder
		objects []model.Object
		want    []int64
	}{
		{"no claims", nil, using(), nil, nil},
		{"all bound", nil, using("x"), []model.Object{claim("x", "local").Bound("v").Build(), modeltest.Volume("v").Build()}, nil},
		{"volumes that are there", tight, using("x"), append(volumes("local", 100, 50, 40), claim("x", "local").Request(40).Build()), []int64{40, 80, 100}},
		{"by default much room is better", nil, using("x"), append(volumes("local", 100, 50, 40), claim("x", "local").Request(40).Build()), []int64{60, 20, 0}},
		{"a curve of three points", []helper.ShapePoint{{Utilization: 0, Score: 0}, {Utilization: 50, Score: 3}, {Utilization: 100, Score: 5}}, using("x"),
			append(volumes("local", 100, 50, 160), claim("x", "local").Request(40).Build()), []int64{24, 42, 15}},
		{"not a feasible node", tight, using("x"), append(volumes("local", 100, 30, 40), claim("x", "local").Request(40).Build()), []int64{40, 0, 100}},
		{"claims of one class are added up", tight, using("x", "y"),
			append(volumes("local", 100, 50, 40, 60, 70, 40), claim("x", "local").Request(40).Build(), claim("y", "local").Request(40).Build()),
			[]int64{80 * 100 / 160, 80 * 100 / 120, 100}},
		{"classes count alike, and the mean is rounded", tight, using("x", "y", "z"),
			append(append(volumes("local", 100, 50, 40), volumes("soon", 1000, 1000, 1000)...),
				modeltest.StorageClass("soon").Build(), claim("x", "local").Request(40).Build(), claim("z", "soon").Request(10).Build(),
				claim("y", "local").Bound("v").Build(), modeltest.Volume("v").Class("local").Capacity(1).Build()),
			[]int64{21, 41, 51}}, // 20.5, 40.5, 50.5
		{"volumes of no size", tight, using("x"), append(volumes("local", 0, 0, 5), claim("x", "local").Build()), []int64{100, 100, 0}},

		{"room for new volumes", tight, using("x"), append(onAll("t", "tracked", 100, 80, 40), claim("x", "tracked").Request(40).Build()), []int64{40, 50, 100}},
		{"by default much room is better", nil, using("x"), append(onAll("t", "tracked", 100, 80, 40), claim("x", "tracked").Request(40).Build()), []int64{60, 50, 0}},
		{"several new volumes share the room", tight, using("x", "y"),
			append(onAll("t", "tracked", 100, 80, 60), claim("x", "tracked").Request(40).Build(), claim("y", "tracked").Request(30).Selected("b").Build()),
			[]int64{0, 87, 0}},
		{"more new volumes than there is room for", nil, using("x", "y"),
			append(onAll("t", "tracked", 100, 79, 40), claim("x", "tracked").Request(40).Build(), claim("y", "tracked").Request(40).Build()), []int64{20, 0, 0}},
		{"nobody keeps track", tight, using("x"), []model.Object{claim("x", "tracked").Request(40).Build(), &model.StorageDriver{Name: "tracking.example.com"}}, []int64{0, 0, 0}},
		{"room of which only the largest volume is known", nil, using("x"),
			[]model.Object{claim("x", "tracked").Request(40).Build(), capacity("1", "tracked", &model.Selector{}, -1, 50)}, []int64{0, 0, 0}},
		{"of several rooms the first by ID", tight, using("x"),
			[]model.Object{claim("x", "tracked").Request(40).Build(), capacity("2", "tracked", &model.Selector{}, 40, -1),
				capacity("1", "tracked", onHost("a"), 80, -1), capacity("3", "tracked", onHost("b"), 80, -1)}, []int64{50, 100, 100}},
		{"new volumes do not count beside those that are there", tight, using("x", "y"),
			append(append(onAll("t", "tracked", 40, 40, 40), volumes("local", 100, 50)...), claim("x", "tracked").Request(40).Build(), claim("y", "local").Request(10).Build(),
				modeltest.StorageClass("local").Provisioner("disk.example.com").Build()), []int64{10, 20, 100}},
	} {
		s := situationOf(c.w.Build(), append(append([]model.Object{}, classes...), c.objects...))
		if got := scoresOf(t, newPlugin(t, Args{Shape: c.shape}, nil), s); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Sums that run over, and sizes without end, still make a score.
func TestScoreOfHugeClaims(t *testing.T) {
	const most = 1<<63 - 1
	objects := append(append([]model.Object{}, classes...), claim("x", "local").Request(most).Build(), claim("y", "local").Request(most).Build(),
		localVolume("v1", most).Build(), localVolume("v2", most).Build())
	for _, score := range scoresOf(t, newPlugin(t, nil, nil), situationOf(using("x", "y").Build(), objects)) {
		if score < 0 || score > 100 {
			t.Errorf("%d", score)
		}
	}
}
