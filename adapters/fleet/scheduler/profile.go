package scheduler

import (
	"fmt"
	"strconv"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/plugins"
)

// profiles is the one way in which jobs are placed: kube-scheduler's, but for the
// order of jobs, with devices packed, and nodes left alone whose maintenance comes
// too soon, or where room is kept for a job ahead.
func profiles() []extpoints.Profile {
	p := plugins.DefaultProfile()
	m := &p.Plugins.MultiPoint
	for i := range m.Enabled {
		if m.Enabled[i].Name == plugins.PrioritySort {
			m.Enabled[i].Name = orderName
		}
	}
	m.Enabled = append(m.Enabled,
		extpoints.PluginRef{Name: plugins.DevicePacking, Weight: 1}, extpoints.PluginRef{Name: maintenanceName},
		extpoints.PluginRef{Name: backfillName})
	return []extpoints.Profile{p}
}

func registry(k *keeper) extpoints.Registry {
	r := plugins.Default()
	r[backfillName] = k.use
	r[maintenanceName] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return maintenance{}, nil }
	r[orderName] = func(any, extpoints.Handle) (extpoints.Plugin, error) { return order{}, nil }
	return r
}

const maintenanceName = "Maintenance"

// maintenance keeps workloads off nodes whose maintenance begins before they must
// have ended. Those without a limit are kept off as soon as the window is known.
type maintenance struct{}

var _ extpoints.FilterPlugin = maintenance{}

// Name implements extpoints.Plugin.
func (maintenance) Name() string { return maintenanceName }

// Filter implements extpoints.FilterPlugin.
func (maintenance) Filter(s *extpoints.CycleState, w *extpoints.WorkloadInfo, node *extpoints.NodeInfo) *extpoints.Status {
	closes, ok := node.Node.Labels[closesLabel]
	if !ok {
		return nil
	}
	at, err := strconv.ParseInt(closes, 10, 64)
	if err != nil {
		return extpoints.AsStatus(fmt.Errorf("node %s: label %s: %w", node.Node.Name, closesLabel, err))
	}
	limit, ok := w.Workload.Labels[limitLabel]
	if !ok {
		return extpoints.NewStatus(extpoints.Unschedulable, "has maintenance to come, and the job has no time limit")
	}
	seconds, err := strconv.ParseInt(limit, 10, 64)
	if err != nil {
		return extpoints.AsStatus(fmt.Errorf("workload %s: label %s: %w", w.Workload.ID, limitLabel, err))
	}
	if s.Now().Add(time.Duration(seconds) * time.Second).After(time.Unix(at, 0)) {
		return extpoints.NewStatus(extpoints.Unschedulable, "has maintenance before the job's time limit has passed")
	}
	return nil
}
