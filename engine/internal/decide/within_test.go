package decide

import (
	"fmt"
	"slices"
	"testing"

	"github.com/berth-project/berth/engine/internal/snapshot"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// However a placement lists its nodes, its part has each once, in visiting order.
func TestPartIsInVisitingOrder(t *testing.T) {
	view := snapshot.New()
	for i := range 200 {
		view.PutNode(&model.Node{Name: fmt.Sprint("n", i), Zone: fmt.Sprint("z", i%3)})
	}
	all := view.Nodes()
	var want []string
	placement := &extpoints.Placement{}
	for i := 0; i < 200; i += 3 {
		want = append(want, all.At(i).Node.Name)
		placement.Nodes = append([]*extpoints.NodeInfo{all.At(i)}, placement.Nodes...)
	}
	placement.Nodes = append(placement.Nodes, all.At(150))
	part := narrow(view, placement)
	var got []string
	for i := range part.Len() {
		got = append(got, part.At(i).Node.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for i := range all.Len() {
		name := all.At(i).Node.Name
		if there := part.Get(name) != nil; there != (i%3 == 0) {
			t.Errorf("the part has %s: %v", name, there)
		}
		if one := only(view, part, name); one.Len() != map[bool]int{true: 1}[i%3 == 0] {
			t.Errorf("there are %d of the node %s", one.Len(), name)
		}
	}
	if only(view, nil, "n7").At(0).Node.Name != "n7" || only(view, nil, "nowhere").Len() != 0 {
		t.Error("without a part any node there is will do")
	}
	if narrow(view, &extpoints.Placement{Nodes: make([]*extpoints.NodeInfo, 200)}) != nil {
		t.Error("a placement of as many nodes as there are is no part")
	}
}
