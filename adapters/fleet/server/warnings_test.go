package server

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// A job that no node can ever run is taken, with a warning that names what is missing;
// so is it where the job is only checked.
func TestSubmissionsAreWarned(t *testing.T) {
	f := begun(t)
	a, op := f.as(alice), f.as(oscar)
	warned := func(spec job.Spec, check bool) []string {
		spec.Command, spec.Hold = []string{"true"}, true
		var out api.SubmitResponse
		a.must("POST", "/v1/jobs", api.SubmitRequest{Jobs: []job.Spec{spec}, Check: check}, &out)
		require.Equal(t, check, len(out.Jobs) == 0)
		return out.Warnings
	}
	require.Equal(t, []string{"the fleet has no nodes yet"}, warned(job.Spec{}, true))
	for _, name := range []string{"n1", "n2"} {
		node := f.agent(name)
		r := node.registration()
		r.Machine.Labels = map[string]string{"rack": "r-" + name}
		r.Machine.GPUs = []api.GPU{{Model: "NVIDIA L4"}}
		node.must("POST", "/v1/agent/register", r, nil)
	}
	op.must("PUT", "/v1/queues/ib", api.Queue{Name: "ib", Nodes: []job.Constraint{{Label: "ib"}}}, nil)
	const never = "jobs[0]: as the fleet is, it can never start: "
	for _, c := range []struct {
		name string
		spec job.Spec
		want string
	}{
		{"nothing", job.Spec{Constraints: []job.Constraint{{Label: "rack", Values: []string{"r-n1"}}}}, ""},
		{"a label", job.Spec{Constraints: []job.Constraint{{Label: "ib"}}}, never + "constraint ib: none of 2 nodes has the label ib"},
		{
			"a value", job.Spec{Constraints: []job.Constraint{{Label: "rack", Values: []string{"r9"}}}},
			never + "constraint rack=r9: 0 of 2 nodes meet it; rack is r-n1 or r-n2",
		},
		{"a model", job.Spec{Resources: job.Resources{GPUs: &job.GPUs{Models: []string{"a100"}}}}, never + "no node has a GPU of model a100; there are NVIDIA L4"},
		{"a node", job.Spec{Nodes: []string{"n9"}}, never + "there is no node n9"},
		{"one of two nodes", job.Spec{Nodes: []string{"n1", "n9"}}, "jobs[0]: there is no node n9 that it asks for"},
		{"a node that is left out", job.Spec{ExcludeNodes: []string{"n8", "n9"}}, "jobs[0]: there is no node n8 or n9 that it leaves out"},
		{"a label in common", job.Spec{Tasks: 2, SameLabel: "switch"}, never + "none of 2 nodes has the label switch"},
		{"size", job.Spec{Resources: job.Resources{CPU: 5000}}, never + "no node is large enough: it asks for 5 cpu, and the largest of 2 nodes has 4"},
		{
			"size of a gang", job.Spec{Tasks: 9},
			never + "the fleet has room for 8 of its 9 tasks when nothing else runs, and they start together or not at all",
		},
		{"what the queue wants", job.Spec{Queue: "ib"}, never + "queue ib is for nodes with ib: none of 2 nodes has the label ib"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			if c.want != "" {
				want = []string{c.want}
			}
			require.Equal(t, want, warned(c.spec, false))
			require.Equal(t, want, warned(c.spec, true))
		})
	}
}
