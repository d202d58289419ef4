package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// NominatedTo finds the nodes of the workloads that are asked for, in visiting order, of as many as
// there may be, and none that is not there.
func TestNominatedTo(t *testing.T) {
	v, want := New(), []int32(nil)
	for i := range 200 {
		v.PutNode(&model.Node{Name: fmt.Sprint("n", i)})
	}
	for i := range 100 {
		w := &extpoints.WorkloadInfo{Workload: &model.Workload{ID: fmt.Sprint("w", i), Priority: int32(i % 3)}}
		v.Nominate(w, fmt.Sprint("n", 199-2*i))
		if i%3 == 2 {
			want = append(want, int32(199-2*i))
		}
	}
	v.Nominate(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: "lost", Priority: 2}}, "gone")
	v.Settle()
	slices.Sort(want)
	if got := v.NominatedTo(func(w *extpoints.WorkloadInfo) bool { return w.Priority == 2 }); !slices.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	if got := v.NominatedTo(func(*extpoints.WorkloadInfo) bool { return false }); len(got) > 0 {
		t.Errorf("nobody is asked for, got %v", got)
	}
}

// NominatedWhere lists the workloads that are asked for, by the names of their nodes, and in the order in which they were
// nominated there; none whose node is not there.
func TestNominatedWhere(t *testing.T) {
	v := New()
	v.PutNode(&model.Node{Name: "n1"})
	v.PutNode(&model.Node{Name: "n2"})
	for _, to := range []string{"b n2", "d n1", "a n1", "lost n3", "c n2"} {
		id, node, _ := strings.Cut(to, " ")
		v.Nominate(&extpoints.WorkloadInfo{Workload: &model.Workload{ID: id}, Nominated: node}, node)
	}
	var got []string
	for _, w := range v.NominatedWhere(func(w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) bool {
		return w.Nominated == node.Node.Name && w.ID != "c"
	}) {
		got = append(got, w.ID)
	}
	if want := []string{"d", "a", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
