package imagelocality

import (
	"slices"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

func TestContract(t *testing.T) {
	extpointstest.TestPlugin(t, extpointstest.Suite{Name: Name, Factory: extpoints.FactoryOf(New)})
}

func node(name string, images ...model.NodeImage) *extpoints.NodeInfo {
	return extpointstest.NodeWith(&model.Node{Name: name, Images: images})
}

func image(name string, megabytes int64) model.NodeImage {
	return model.NodeImage{Names: []string{name}, Size: megabytes * megabyte}
}

func TestScore(t *testing.T) {
	small, large, huge := image("example.com/small:latest", 40), image("example.com/large:v1", 300), image("example.com/huge:v1", 4000)
	for _, c := range []struct {
		name   string
		images []string
		nodes  []*extpoints.NodeInfo
		want   []int64
	}{
		// On one of two nodes: half of 300 MB is 150, less 23 of 977: 12.999.
		{"one image", []string{"example.com/large:v1"}, []*extpoints.NodeInfo{node("a", large), node("b", small)}, []int64{12, 0}},
		// Half of 40 MB is 20, below the lower limit.
		{"small images do not count", []string{"example.com/small"}, []*extpoints.NodeInfo{node("a", large), node("b", small)}, []int64{0, 0}},
		// (150+20-23)/(2000-23) and (150-23)/1977.
		{"two images", []string{"example.com/large:v1", "example.com/small"}, []*extpoints.NodeInfo{node("a", large, small), node("b", image("x:1", 1))}, []int64{7, 0}},
		{"no more than the upper limit", []string{"example.com/huge:v1"}, []*extpoints.NodeInfo{node("a", huge), node("b")}, []int64{100, 0}},
		// On every node the whole size counts: (300-23)/977 = 28.3.
		{"an image that all have", []string{"example.com/large:v1"}, []*extpoints.NodeInfo{node("a", large), node("b", large)}, []int64{28, 28}},
		// Two containers of the same image: 2*150-23 of 2*1000-23 = 14.01.
		{"the same image twice", []string{"example.com/large:v1", "example.com/large:v1"}, []*extpoints.NodeInfo{node("a", large), node("b")}, []int64{14, 0}},
		{"no image", nil, []*extpoints.NodeInfo{node("a", large), node("b")}, []int64{0, 0}},
		{"another tag is another image", []string{"example.com/large"}, []*extpoints.NodeInfo{node("a", large), node("b")}, []int64{0, 0}},
	} {
		extpointstest.SetImages(c.nodes)
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Images: c.images}, c.nodes...)
		p, state := &ImageLocality{}, s.State()
		for _, prepared := range []bool{false, true} {
			if prepared && p.PreScore(state, s.Workload, c.nodes) != nil {
				t.Errorf("%s: PreScore does not succeed", c.name)
			}
			var got []int64
			for _, n := range c.nodes {
				score, _ := p.Score(state, s.Workload, n)
				got = append(got, score)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s (prepared %v): %v, want %v", c.name, prepared, got, c.want)
			}
		}
	}
}

// Where the count of nodes with an image is stale and above the number of
// nodes, the score still stays in range.
func TestScoreWithStaleCount(t *testing.T) {
	n := node("a")
	n.Images = map[string]extpoints.ImageState{"x:1": {Size: 900 * megabyte, NumNodes: 3}}
	s := extpointstest.NewSituation(&model.Workload{ID: "w", Images: []string{"x:1"}}, n)
	if got, _ := (&ImageLocality{}).Score(s.State(), s.Workload, n); got != extpoints.MaxScore {
		t.Errorf("%d", got)
	}
}

func BenchmarkScore(b *testing.B) {
	for name, images := range map[string][]string{"none": nil, "two": {"a:1", "b:1"}} {
		n := node("a", image("a:1", 500))
		extpointstest.SetImages([]*extpoints.NodeInfo{n})
		s := extpointstest.NewSituation(&model.Workload{ID: "w", Images: images}, n)
		p, state := &ImageLocality{}, s.State()
		p.PreScore(state, s.Workload, s.View.NodeInfos)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Score(state, s.Workload, n)
			}
		})
	}
}

func TestNoImageCountsWhileRoomIsMade(t *testing.T) {
	nodes := []*extpoints.NodeInfo{node("a", image("example.com/large:v1", 300)), node("b")}
	extpointstest.SetImages(nodes)
	s := extpointstest.NewSituation(&model.Workload{ID: "w", Images: []string{"example.com/large:v1"}}, nodes...)
	for _, makingRoom := range []bool{false, true} {
		state := extpoints.NewCycle(extpoints.CycleOptions{View: s.View, MakingRoom: makingRoom}).State()
		if score, _ := (&ImageLocality{}).Score(state, s.Workload, nodes[0]); (score == 0) != makingRoom {
			t.Errorf("making room %v: %d", makingRoom, score)
		}
	}
}

// What a workload's images are, and how many, decides what nodes score.
func TestNodeLocalReadsTheImages(t *testing.T) {
	seen := map[string]bool{}
	for _, images := range [][]string{nil, {"a"}, {"b"}, {"a", "b"}, {"a", "a"}, {"a b"}} {
		key, ok := (&ImageLocality{}).NodeLocal(nil, &extpoints.WorkloadInfo{Workload: &model.Workload{Images: images}}, nil)
		if !ok || seen[string(key)] {
			t.Errorf("images %q: key %q, %v", images, key, ok)
		}
		seen[string(key)] = true
	}
}
