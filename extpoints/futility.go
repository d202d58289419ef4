package extpoints

// Futility is implemented by the [Preemption] of an engine that knows where room would be made
// in vain. A plugin that displaces others looks for it with a type assertion, and asks
// before it does.
type Futility interface {
	// Futile says why nobody is to be displaced for the workloads, one or those of a group;
	// nil where nothing speaks against it. One reason is that room was made for one of them
	// before, and a plugin rejected it there, at Reserve or on Permit, say: that is not done
	// again within an hour, then two, four and so on up to a day, unless the workload is
	// changed. The other is that plugins of the profile are [CompanionsPlugin].
	Futile(s *CycleState, members ...*WorkloadInfo) *Status
}

// CompanionsPlugin may be implemented by a Permit plugin that holds workloads until others have
// a node, too: where too few of them can be placed, even if all of lower priority were
// gone, nobody is displaced for any of them.
//
// Called on the scheduling goroutine, in PostFilter of another plugin; must not block. It
// must answer in trials too, from what the state's view says.
type CompanionsPlugin interface {
	Plugin
	// Companions are the IDs of the waiting workloads that would do beside w, and how many of
	// them and w must get a node; 0: w needs nobody.
	Companions(s *CycleState, w *WorkloadInfo) (others []string, need int)
}
