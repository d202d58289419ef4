package engine

// Order says in which order active workloads are tried.
type Order uint8

// The orders.
const (
	// OrderBySort: that of the QueueSort plugin, as in kube-scheduler. Queues,
	// principals and limits are recorded and have no effect.
	OrderBySort Order = iota
	// OrderByQueues: by queues, with their shares, quotas and limits; see
	// [model.Queue], [model.Principal], [model.Limit] and package queue. The
	// QueueSort plugin orders the workloads of one principal in one queue. Plans on a
	// [Branch] are about room: like gates, queues do not hold workloads back there. The
	// engine's own plan goes by queues, see [Backfill].
	OrderByQueues

	orders
)

// String returns the order's name.
func (o Order) String() string { return [...]string{"by sort", "by queues", "invalid"}[min(o, orders)] }
