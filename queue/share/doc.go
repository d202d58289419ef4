// Package share has the policies of order, share and quota, as functions over integers. It
// knows neither queues of workloads nor nodes nor clocks: what uses it passes in what is used,
// what there is, and the time.
//
// # Which policy answers which question
//
//	who is next, by what runs now        Dominant, Key, Next: dominant resource fairness (DRF)
//	the same over a tree                 Hierarchy: hierarchical DRF
//	who is next, by what was used        Ledger, and FairTree over it; ClassicFairShare is its
//	                                     forerunner
//	one number of many factors           Priority
//	how much may a queue use, and        Quota: Available, Share
//	what does it borrow
//	who is preempted when a queue        Quota.Victims
//	wants back what others borrow
//	what part should each queue have     Divide, and CanReclaim over its answers
//	what does a workload cost            Billing
//
// # Vocabulary
//
//	amount     an integer in the smallest unit that counts, such as a thousandth of a core
//	vector     amounts by resource. A resource is an index into a table of names that the
//	           caller has; of equal shares the lower index counts
//	capacity   what there is
//	share      what part of something one has, or should have
//	weight     what part one should have, relative to the others
//	usage      what is in use, or was; decayed usage: the older, the less it counts
//	half-life  after how many ticks usage counts half
//	tick       the unit of time, of any length; always an argument
//	quota      what a queue may use; nominal: its own; a cohort is a group of queues that lend
//	           and borrow
//	deserved   what a queue is guaranteed when a capacity is divided
//	cell       a resource in quotas, or one flavour of it
//	principal  a user, account or queue that a ledger has an entry for
//
// # Numbers
//
// Nothing is decided by floating point. A share is a Fraction, which is exact, or a Q32 number, an
// integer in units of 2^-32, where steps are multiplied up; each is rounded down. Amounts are
// checked: what cannot be counted is an error that wraps one of the sentinels of this package,
// joined with whatever else is wrong, and nothing is changed then. Floats are for display.
// Every order ends in a sequence and a name.
//
// # Bad input
//
//	zero or negative weight   DRF and WeightedUsage: an infinite share, last. Hierarchy: an
//	                          error. Fair Tree: no shares is level 0, last. Quota: an infinite
//	                          share when it borrows; a negative one is an error. Divide: nothing
//	                          of what is over; a negative one is an error
//	zero capacity or total    the resource does not count; a usage of nothing in total is
//	                          a level that is infinite for all
//	negative usage            DRF and WeightedUsage: counts as 0. Elsewhere an error
//	no limit                  a nil vector, or Unlimited
//	circle, missing parent    ErrCycle, ErrParent
//	half-life 0               ErrHalfLife
//	time goes back            ErrTick
//
// # Sources
//
// DRF: Ghodsi and others, NSDI 2011. Hierarchical DRF: Bhattacharya and others, SoCC 2013. Fair
// Tree, the classic fair share, many factors and billing: the documentation of Slurm and of
// flux-accounting. Quotas with lending, their shares and fair preemption: Kueue. The division and
// reclaiming: KAI Scheduler; divisions also the elastic quotas of Koordinator. The known answers in
// testdata are theirs. Where an answer differs from
// its source on purpose, the line "upstream" has what the other one says:
//
//   - Victims that are given back do not leave the others without the tests by which they were chosen.
//   - Cohorts with equal shares go by name.
//   - By FinalShare equal shares are enough only if the victim's was lowered.
//   - A victim in another queue uses something that is needed and that its own queue borrows.
//   - What rounding leaves is divided within its priority, and nobody gets more than requested.
//   - Guarantees that are more than the capacity are reduced, all by the same part.
package share
