package scheduler

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/berth-project/berth/engine"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/devicepacking"
	"github.com/berth-project/berth/plugins/holds"
)

// profiles is the one way in which jobs are placed: kube-scheduler's, but for the
// order of jobs, with devices packed, and nodes left alone whose maintenance comes
// too soon, or that are set aside for others, or that are too busy, if that is asked for.
func profiles(packing devicepacking.Policy, load Load) []extpoints.Profile {
	p := plugins.DefaultProfile()
	extpoints.Use(&p, newOrder, extpoints.NoArgs{}, extpoints.InPlaceOf(plugins.PrioritySort))
	extpoints.Use(&p, devicepacking.New, devicepacking.Args{Policy: packing, Class: gpuClass}, extpoints.Weight(packingWeight(packing)))
	extpoints.Use(&p, newMaintenance, extpoints.NoArgs{})
	extpoints.Use(&p, newReserved, extpoints.NoArgs{})
	extpoints.Use(&p, holds.New, extpoints.NoArgs{})
	load.use(&p)
	return []extpoints.Profile{p}
}

// packings are the policies that a fleet can have: those that need no list of typical
// jobs.
var packings = []devicepacking.Policy{devicepacking.BestFit, devicepacking.Rollout}

// PackingOf returns the policy of the name, and for an empty one the default. The
// error lists those there are.
func PackingOf(name string) (devicepacking.Policy, error) {
	if name == "" {
		return devicepacking.BestFit, nil
	}
	if p := devicepacking.Policy(name); slices.Contains(packings, p) {
		return p, nil
	}
	return "", fmt.Errorf("%q is none of the ways to pack GPUs, which are %s and %s", name, packings[0], packings[1])
}

// packingWeight is the weight of the plugin's score. An operator who asks for Rollout
// wants GPUs to be packed, whatever else speaks for a node: its score has a
// fine order that the scores of others, which prefer empty nodes, would drown.
func packingWeight(p devicepacking.Policy) int32 {
	if p == devicepacking.Rollout {
		return 20
	}
	return 1
}

// The default and the most of Config.Reservations.
const (
	DefaultReservations = 1
	MaxReservations     = 10_000
)

// backfilling is how others may start before jobs that wait for room: those that do
// not delay the first ones, which have reservations. These are made anew once a second at most, for
// tasks end many times a second, and one that never ends although it must is not waited
// for much longer than its node takes to be found out. Where many have reservations nodes would
// be idle if all of these kept their times, so they have slack, but with queues, which it does not go with.
func backfilling(reservations int, byQueues bool) engine.Backfill {
	const looked = 100 // at which that may never fit, where fewer have reservations
	return engine.Backfill{
		Mode: engine.Reservations, Reservations: reservations, Depth: max(looked, reservations),
		Slack: reservations > 1 && !byQueues, Every: time.Second, Overrun: time.Minute,
	}
}

func newOrder(extpoints.NoArgs, extpoints.Handle) (order, error) { return order{}, nil }

func newMaintenance(extpoints.NoArgs, extpoints.Handle) (maintenance, error) {
	return maintenance{}, nil
}

const maintenanceName = "Maintenance"

// maintenance keeps workloads off nodes whose maintenance begins before they must
// have ended. Those without a limit are kept off as soon as the window is known.
type maintenance struct{}

var (
	_ extpoints.FilterPlugin = maintenance{}
	_ extpoints.SignPlugin   = maintenance{}
)

// Name implements extpoints.Plugin.
func (maintenance) Name() string { return maintenanceName }

// Sign implements extpoints.SignPlugin.
func (maintenance) Sign(w *model.Workload) ([]extpoints.SignFragment, *extpoints.Status) {
	return []extpoints.SignFragment{{Key: "TimeLimit", Value: taskOf(w).limit.String()}}, nil
}

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
	limit := taskOf(w.Workload).limit
	if limit == 0 {
		return extpoints.NewStatus(extpoints.Unschedulable, "has maintenance to come, and the job has no time limit")
	}
	if s.Now().Add(limit).After(time.Unix(at, 0)) {
		return extpoints.NewStatus(extpoints.Unschedulable, "has maintenance before the job's time limit has passed")
	}
	return nil
}
