package agent

import (
	"context"

	"github.com/berth-project/berth/adapters/fleet/api"
)

// wakeReporter says that there is something to report. Any goroutine may call it.
func (a *Agent) wakeReporter() {
	select {
	case a.reportNow <- struct{}{}:
	default:
	}
}

// report sends what happened to tasks, until a server has taken it. While one batch is
// on its way the next one gathers.
func (a *Agent) report(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; {
		var batch []*api.Report
		if !a.do(ctx, func(t *table) { batch = t.unreported() }) {
			return
		}
		if len(batch) == 0 {
			select {
			case <-a.reportNow:
			case <-ctx.Done():
			}
			continue
		}
		if err := a.sendReports(ctx, batch); err != nil {
			failures++
			a.metrics.reportFailures.Inc()
			a.log.Warn("reporting failed", "error", err, "tasks", len(batch), "failures", failures)
			pause(ctx, backoff(failures))
			continue
		}
		failures = 0
	}
}

func (a *Agent) sendReports(ctx context.Context, batch []*api.Report) error {
	req := api.ReportRequest{Node: a.cfg.Node}
	for _, r := range batch {
		req.Tasks = append(req.Tasks, *r)
	}
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	resp, err := a.cfg.Server.Report(limited, req)
	if err != nil {
		return err
	}
	if err := a.see(ctx, resp.Term); err != nil {
		return err
	}
	for _, r := range batch {
		if !r.State.Ended() {
			continue
		}
		if err := a.folderCalls.do(func() error { return a.folders.writeTaken(r.Task) }, nil); err != nil {
			// Then the next agent sends it again, which changes nothing.
			a.log.Warn("that a report was taken cannot be written down", "task", r.Task, "error", err)
		}
	}
	a.do(ctx, func(t *table) { t.took(batch) })
	return nil
}
