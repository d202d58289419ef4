package job

// State is where an element is on its way. The words are those of batch systems,
// which people's scripts look for.
type State string

// The states. Those from Completed on are ends.
const (
	Pending     State = "PENDING"
	Starting    State = "STARTING"   // it has its nodes, and not all tasks run yet
	Running     State = "RUNNING"    // all tasks run, or have run
	Completing  State = "COMPLETING" // tasks are being ended
	Completed   State = "COMPLETED"
	Failed      State = "FAILED"
	Timeout     State = "TIMEOUT"
	Cancelled   State = "CANCELLED"
	NodeFail    State = "NODE_FAIL"
	OutOfMemory State = "OUT_OF_MEMORY"
	Preempted   State = "PREEMPTED"
	Deadline    State = "DEADLINE"
	BootFail    State = "BOOT_FAIL" // its node could not start it
	Requeued    State = "REQUEUED"  // of an attempt: the element is tried again by request
)

// States are those that a job or an element can be in, in their order.
var States = []State{
	Pending, Starting, Running, Completing, Completed, Failed, Timeout, Cancelled, NodeFail, OutOfMemory, Preempted, Deadline, BootFail,
}

// Ended reports whether the state is an end.
func (s State) Ended() bool {
	switch s {
	case Pending, Starting, Running, Completing:
		return false
	}
	return true
}

// Reason says why an element waits.
type Reason string

// The reasons.
const (
	ReasonNone      Reason = ""
	ReasonPriority  Reason = "Priority"  // it has not been tried yet, others go first
	ReasonResources Reason = "Resources" // it fits on no node now
	// ReasonBadConstraints: no node of the fleet as it is could ever take it, or a queue or
	// limit as it is never lets it start.
	ReasonBadConstraints Reason = "BadConstraints"
	ReasonHeldUser       Reason = "JobHeldUser"
	ReasonHeldAdmin      Reason = "JobHeldAdmin"
	ReasonDependency     Reason = "Dependency"
	ReasonNever          Reason = "DependencyNeverSatisfied"
	ReasonBeginTime      Reason = "BeginTime"
	ReasonBackoff        Reason = "Backoff" // the pause before a retry
	ReasonArrayLimit     Reason = "JobArrayTaskLimit"
	ReasonQueueLimit     Reason = "QueueLimit"
	ReasonQueueStopped   Reason = "QueueStopped"
	ReasonReservation    Reason = "Reservation" // that of the job is not on, or is gone
)
