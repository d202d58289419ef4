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
	t.Parallel()
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
	op.must("PUT", "/v1/queues/one", api.Queue{Name: "one", MaxRunning: 1}, nil)
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
		{
			"a gang that the queue never lets start", job.Spec{Queue: "one", Tasks: 2},
			never + "queue one lets a user run 1 tasks at once, and its 2 tasks start together or not at all",
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

// The owner of a job that waits for a failed one is told when the job is submitted: it is taken, for
// the other may be requeued.
func TestDependenciesThatCannotBeMetAreWarnedAbout(t *testing.T) {
	t.Parallel()
	f := begun(t)
	f.agent("n1").must("POST", "/v1/agent/register", f.agent("n1").registration(), nil)
	a := f.as(alice)
	submit := func(spec job.Spec) (job.ID, []string) {
		spec.Command, spec.Hold = []string{"true"}, true
		var out api.SubmitResponse
		a.must("POST", "/v1/jobs", api.SubmitRequest{Jobs: []job.Spec{spec}}, &out)
		return out.Jobs[0], out.Warnings
	}
	array, err := job.ParseArray("0-1")
	require.NoError(t, err)
	first, _ := submit(job.Spec{})
	elements, _ := submit(job.Spec{Array: array})
	waits, _ := submit(job.Spec{})
	for _, id := range []job.ID{first, elements} {
		a.must("POST", jobPath(id, "/cancel"), api.Selection{}, nil)
	}
	const requeue = "; it waits on, as a requeue of that one may help (--kill-on-invalid-dep=yes cancels it)"
	for _, c := range []struct {
		kind job.DependencyKind
		of   job.ID
		kill bool
		want string
	}{
		{job.AfterOK, first, false, "job 1 is CANCELLED, so afterok:1 can never be met" + requeue},
		{job.AfterOK, first, true, "job 1 is CANCELLED, so afterok:1 can never be met; it will be cancelled"},
		{job.AfterAny, first, false, ""},
		{job.AfterOK, waits, false, ""},
		{job.AfterCorr, elements, false, "no element of job 2 has completed, so aftercorr:2 can never be met" + requeue},
	} {
		spec := job.Spec{After: []job.Dependency{{Kind: c.kind, Job: c.of.String()}}, KillOnInvalidDep: c.kill}
		if c.kind == job.AfterCorr {
			spec.Array = array
		}
		_, warnings := submit(spec)
		if c.want == "" {
			require.Empty(t, warnings, c.kind)
		} else {
			require.Equal(t, []string{"jobs[0]: as things are, it can never start: " + c.want}, warnings)
		}
	}
}
