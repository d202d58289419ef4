package snapshot

import (
	"fmt"
	"slices"
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
