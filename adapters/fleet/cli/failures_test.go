package cli

import (
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

const noProgram = "program nosuchprog: it is in no folder of PATH=/usr/local/bin:/usr/bin:/bin"

// mistaken is a job with a mistake: one, or an array of twenty elements.
func mistaken(id job.ID, array string) api.JobDetail {
	exit := &api.Exit{Code: 127}
	j := detail(id, job.Failed, exit)
	j.Message, j.Spec.Command = noProgram, []string{"nosuchprog"}
	j.Attempts[0].Started, j.Attempts[0].Message = time.Time{}, noProgram
	if array == "" {
		return j
	}
	j.Spec.Array, _ = job.ParseArray(array) // it has no errors
	j.Array, j.Job.Elements, j.Counts = true, int32(j.Spec.Array.Len()), map[job.State]int32{job.Failed: int32(j.Spec.Array.Len())}
	j.Message = "element 0: " + noProgram
	j.Failures = []api.Failure{{State: job.Failed, Exit: exit, Message: noProgram, Attempts: j.Spec.Array.Len(), Elements: array, Nodes: []string{"n1", "n2", "n3"}}}
	j.Attempts = nil
	for i := range j.Spec.Array.All() {
		j.Attempts = append(j.Attempts, api.Attempt{
			Element: i, Attempt: 1, State: job.Failed, Nodes: []string{"n1"}, Ended: now, Exit: exit, Message: noProgram, Failure: 1,
		})
	}
	return j
}

const diskFull = "n1: data folder: no space left on device"

// pausing is an array of which all elements wait to be tried again but one.
func pausing(id job.ID) api.JobDetail {
	j := mistaken(id, "0-139")
	j.State, j.Reason, j.Message, j.Eligible = job.Pending, job.ReasonBackoff, diskFull, now.Add(time.Minute)
	j.Started, j.Ended, j.Counts = time.Time{}, time.Time{}, map[job.State]int32{job.Pending: 139, job.Running: 1}
	j.Failures[0].State, j.Failures[0].Exit, j.Failures[0].Message = job.BootFail, nil, diskFull[len("n1: "):]
	for i := range int32(140) {
		e := api.Element{Index: i, State: job.Pending, Reason: job.ReasonBackoff, Message: diskFull, Attempt: 1, Eligible: now.Add(time.Duration(200-i) * time.Second)}
		if i == 70 {
			e = api.Element{Index: i, State: job.Running, Attempt: 2, Tasks: []api.Task{{ID: job.TaskID{Job: id, Element: i, Attempt: 2}, Node: "n2", State: job.Running, Started: ago(time.Minute)}}}
		}
		j.Elements = append(j.Elements, e)
	}
	return j
}

// lossy is a job of which a node could not keep all output.
func lossy(id job.ID) api.JobDetail {
	j := detail(id, job.Completed, &api.Exit{})
	j.Attempts[0].Message = "the first 7 bytes of stdout were dropped; 5 bytes of its output could not be kept"
	return j
}

func init() {
	answers["GET /v1/jobs/20?element=0"] = lossy(20)
	for _, j := range []api.JobDetail{mistaken(50, ""), mistaken(51, "0-19"), pausing(52)} {
		answers["GET /v1/jobs/"+j.ID.String()] = j
		answers["GET /v1/jobs/"+j.ID.String()+"/explain"] = api.Explanation{
			Job: j.ID, State: j.State, Reason: j.Reason, Message: j.Message, Eligible: j.Eligible, Failures: j.Failures,
		}
	}
	answers["GET /v1/jobs?limit=50&owner=eve"] = api.JobList{Jobs: []api.Job{mistaken(50, "").Job, mistaken(51, "0-19").Job, pausing(52).Job}}
	answers["GET /v1/jobs?limit=50&owner=eve&state=PENDING"] = api.JobList{Jobs: []api.Job{pausing(52).Job}}
}
