package record

import (
	"time"

	"github.com/berth-project/berth/engine/internal/store"
	"github.com/berth-project/berth/model"
)

// Intake is what changes are written to: the transaction of one Apply.
type Intake struct {
	*store.Txn
	Now time.Time
	// Admit, where set, refuses workloads that are submitted.
	Admit func(*model.Workload) error
	// Batch is what is handed over.
	Batch Batch
	// Drains are the nodes whose workloads are to be evicted once this is committed.
	Drains []Drain
	// Unnominated are the IDs of the workloads that are nominated to another node than before, or
	// to none.
	Unnominated []string
	// Usages are to be charged once this is committed.
	Usages []Usage
	// children are the IDs of the groups by their parents, as long as they are known.
	children map[string][]string
	// published are the device slices by pool, as long as it is known.
	published map[model.PoolID][]*model.DeviceSlice
}

// Drain is a node that is to be emptied, and why.
type Drain struct{ Node, Reason string }

// Usage is what the workloads of a principal in a queue have used until a time.
type Usage struct {
	Queue, Principal string
	Used             map[string]int64
	Until            time.Time
}
