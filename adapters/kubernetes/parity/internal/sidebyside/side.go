package sidebyside

// Side is one of the two schedulers, with its cluster.
type Side interface {
	// Name is "kube" or "berth".
	Name() string
	// Limit is how many decisions may be made between two Resets.
	Limit() int
	// Queue makes the next n pods of the row, or groups of them, ready to be decided
	// on.
	Queue(n int)
	// Decide decides on the next of them.
	Decide()
	// Reset takes away what the decisions have placed since the last Reset, and
	// returns where it was, or where room was to be made, in the order of the pods.
	Reset() []string
	// Close lets go of the cluster.
	Close()
}

// Batch is the Limit of most rows, in pods.
const Batch = 200

// Limit is how many decisions may be made before the cluster is made what it was:
// for many a cluster hardly changes, but the second pod of a full one would find
// the room that is to be made for the first.
func (r Row) Limit() int {
	if r.Full {
		return 1
	}
	return max(Batch/r.Pods(), 1)
}
