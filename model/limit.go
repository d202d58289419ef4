package model

import "time"

// LimitScope says what a limit counts together.
type LimitScope string

// The scopes of limits.
const (
	LimitEachWorkload  LimitScope = "EachWorkload"  // every workload for itself
	LimitEachPrincipal LimitScope = "EachPrincipal" // those of each principal
	// LimitOwn: those of the queue, or the principal, itself.
	LimitOwn LimitScope = "Own"
	// LimitSubtree: those of the queue, or the principal, and of all below it.
	LimitSubtree LimitScope = "Subtree"
)

// LimitMeasure says what a limit counts.
type LimitMeasure string

// The measures of limits.
const (
	LimitRunning  LimitMeasure = "Running"  // workloads that have a node
	LimitCount    LimitMeasure = "Count"    // workloads that have a node or wait for one; only for LimitRefuse
	LimitResource LimitMeasure = "Resource" // what the workloads that have a node request of a resource
	// LimitResourceSeconds: that, times the seconds for which they have had it, and of
	// those that have it now, for which they will have had it at the end of their time limit. For
	// LimitStop only what they have had counts, so that one begins as long as there is anything
	// left.
	LimitResourceSeconds LimitMeasure = "ResourceSeconds"
)

// LimitBreach says what happens to a workload that would break a limit.
type LimitBreach string

// The breaches of limits; the empty value means LimitHold.
const (
	// LimitRefuse: it is refused where it could never be placed, and where it is one too
	// many of LimitCount; else it waits.
	LimitRefuse LimitBreach = "Refuse"
	LimitHold   LimitBreach = "Hold" // it waits until the limit allows it
	// LimitStop: it waits, and what runs beyond the limit is for the orchestrator to stop. Of
	// resource-seconds the engine tells when the limit is reached.
	LimitStop LimitBreach = "Stop"
)

// Limit is the most that the workloads of a queue or of a principal may use or be. A
// limit displaces nothing: where it is less than what runs, no more is placed until it
// is met.
type Limit struct {
	Name string // identity, unique among limits
	// Queue is the name of the queue whose limit it is, Principal that of the principal: exactly
	// one is set. It need not exist yet.
	Queue     string
	Principal string       // see Queue
	Scope     LimitScope   // what is counted together; LimitEachPrincipal is for a queue only
	Measure   LimitMeasure // what is counted; for LimitEachWorkload a resource
	// Resource is the name of the resource that is counted; empty for workloads.
	Resource string
	Amount   int64       // the most, in the unit of what is counted; 0 is none at all
	Breach   LimitBreach // empty: LimitHold
	// HalfLife, of resource-seconds that are not of each workload: after it, what has been
	// used counts half. 0: nothing is given back, so that the limit is a budget. What is
	// counted is known by the name of the limit: it stays when the rest is changed, and what
	// was used before the limit was said does not count.
	HalfLife time.Duration
}

func (*Limit) sealed() {}

// clone returns a deep copy, nil of nil.
func (l *Limit) clone() *Limit { return clonePlain(l) }

// The values that the enumerated fields of a limit may have, in the order in which
// messages list them.
var (
	limitScopes   = []LimitScope{LimitEachWorkload, LimitEachPrincipal, LimitOwn, LimitSubtree}
	limitMeasures = []LimitMeasure{LimitRunning, LimitCount, LimitResource, LimitResourceSeconds}
	limitBreaches = []LimitBreach{LimitRefuse, LimitHold, LimitStop}
)

// Validate returns all that is wrong with the limit as a [*ValidationError], nil
// where it is valid.
func (l *Limit) Validate() error {
	var c checker
	c.notEmpty("name", l.Name)
	c.text("queue", l.Queue)
	switch {
	case l.Queue == "" && l.Principal == "":
		c.report("queue", "must not be empty where principal is")
	case l.Queue != "" && l.Principal != "":
		c.report("principal", "must be empty where queue is not")
	}
	c.text("principal", l.Principal)
	oneOf(&c, "scope", l.Scope, limitScopes)
	if l.Scope == LimitEachPrincipal && l.Queue == "" {
		c.report("scope", string(LimitEachPrincipal)+" is for the limit of a queue")
	}
	oneOf(&c, "measure", l.Measure, limitMeasures)
	counts := l.Measure == LimitRunning || l.Measure == LimitCount
	switch {
	case l.Scope == LimitEachWorkload && counts:
		c.report("measure", string(l.Measure)+" of each workload is always 1")
	case counts && l.Resource != "":
		c.report("resource", "must be empty where measure is "+string(l.Measure))
	case !counts && l.Resource == "":
		c.report("resource", "must not be empty")
	}
	c.text("resource", l.Resource)
	c.atLeast("amount", l.Amount, 0)
	oneOfOrEmpty(&c, "breach", l.Breach, limitBreaches)
	switch decays := l.Measure == LimitResourceSeconds && l.Scope != LimitEachWorkload; {
	case l.HalfLife != 0 && decays:
		c.halfLife(l.HalfLife)
	case l.HalfLife != 0:
		c.report("halfLife", "is for what several workloads use over time")
	}
	if l.Measure == LimitCount && l.Breach != LimitRefuse {
		c.report("breach", "must be "+string(LimitRefuse)+" where measure is "+string(LimitCount)+": one that waits counts too")
	}
	return invalid("limit", l.Name, c.problems)
}
