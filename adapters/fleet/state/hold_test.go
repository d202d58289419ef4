package state_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// To hold a job of which nothing waits holds nothing, also not later, when it is requeued.
func TestHoldWithoutWaiting(t *testing.T) {
	w := newWorld(t)
	id := w.submit("ann", job.Spec{}).Jobs[0]
	w.must(&state.Command{Cancel: &state.Cancel{Select: state.Select{Job: id}, State: job.Cancelled}})
	for _, admin := range []bool{false, true} {
		r := w.do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: id}, Admin: admin}})
		require.Nil(t, r.Err)
		require.Zero(t, r.Elements)
	}
	w.must(&state.Command{Requeue: &state.Select{Job: id}})
	require.Empty(t, w.View().Job(id).Held)
	require.Equal(t, job.Pending, w.View().Job(id).State())
	require.EqualValues(t, 1, w.do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: id}}}).Elements)
	require.Equal(t, job.ReasonHeldUser, w.View().Job(id).Held)
}

// Elements of a job that is held as a whole can be released by themselves; the others stay
// held, by whom they were.
func TestReleaseElementsOfHeldJob(t *testing.T) {
	some := func(text string) *job.Indexes {
		x, err := job.ParseIndexes(text)
		require.NoError(t, err)
		return &x
	}
	for name, array := range map[string]string{"an array": "0-9", "a sparse one": "2-8:2", "no array": ""} {
		for _, admin := range []bool{false, true} {
			t.Run(fmt.Sprint(name, admin), func(t *testing.T) {
				w := newWorld(t)
				spec := job.Spec{Hold: !admin}
				if array != "" {
					a, err := job.ParseArray(array)
					require.NoError(t, err)
					spec.Array = a
				}
				id := w.submit("ann", spec).Jobs[0]
				hold := func(release, admin bool, elements *job.Indexes) state.Result {
					return w.do(&state.Command{Hold: &state.Hold{Select: state.Select{Job: id, Elements: elements}, Release: release, Admin: admin}})
				}
				held := func() (out []int32) {
					v := w.View()
					j := v.Job(id)
					for i := int32(0); i < 10; i++ {
						if why := v.ElementWaits(j, i, w.now); j.Held != "" || j.HasElement(i) && why.Reason == job.ReasonHeldUser {
							out = append(out, i)
						}
					}
					return out
				}
				if admin {
					hold(false, true, nil)
					require.NotNil(t, hold(true, false, some("2")).Err, "an operator must release it")
				}
				if array == "" {
					require.Zero(t, hold(true, admin, some("2")).Elements)
					require.NotEmpty(t, w.View().Job(id).Held)
					require.EqualValues(t, 1, hold(true, admin, some("0")).Elements)
					require.Empty(t, w.View().Job(id).Held)
					return
				}
				r := hold(true, admin, some("2,4"))
				require.Nil(t, r.Err)
				require.EqualValues(t, 2, r.Elements)
				require.Empty(t, w.View().Job(id).Held)
				left := w.View().Job(id).Elements() - 2
				require.Equal(t, left, w.View().Job(id).HeldElements)
				require.NotContains(t, held(), int32(2))
				require.Contains(t, held(), int32(6))
				if admin {
					require.Zero(t, hold(true, false, some("6")).Elements, "it is an operator's hold still")
				}
				require.Equal(t, left, hold(true, admin, nil).Elements)
				require.Empty(t, held())
			})
		}
	}
}
