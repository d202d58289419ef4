package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// files are those that commands name.
var files = map[string]string{
	"align.sh":  "#!/bin/sh\n#BERTH --array=0-9%2 --memory 4Gi\n#SBATCH --time=10\n./align \"$1\"\n",
	"broken.sh": "#!/bin/sh\n#BERTH --tme=2h\n",
	"slurm.sh": "#!/bin/bash\n#SBATCH -J fit -o out-%j.txt -A biology\n# SBATCH --time=10\n#SBATCH --parsable --wait\n" +
		"echo important result\n#SBATCH -n 4\n",
	"mail.sh":     "#!/bin/bash\n#SBATCH --mail-type=END --exclusive\n#SBATCH --mem=4G -n 8\ntrue\n",
	"wrong.sh":    "#!/bin/bash\n#SBATCH --tme=4\n#BERTH --mem=100 -n 2\n#SBATCH --exclusive --priority=5000\n",
	"wrong.yaml":  "jobs:\n- {name: a, command: [x], priority: 5000}\n- {name: b, command: [x], tasks: -1, timeLimit: 2h, warn: {signal: USR1, before: 3h}}\n",
	"bits.yaml":   "command: [x]\nresources: {memory: 8Gb}\n",
	"marked.sh":   "\uFEFF#!/bin/sh\ntrue\n",
	"bare.sh":     "echo hi\n",
	"bare-slurm":  "#SBATCH -n 1\nname: x\n",
	"jobs":        "---\nname: a\ncommand: [\"true\"]\ndir: data\noutput: out.txt\n",
	"own.yaml":    "command: [\"true\"]\ndir: own\noutput: out.txt\n",
	"empty":       "",
	"jobs.yaml":   "jobs:\n- name: a\n  command: [\"true\"]\n- name: b\n  command: [\"true\"]\n  after: [{kind: afterok, job: \"@a\"}]\n",
	"broken.yaml": "name: a\ncomand: [\"true\"]\ntimeLimit: 10\nretry: {limit: many}\npriority: 5000\n",
	"circle.yaml": "jobs:\n- {name: a, command: [x], after: [{kind: afterok, job: \"@b\"}]}\n- {name: b, command: [x], after: [{kind: afterok, job: \"@a\"}]}\n",
	"queue.yaml":  "name: gpu\nmaxTime: 2d\nnodes:\n- {label: gpu}\n",
	"bad.yaml":    "nam: gpu\n",
	"worse.yaml":  "name: gpu\nmaxTime: long\n- x\n",
	"backup":      "the state",
}

// ago is a time before now.
func ago(d time.Duration) time.Time { return now.Add(-d) }

// jobsThere are the jobs of the fleet, the newest first. The name of one was made
// to harm who reads it.
var jobsThere = []api.Job{
	{ID: 21, Name: "\x1b]0;owned\x07rm\u202e", Owner: "mallory", Queue: "default", State: job.Failed, Elements: 1, Tasks: 1,
		Counts: map[job.State]int32{job.Failed: 1}, Submitted: ago(time.Hour), Started: ago(50 * time.Minute), Ended: ago(49 * time.Minute), Nodes: []string{"n2"}},
	{ID: 20, Name: "größte", Owner: "eve", Queue: "gpu", State: job.Pending, Priority: 10, Reason: job.ReasonResources, Elements: 1, Tasks: 4,
		Counts: map[job.State]int32{job.Pending: 1}, Submitted: ago(2 * time.Hour), Message: "it needs room for 4 tasks at once, and there is room for 1 now; for the next task, 0 of 4 nodes fit: not enough cpu free (4)",
		ExpectedStart: now.Add(time.Hour), ExpectedNodes: []string{"n1", "n2", "n3", "n4", "n5"}},
	{ID: 17, Name: "align", Owner: "eve", Queue: "default", State: job.Running, Elements: 100, Array: true, Tasks: 1,
		Counts:    map[job.State]int32{job.Running: 5, job.Pending: 55, job.Completed: 38, job.Failed: 2},
		Submitted: ago(30 * time.Hour), Started: ago(26 * time.Hour), Nodes: []string{"n1", "n2", "n3", "n4", "n5"},
		Usage: api.Usage{CPUSeconds: 93784, PeakMemory: 3 << 30, ReadBytes: 1536, WriteBytes: 10}, GPUSeconds: 60},
}

// waitingJobs are jobs that nobody knows the start of, one for each reason.
func waitingJobs() (list []api.Job) {
	for i, reason := range []job.Reason{
		job.ReasonPriority, job.ReasonResources, job.ReasonBadConstraints, job.ReasonHeldUser, job.ReasonHeldAdmin, job.ReasonDependency,
		job.ReasonNever, job.ReasonBeginTime, job.ReasonBackoff, job.ReasonArrayLimit, job.ReasonQueueLimit, job.ReasonQueueStopped, job.ReasonReservation,
	} {
		list = append(list, api.Job{
			ID: job.ID(16 - i), Name: "waits", Owner: "eve", Queue: "default", State: job.Pending, Elements: 1, Tasks: 1,
			Counts: map[job.State]int32{job.Pending: 1}, Submitted: ago(time.Hour), Reason: reason,
		})
		if reason == job.ReasonBeginTime || reason == job.ReasonReservation {
			list[i].Eligible = now.Add(3 * time.Hour)
		}
	}
	return list
}

// foreseen are jobs of servers that make forecasts.
func foreseen() (list []api.Job) {
	for i, f := range []*api.Forecast{
		{At: ago(time.Minute), P50: now.Add(time.Hour), P90: now.Add(2 * time.Hour)}, {},
		{At: ago(time.Minute), P50: now.Add(time.Hour), P90: now.Add(time.Hour)},
		{At: ago(time.Minute), P50: now.Add(time.Hour)}, {At: ago(time.Minute)}, nil,
	} {
		list = append(list, api.Job{ID: job.ID(80 - i), Name: "waits", Owner: "eve", Queue: "default", State: job.Pending, Reason: job.ReasonResources,
			Elements: 1, Tasks: 1, Counts: map[job.State]int32{job.Pending: 1}, Submitted: ago(time.Hour), Forecast: f})
	}
	list[0].ExpectedStart, list[0].ExpectedNodes = now.Add(3*time.Hour), []string{"n1"}
	list[5].State, list[5].Reason = job.Running, ""
	return list
}

// detail is a job that has ended, in the state and with the exit.
func detail(id job.ID, state job.State, exit *api.Exit) api.JobDetail {
	return api.JobDetail{
		Job: api.Job{ID: id, Name: "sleep", Owner: "eve", Queue: "default", State: state, Elements: 1, Tasks: 1,
			Counts: map[job.State]int32{state: 1}, Submitted: ago(time.Hour), Started: ago(time.Minute), Ended: now},
		Spec:     job.Spec{Name: "sleep", Command: []string{"sleep", "10"}},
		Attempts: []api.Attempt{{Attempt: 1, State: state, Nodes: []string{"n1"}, Started: ago(time.Minute), Ended: now, Exit: exit}},
	}
}

// elementOf is the array of jobsThere with one of its elements.
func elementOf(e api.Element, attempts ...api.Attempt) api.JobDetail {
	j := aligning()
	j.Elements, j.Attempts = []api.Element{e}, attempts
	return j
}

// inVain is a job that waits and can never start.
func inVain(id job.ID, reason job.Reason, message, array string) api.JobDetail {
	j := detail(id, job.Pending, nil)
	j.Reason, j.Message, j.Attempts, j.Started, j.Ended = reason, message, nil, time.Time{}, time.Time{}
	if array != "" {
		j.Array = true
		j.Spec.Array, _ = job.ParseArray(array) // it has no errors
		j.Counts = map[job.State]int32{job.Pending: int32(j.Spec.Array.Len())}
	}
	return j
}

// aligning is the array of jobsThere.
func aligning() api.JobDetail {
	array, _ := job.ParseArray("0-99%5") // it has no errors
	return api.JobDetail{
		Job:  jobsThere[2],
		Spec: job.Spec{Name: "align", Script: "#!/bin/sh\n./align\n", Array: array, Resources: job.Resources{Memory: 4 << 30}},
		Elements: []api.Element{
			{Index: 40, State: job.Running, Attempt: 1, Tasks: []api.Task{{ID: job.TaskID{Job: 17, Element: 40, Attempt: 1}, Node: "n1", State: job.Running, Started: ago(time.Minute)}}},
			{Index: 41, State: job.Pending, Attempt: 1, Reason: job.ReasonBackoff, Eligible: now.Add(time.Minute)},
		},
		Attempts: []api.Attempt{
			{Element: 39, Attempt: 1, State: job.Failed, Nodes: []string{"n3"}, Started: ago(time.Hour), Ended: ago(55 * time.Minute), Exit: &api.Exit{Code: 3},
				Message: "no such file\x1b[2J", Usage: api.Usage{CPUSeconds: 290, PeakMemory: 100 << 20}},
			{Element: 38, Attempt: 2, State: job.OutOfMemory, Nodes: []string{"n3"}, Started: ago(time.Hour), Ended: ago(59 * time.Minute), Exit: &api.Exit{Code: -1, Signal: "KILL"}},
		},
	}
}

// nodesThere are the nodes of the fleet.
var nodesThere = []api.Node{
	{Name: "n1", Address: "10.0.0.1:7071", State: api.NodeReady, Version: "1.2.3", Seen: ago(3 * time.Second), Registered: ago(48 * time.Hour),
		Labels: map[string]string{"zone": "a", "gpu": "yes"},
		Machine: api.Machine{Hostname: "n1", OS: "linux", Arch: "amd64", Kernel: "6.12", Sockets: 2, Cores: 32, Threads: 64, CPU: 64000, Memory: 256 << 30,
			Disk: 1 << 40, MaxTasks: 256, GPUs: []api.GPU{{Model: "a100", Memory: 80 << 30}, {Model: "a100", Memory: 80 << 30}}, Other: map[string]int64{"licence": 4},
			Isolation: api.Isolation{Cgroup: true, Controllers: []string{"cpu", "memory"}}, Warnings: []string{"swap is on"}},
		Used: api.Used{CPU: 12500, Memory: 20 << 30, Tasks: 5, GPUs: []int64{1000, 500}, Other: map[string]int64{"licence": 1}},
		Load: &api.Load{Age: job.Duration(8400 * time.Millisecond), Windows: []api.LoadWindow{
			{Window: job.Duration(time.Minute), CPU: &api.LoadStats{Average: 34.42, StdDev: 3.1, P50: 34, P90: 38.2, P95: 39, P99: 41.5},
				Memory: &api.LoadStats{Average: 12, P50: 12, P90: 12, P95: 12, P99: 12}},
			{Window: job.Duration(5 * time.Minute), Memory: &api.LoadStats{Average: 11.5, StdDev: .2, P50: 11, P90: 12, P95: 12, P99: 12}},
		}}},
	{Name: "n2", Address: "10.0.0.2:7071", State: api.NodeReady, Drain: &api.Drain{Reason: "broken fan", By: "root", Since: ago(time.Hour)},
		Machine: api.Machine{Hostname: "n2", OS: "linux", Arch: "arm64", Cores: 4, Threads: 4, Sockets: 1, CPU: 4000, Memory: 8 << 30, MaxTasks: 64}},
	{Name: "n3", State: api.NodeLost, Maintenance: &api.Maintenance{From: now, To: now.Add(time.Hour), Reason: "new disk"}},
}

// answers are what the server says to requests. Those that are not here get 404.
var answers = map[string]any{
	"POST /v1/jobs":                                               api.SubmitResponse{Jobs: []job.ID{22}, Warnings: []string{"no node of today has 4 devices"}},
	"GET /v1/jobs?limit=50":                                       api.JobList{Jobs: jobsThere},
	"GET /v1/jobs?limit=1":                                        api.JobList{Jobs: jobsThere[:1], Page: api.Page{After: "21"}},
	"GET /v1/jobs?limit=1000":                                     api.JobList{Jobs: jobsThere[:2], Page: api.Page{After: "20"}},
	"GET /v1/jobs?after=20&limit=1000":                            api.JobList{Jobs: jobsThere[2:]},
	"GET /v1/jobs?limit=50&owner=bob&state=RUNNING":               api.JobList{},
	"GET /v1/jobs?limit=50&state=PENDING":                         api.JobList{Jobs: append([]api.Job{jobsThere[1]}, waitingJobs()...)},
	"GET /v1/jobs?limit=50&state=STARTING%2CRUNNING%2CCOMPLETING": api.JobList{Jobs: jobsThere[2:]},
	"GET /v1/jobs/17":                                             aligning(),
	"GET /v1/jobs?limit=1&owner=bob":                              api.JobList{Jobs: jobsThere[:1]},
	"GET /v1/jobs?limit=50&queue=lab&state=PENDING":               api.JobList{Jobs: foreseen()},
	"GET /v1/jobs/80":                                             api.JobDetail{Job: foreseen()[0]},
	"GET /v1/jobs/79":                                             api.JobDetail{Job: foreseen()[1]},
	"GET /v1/jobs/78":                                             api.JobDetail{Job: foreseen()[2]},
	"GET /v1/jobs/77":                                             api.JobDetail{Job: foreseen()[3]},
	"GET /v1/jobs/80/explain":                                     api.Explanation{Job: 80, State: job.Pending, Forecast: foreseen()[0].Forecast, Calibration: &api.Calibration{Starts: 40, ByP50: 21, ByP90: 37}},
	"GET /v1/jobs/79/explain":                                     api.Explanation{Job: 79, State: job.Pending, Forecast: foreseen()[1].Forecast, Calibration: &api.Calibration{}},
	"GET /v1/jobs?limit=50&owner=nobody":                          api.JobList{},
	"GET /v1/jobs?limit=1&owner=nobody":                           api.JobList{},
	"GET /v1/jobs?limit=50&queue=nosuch":                          api.JobList{},
	"GET /v1/jobs?limit=50&queue=gpu":                             api.JobList{},
	"POST /v1/jobs/34/hold":                                       api.Affected{},
	"POST /v1/jobs/34/cancel":                                     api.Affected{},
	"POST /v1/jobs/35/hold":                                       api.Affected{},
	"GET /v1/jobs/20":                                             api.JobDetail{Job: jobsThere[1], Spec: job.Spec{Name: "größte", Command: []string{"x"}, Tasks: 4}},
	"GET /v1/jobs/30":                                             detail(30, job.Completed, &api.Exit{}),
	"GET /v1/jobs/31":                                             detail(31, job.Failed, &api.Exit{Code: 42}),
	"GET /v1/jobs/32":                                             detail(32, job.Failed, &api.Exit{Code: -1, Signal: "SEGV"}),
	"GET /v1/jobs/33":                                             detail(33, job.Timeout, &api.Exit{Code: -1, Signal: "TERM"}),
	"GET /v1/jobs/34":                                             detail(34, job.Cancelled, nil),
	"GET /v1/jobs/17?element=3": elementOf(api.Element{Index: 3, State: job.Failed},
		api.Attempt{Element: 3, Attempt: 1, State: job.Failed, Nodes: []string{"n3"}, Started: ago(time.Hour), Ended: ago(55 * time.Minute), Exit: &api.Exit{Code: 3}}),
	"GET /v1/jobs/17?element=41": elementOf(api.Element{Index: 41, State: job.Pending, Reason: job.ReasonNever, Message: "element 41 of job 31 is FAILED, so aftercorr:31 can never be met"}),
	"GET /v1/jobs/17/explain":    api.Explanation{Job: 17, State: job.Completed},
	"GET /v1/jobs/35":            inVain(35, job.ReasonNever, "job 31 is FAILED, so afterok:31 can never be met", ""),
	"GET /v1/jobs/36":            inVain(36, job.ReasonBadConstraints, "constraint ib: none of 3 nodes has the label ib", ""),
	"GET /v1/jobs/20/explain": api.Explanation{Job: 20, State: job.Pending, Tasks: 4, Reason: job.ReasonResources, Position: 3, PromisedStart: now, Moved: []string{"job 19 goes before it"}, Path: []api.Level{{Queue: "gpu", Weight: 3, Share: 0.5}, {User: "eve", Weight: 1}}, ExpectedStart: now.Add(time.Hour), ExpectedNodes: []string{"n1", "n2"}, Scores: []string{"ImageLocality", "NodeResourcesFit"},
		Nodes: []api.NodeVerdict{
			{Node: "n1", Verdicts: []api.Verdict{{Plugin: "NodeResourcesFit", Reasons: []string{"not enough cpu free", "not enough memory free"}}}},
			{Node: "n2", Verdicts: []api.Verdict{{Plugin: "TaintToleration", Reasons: []string{"it is drained: \x1b[31mno"}}}},
			{Node: "n3", Unseen: true},
			{Node: "n4", Feasible: true, Total: 187, Scores: []int64{100, 87}},
			{Node: "n5", Feasible: true, Total: 195, Scores: []int64{100, 95}},
		}},
	"GET /v1/jobs/17/explain?element=40": api.Explanation{Job: 17, Element: 40, State: job.Running},
	"POST /v1/jobs/17/cancel":            api.Affected{Elements: 60},
	"POST /v1/jobs/17/hold":              api.Affected{Elements: 1},
	"POST /v1/jobs/17/release":           api.Affected{Elements: 1},
	"POST /v1/jobs/17/requeue":           api.Affected{Elements: 3},
	"GET /v1/nodes?limit=1000":           api.NodeList{Nodes: nodesThere},
	"GET /v1/nodes/n1":                   nodesThere[0],
	"GET /v1/nodes/n2":                   nodesThere[1],
	"POST /v1/nodes/n1/drain":            nil, "POST /v1/nodes/n2/drain": nil, "POST /v1/nodes/n1/resume": nil, "POST /v1/nodes/n1/labels": nil,
	"POST /v1/nodes/n3/resume":      nil,
	"GET /v1/nodes/n3":              nodesThere[2],
	"POST /v1/nodes/n5/resume":      nil,
	"GET /v1/nodes/n5":              api.Node{Name: "n5", State: api.NodeReady, Unhealthy: "prolog: task 7_0.1.0: exit status 7"},
	"POST /v1/nodes/n1/maintenance": nil, "DELETE /v1/nodes/n3": nil,
	"GET /v1/queues": api.QueueList{Queues: []api.QueueStatus{
		{Queue: api.Queue{Name: "default"}, Pending: 55, Running: 5},
		{Queue: api.Queue{Name: "gpu", Priority: 100, MaxTime: job.Duration(48 * time.Hour), DefaultMemoryPerCPU: 2 << 30, Users: []string{"eve"}, Stopped: true, Preempts: true}},
	}},
	"GET /v1/accounts":     api.AccountList{Accounts: []api.Account{{Name: "lab", Parent: "uni", Queue: "gpu"}, {Name: "uni"}}},
	"GET /v1/users":        api.UserList{Users: []api.User{{Name: "eve", Account: "lab", Weight: 2}, {Name: "mallory", Queue: "gpu"}}},
	"GET /v1/limits":       api.LimitList{Limits: []api.Limit{{Name: "campus", Account: "uni", Use: amountsOf("cpu=16,memory=64Gi,gpus=2,licence=4")}, {Name: "each", Queue: "gpu", Each: api.EachUser, Running: new(int64)}, {Name: "eves", User: "eve", Use: amountsOf("disk=1Ti")}, {Name: "grant", Account: "uni", Hours: amountsOf("cpu=1000,gpus=40"), HalfLife: job.Duration(30 * 24 * time.Hour)}, {Name: "long", Queue: "gpu", Hours: amountsOf("gpus=1")}}},
	"PUT /v1/accounts/lab": nil, "PUT /v1/users/eve": nil, "PUT /v1/limits/m": nil, "PUT /v1/queues/lasers": nil,
	"DELETE /v1/accounts/lab": nil, "DELETE /v1/users/eve": nil, "DELETE /v1/limits/m": nil,
	"GET /v1/shares": api.ShareList{Shares: []api.Share{
		{Queue: "default", Weight: 1, Entitled: 0.25, Use: *amountsOf("cpu=4,memory=1073741825"), Dominant: "cpu", Share: 0.125, Running: 4, Waiting: 55},
		{Queue: "default", User: "eve\x1b[2J", Depth: 1, Weight: 1, Entitled: 0.25, Use: *amountsOf("cpu=4,memory=1073741825"), Dominant: "cpu", Share: 0.125, Running: 4, Waiting: 55},
		{Queue: "uni", Weight: 3, Entitled: 0.75, Guaranteed: amountsOf("gpus=2"), Max: amountsOf("gpus=4")},
		{Queue: "gpu", Depth: 1, Weight: 1, Entitled: 0.75, Usage: &api.PastUse{Of: api.OfPrices, Raw: 3600, Fleet: 5400}, Effective: 1, Level: 1},
		{Queue: "gpu", User: "eve", Depth: 2, Weight: 1, Entitled: 0.375, Usage: &api.PastUse{Of: "cpu", Raw: 3600, Fleet: 1800}, Effective: 1, Level: 0.5, Rank: 2},
		{Queue: "gpu", User: "mallory", Depth: 2, Weight: 1, Entitled: 0.375, Usage: &api.PastUse{}, Rank: 1},
	}},
	"GET /v1/order?limit=50": api.TurnList{Waiting: 1200, Turns: []api.Turn{
		{Place: 1, Job: 20, Name: "größte", Owner: "eve", Queue: "gpu", Since: ago(2 * time.Hour), Priority: 10, QueuePriority: 100, Path: []api.Level{{Queue: "uni", Weight: 3, Share: 0.3333}, {Queue: "gpu", Weight: 1}, {User: "eve", Weight: 1}}},
		{Place: 2, Job: 19, Name: "wide", Owner: "eve", Queue: "gpu", Since: ago(3 * time.Hour)},
		{Job: 17, Element: 45, Array: true, Name: "align", Owner: "eve", Queue: "default", Since: ago(30 * time.Hour), Held: "limit eves: job 17 asks for 1 core too much now"},
	}},
	"GET /v1/order?limit=1": api.TurnList{Turns: []api.Turn{}},
	"GET /v1/reservations": api.ReservationList{Reservations: []api.ReservationStatus{
		{Reservation: api.Reservation{Name: "backup", Constraints: []job.Constraint{{Label: "rack", Values: []string{"4"}}, {Label: "gpu", Operator: job.NotExists}},
			From: ago(48 * time.Hour), To: ago(47 * time.Hour), Repeat: api.RepeatDaily, Zone: "Europe/Zurich"}, Active: true, NextFrom: now, NextTo: now.Add(time.Hour)},
		{Reservation: api.Reservation{Name: "course", Nodes: []string{"n1", "n2", "n3", "n4", "n5"}, From: now.Add(time.Hour), To: now.Add(3 * time.Hour), Users: []string{"alice", "bob"}, Accounts: []string{"lab"}, Reason: "the autumn course\x1b[2J"},
			NextFrom: now.Add(time.Hour), NextTo: now.Add(3 * time.Hour), Waiting: 7},
		{Reservation: api.Reservation{Name: "past", Nodes: []string{"n1"}, From: ago(2 * time.Hour), To: ago(time.Hour)}},
	}},
	"POST /v1/reservations":          api.ReservationResponse{Warnings: []string{"there is no node m yet"}},
	"DELETE /v1/reservations/course": nil, "DELETE /v1/reservations/backup": nil,
	"PUT /v1/queues/gpu": nil, "DELETE /v1/queues/gpu": nil, "DELETE /v1/queues/default": nil,
	"GET /v1/usage?by=user": api.UsageList{Rows: []api.UsageRow{
		{Owner: "eve", Attempts: 40, WallSeconds: 93784, AllocSeconds: 187568, CPUSeconds: 90000.5, GPUSeconds: 60, PeakMemory: 3 << 30},
		{Owner: "mallory", Attempts: 1, WallSeconds: 60}}},
	"GET /v1/usage?by=job&owner=eve": api.UsageList{Rows: []api.UsageRow{{Owner: "eve", Job: 17, Name: "a,b\n", Attempts: 40}}},
	"GET /v1/records?limit=1000": api.RecordList{Records: []api.Record{
		{Job: 16, Name: "prepare", Owner: "eve", Queue: "default", Submitted: ago(time.Hour), Tasks: 2, Requested: job.Resources{CPU: 1500, Memory: 4 << 30},
			TimeLimit: job.Duration(time.Hour), Attempt: api.Attempt{State: job.Completed, Started: ago(50 * time.Minute), Ended: ago(40 * time.Minute),
				Usage: api.Usage{CPUSeconds: 900, PeakMemory: 2 << 30}}},
	}, Page: api.Page{After: "1"}},
	"GET /v1/records?limit=1000&since=2026-01-30T14%3A04%3A05Z": api.RecordList{},
	"GET /v1/records?after=1&limit=1000": api.RecordList{Records: []api.Record{
		{Job: 17, Name: "align", Owner: "bob", Queue: "default", Submitted: ago(time.Hour), Tasks: 1, Attempt: api.Attempt{State: job.Cancelled, Ended: now}},
		{Job: 18, Name: "prepare", Owner: "eve", Queue: "gpu", Submitted: ago(time.Hour), Tasks: 1, Requested: job.Resources{CPU: 1000},
			Attempt: api.Attempt{State: job.Failed, Started: ago(time.Hour), Ended: now}},
	}},
	"POST /v1/tokens": api.TokenResponse{Token: "berth.user.abc", TokenInfo: api.TokenInfo{ID: "0a1b", Role: api.RoleUser, Name: "eve"}},
	"GET /v1/tokens": api.TokenList{Tokens: []api.TokenInfo{
		{ID: "0a1b", Role: api.RoleUser, Name: "eve", Created: ago(time.Hour), Expires: now.Add(time.Hour), By: "root"}}},
	"DELETE /v1/tokens/0a1b": nil,
	"POST /v1/join-tokens":   api.TokenResponse{Token: "berth.agent.xyz", TokenInfo: api.TokenInfo{ID: "4e5f", Role: api.RoleAgent}},
	"POST /v1/revocations": api.RevocationResponse{Jobs: 3,
		Revocation: api.Revocation{ID: "user/eve", Created: now, Expires: now.Add(time.Hour), By: "root"}, Tokens: []string{"0a1b", "2c3d"}},
	"GET /v1/revocations": api.RevocationList{Revocations: []api.Revocation{
		{ID: "user/eve", Created: ago(time.Hour), Expires: now.Add(time.Hour), By: "root"}}},
	"GET /v1/server/status": api.ServerStatus{ID: "s1", Version: "1.2.3", Leader: "s1", Term: 7, Applied: 1234, Started: ago(time.Hour), Jobs: 21, Nodes: 3,
		Pending: 56, Running: 5, Queue: map[string]int{"active": 50, "backoff": 6, "gated": 0}},
	"GET /v1/server/members": api.MemberList{Members: []api.Member{
		{ID: "s1", Address: "10.0.0.11:7070", Voter: true, Leader: true, State: api.MemberHealthy, Heard: now},
		{ID: "s2", Address: "10.0.0.12:7070", State: api.MemberUnreachable, Heard: ago(time.Hour)}}},
	"DELETE /v1/server/members/s2": nil,
	"POST /v1/server/restore":      nil,
}

// texts are answers that are no single JSON.
var texts = map[string]string{
	"GET /v1/jobs/17/logs?element=40&stream=stdout":                              "line 1\nline 2\n",
	"GET /v1/jobs/17/logs?element=40&stream=stderr":                              "a warning\n",
	"GET /v1/jobs/17/logs?attempt=2&follow=true&offset=-10&rank=1&stream=stderr": "the end\n",
	"GET /v1/events": `{"id":"5.0","at":"2026-01-30T14:00:00Z","kind":"submitted","job":17,"owner":"eve","by":"eve"}
{"id":"6.0","at":"2026-01-30T14:00:01Z","kind":"ended","job":17,"element":3,"attempt":2,"state":"FAILED","node":"n1","message":"\u001b[31mred"}
{"id":"7.0","at":"2026-01-30T14:00:02Z","kind":"node","node":"n2","message":"drained","by":"root"}
`,
	"GET /v1/events?job=17": `{"id":"5.0","at":"2026-01-30T14:00:00Z","kind":"submitted","job":17,"owner":"eve","by":"eve"}
{"id":"6.0","at":"2026-01-30T14:00:01Z","kind":"ended","job":17,"element":3,"attempt":2,"state":"FAILED","node":"n1"}
{"id":"7.0","at":"2026-01-30T14:00:01Z","kind":"ended","job":17,"element":4,"attempt":1,"state":"FAILED","node":"n1"}
`,
	"GET /v1/events?after=6.0&job=17&node=n1": "",
	"GET /v1/jobs/18/logs?stream=stdout":      "\x1b[31mred\x1b[0m\x1b[2J\n",
	"GET /v1/jobs/19/logs?stream=stdout":      "the end of much\n",
	"GET /v1/jobs/20/logs?stream=stdout":      "what there was room for\n",
	"GET /v1/server/backup":                   "the state",
}

// offsets are where answers with logs begin.
var offsets = map[string]string{"GET /v1/jobs/19/logs?stream=stdout": "6692488"}

// errorsOf are answers that are errors.
var errorsOf = map[string]api.Error{
	"GET /v1/jobs/98": {Status: 403, Code: api.CodeForbidden, Message: "job 98 is not yours"},
	"GET /v1/jobs/97": {Status: 503, Code: api.CodeNoLeader, Message: "no server leads now"},
	"POST /v1/jobs/98/cancel": {Status: 400, Code: api.CodeInvalid, Message: "the request is not right", Problems: []api.Problem{
		{Field: "elements", Message: "job 98 has no element 7"}, {Field: "reason", Message: "\x1b[2J"}}},
}

// reply answers the request of the path for the time that look counts, from 0.
func reply(w http.ResponseWriter, path string, look int) {
	if path == "GET /v1/jobs/40" { // a job that comes to its end
		states := []job.State{job.Pending, job.Running, job.Failed}
		j := detail(40, states[min(look, 2)], &api.Exit{Code: 7})
		if look < 2 {
			j.Ended, j.Attempts = time.Time{}, nil
		}
		_ = json.NewEncoder(w).Encode(j) // the test server takes it
		return
	}
	answer, found := answers[path]
	text, isText := texts[path]
	failure, fails := errorsOf[path]
	switch {
	case fails:
		w.WriteHeader(failure.Status)
		_ = json.NewEncoder(w).Encode(failure)
	case isText:
		if from, ok := offsets[path]; ok {
			w.Header().Set(api.OffsetHeader, from)
			w.Header().Set(api.AttemptHeader, "1")
		}
		fmt.Fprint(w, text)
	case found && answer == nil:
		w.WriteHeader(http.StatusNoContent)
	case found:
		_ = json.NewEncoder(w).Encode(answer)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"status":404,"code":"not_found","message":"there is nothing at %s"}`, path)
	}
}

// amountsOf reads amounts.
func amountsOf(text string) *api.Amounts {
	a, err := readAmounts(text)
	if err != nil {
		panic(err)
	}
	return a
}
