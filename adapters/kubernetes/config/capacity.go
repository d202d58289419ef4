package config

import (
	"github.com/berth-project/berth/adapters/kubernetes/queueing"
	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/defaultpreemption"
)

// CapacityScheduling is the name of scheduler-plugins' plugin for elastic quotas. Here these are
// queues, which the order of the queue and preemption go by; a profile that enables it has the
// objects read.
const CapacityScheduling = "CapacityScheduling"

// capacityScheduling is DefaultPreemption by that name, for files that enable the one and
// disable the other.
type capacityScheduling struct {
	*defaultpreemption.DefaultPreemption
}

func newCapacityScheduling(_ extpoints.NoArgs, h extpoints.Handle) (*capacityScheduling, error) {
	p, err := defaultpreemption.New(defaultpreemption.Args{}, h)
	if err != nil {
		return nil, err
	}
	return &capacityScheduling{p}, nil
}

// Name returns the plugin's name.
func (*capacityScheduling) Name() string { return CapacityScheduling }

// PreFilter does nothing. It is there, as Reserve is, for files that enable the plugin at the
// points at which upstream's keeps its book.
func (*capacityScheduling) PreFilter(*extpoints.CycleState, *extpoints.WorkloadInfo) (*extpoints.PreFilterResult, *extpoints.Status) {
	return nil, nil
}

// Reserve does nothing.
func (*capacityScheduling) Reserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) *extpoints.Status {
	return nil
}

// Unreserve does nothing.
func (*capacityScheduling) Unreserve(*extpoints.CycleState, *extpoints.WorkloadInfo, *model.Binding) {
}

var (
	_ extpoints.PreFilterPlugin  = (*capacityScheduling)(nil)
	_ extpoints.PostFilterPlugin = (*capacityScheduling)(nil)
	_ extpoints.ReservePlugin    = (*capacityScheduling)(nil)
)

// QueueingWithQuotas is Queueing with the quotas of the cluster's objects.
func (c *Config) QueueingWithQuotas() *queueing.Configuration {
	var q queueing.Configuration
	if c.Queueing != nil {
		q = *c.Queueing
	}
	q.QuotaObjects = true
	return &q
}
