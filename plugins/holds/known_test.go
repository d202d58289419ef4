package holds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
)

// TestKnownReservations: what Koordinator's Reservation lets onto a node (scheduler/plugins/reservation, commit a7a1b76b),
// and a hold of as much. A node of 10 cores has a reservation of 4, whose owners, and others, are there already. An owner has the
// reservation and the rest of the node (policy Aligned) or the reservation alone (Restricted). With allocateOnce the first
// owner ends it, and what it leaves is for all.
func TestKnownReservations(t *testing.T) {
	const (
		rest = "an owner may have the rest of the node as well"
		once = "the hold goes when whoever made it takes it back, as soon as its first user is placed"
	)
	for _, c := range []struct {
		name           string
		owners, others int64 // what they have
		owner          bool  // the pod is one
		cores          int64
		aligned        bool
		restricted     bool
		once           bool // Aligned, and the reservation ends with its first owner
		here           bool
		why            map[string]string // why a policy has it otherwise
	}{
		{"an owner takes part of it", 0, 6, true, 2, true, true, true, true, nil},
		{"an owner takes all of it", 0, 6, true, 4, true, true, true, true, nil},
		{"an owner and more than it", 0, 6, true, 5, false, false, false, false, nil},
		{"an owner and the rest of the node", 0, 0, true, 10, true, false, true, true, map[string]string{"restricted": rest}},
		{"an owner and some of the rest", 0, 3, true, 7, true, false, true, true, map[string]string{"restricted": rest}},
		{"a second owner", 2, 6, true, 2, true, true, true, true, nil},
		{"a second owner and too little", 2, 6, true, 3, false, false, false, false, nil},
		{"a second owner and the rest of the node", 4, 3, true, 3, true, false, true, true, map[string]string{"restricted": rest}},
		{"another and the rest of the node", 0, 0, false, 6, true, true, true, true, nil},
		{"another and more", 0, 0, false, 7, false, false, false, false, nil},
		{"another beside an owner", 2, 0, false, 6, true, true, true, true, nil},
		{"another and what an owner has left", 2, 0, false, 7, false, false, true, false, map[string]string{"once": once}},
		{"another and what owners have beyond it", 5, 0, false, 5, true, true, true, true, nil},
		{"another and too little for all", 5, 0, false, 6, false, false, false, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := func(id string, cores int64, owner bool) *model.Workload {
				w := &model.Workload{ID: id, Requests: model.Resources{CPU: model.Cores(float64(cores))}}
				if owner {
					w.Labels = map[string]string{"team": "blue"}
				}
				return w
			}
			n := extpointstest.NodeWith(&model.Node{Name: "n", Allocatable: model.Resources{CPU: model.Cores(10)}})
			n.AddWorkload(&extpoints.WorkloadInfo{Workload: of("owner", c.owners, true)})
			n.AddWorkload(&extpoints.WorkloadInfo{Workload: of("other", c.others, false)})
			s := extpointstest.NewSituation(of("w", c.cores, c.owner), n)
			s.View.Put(&model.Hold{Name: "h", Nodes: []string{"n"}, Amounts: model.Resources{CPU: model.Cores(4)}, Users: blue, Flex: true})
			p, state := &NodeHolds{}, s.State()
			_, st := p.PreFilter(state, s.Workload)
			if st.IsSuccess() {
				st = p.Filter(state, s.Workload, n)
			}
			fits := c.owners+c.others+c.cores <= 10 // which NodeResourcesFit looks at
			here := fits && (st.IsSuccess() || st.Code() == extpoints.Skip)
			require.Equal(t, c.here, here, st)
			for policy, there := range map[string]bool{"aligned": c.aligned, "restricted": c.restricted, "once": c.once} {
				require.Equal(t, there != here, c.why[policy] != "", policy)
			}
		})
	}
}
