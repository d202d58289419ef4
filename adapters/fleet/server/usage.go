package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/state"
)

// usage answers GET /v1/usage: by user, or by job.
func (s *Server) usage(r *request) (any, error) {
	q := r.URL.Query()
	owner := q.Get("owner")
	if !r.operator() {
		if owner != "" && owner != r.who.Name {
			return nil, fail(http.StatusForbidden, api.CodeForbidden, "you may see your own usage only")
		}
		owner = r.who.Name
	}
	v := s.state.View()
	switch q.Get("by") {
	case "", "user":
		out := api.UsageList{Rows: []api.UsageRow{}}
		for name, t := range v.Totals() {
			if owner == "" || name == owner {
				out.Rows = append(out.Rows, usageRow(api.UsageRow{Owner: name}, &t))
			}
		}
		return out, nil
	case "job":
		return s.usageByJob(r, v, owner)
	}
	return nil, invalid("by", "it is user or job")
}

func (s *Server) usageByJob(r *request, v state.View, owner string) (any, error) {
	limit, err := r.page()
	if err != nil {
		return nil, err
	}
	before, err := r.number("after", 0, 1<<62)
	if err != nil {
		return nil, err
	}
	out := api.UsageList{Rows: []api.UsageRow{}}
	for j := range v.JobsBefore(job.ID(before)) {
		if owner != "" && j.Owner != owner || j.Used.Attempts == 0 {
			continue
		}
		if len(out.Rows) == limit {
			out.After = out.Rows[limit-1].Job.String()
			break
		}
		out.Rows = append(out.Rows, usageRow(api.UsageRow{Owner: j.Owner, Job: j.ID, Name: j.Spec.Name}, &j.Used))
	}
	return out, nil
}

// usageRow fills in what was used.
func usageRow(row api.UsageRow, t *state.Total) api.UsageRow {
	row.Attempts = t.Attempts
	row.WallSeconds, row.AllocSeconds = seconds(t.WallMicros), seconds(t.AllocMicros)
	row.CPUSeconds, row.GPUSeconds = seconds(t.CPUMicros), seconds(t.GPUMicros)
	row.PeakMemory = t.PeakMemory
	return row
}

// records answers GET /v1/records.
func (s *Server) records(r *request) (any, error) {
	limit, err := r.page()
	if err != nil {
		return nil, err
	}
	after, err := r.number("after", 0, 1<<62)
	if err != nil {
		return nil, err
	}
	q := r.URL.Query()
	var since time.Time
	if text := q.Get("since"); text != "" {
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			return nil, invalid("since", "%v", err)
		}
	}
	out := api.RecordList{Records: []api.Record{}}
	last := uint64(0)
	for rec := range s.state.View().RecordsAfter(uint64(after)) {
		if !r.mayHave(rec.Owner) || q.Get("owner") != "" && rec.Owner != q.Get("owner") || rec.Ended.Before(since) {
			continue
		}
		if len(out.Records) == limit {
			out.After = strconv.FormatUint(last, 10)
			break
		}
		last = rec.Seq
		out.Records = append(out.Records, api.Record{
			Job: rec.Job, Name: rec.Name, Owner: rec.Owner, Queue: rec.Queue, Submitted: rec.Submitted,
			Tasks: rec.Tasks, Requested: rec.Requested, TimeLimit: rec.TimeLimit, Attempt: viewAttempt(rec),
		})
	}
	return out, nil
}
