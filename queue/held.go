package queue

import (
	"fmt"
	"strings"

	"github.com/berth-project/berth/model"
)

// Held says what holds workloads back in the order by queues.
type Held struct {
	// Absent says in words what is not there that the workload needs, which Queue or Principal names
	// where it is one of those; the other fields are empty then.
	Absent string
	// Queue and Principal are the part of the order that is held: the queue, or what the
	// principal has in it. Nothing in it has its turn meanwhile.
	Queue     string
	Principal string // see Queue
	// Workload is the one that is next in the part and is too much, or its highest group.
	Workload string
	// Limit is the name of the limit that it would break; empty for a quota of the queue.
	Limit string
	Quota Quota // empty for a limit
	// Resource is the name of what it asks too much of, empty for a number of workloads.
	Resource string
	Missing  int64 // how much too much, in the unit of the resource
	Seconds  bool  // it is a limit on resource-seconds, and Missing is times seconds
	// Endless: it is a limit on resource-seconds, and something that asks for the resource has no
	// time limit, so that no amount would be enough. Missing means nothing then.
	Endless bool
	// Lender is, for QuotaLend, the queue that keeps most for itself.
	Lender string
	// Never: it is too much even where nothing else is placed.
	Never bool
}

// String says it in one line.
func (h *Held) String() string {
	if h.Absent != "" {
		return h.Absent
	}
	var b strings.Builder
	switch {
	case h.Limit != "":
		fmt.Fprintf(&b, "limit %q", h.Limit)
	case h.Quota == QuotaLend:
		fmt.Fprintf(&b, "queue %q: what is left is guaranteed to queue %q", h.Queue, h.Lender)
	default:
		fmt.Fprintf(&b, "queue %q: %s", h.Queue, h.Quota)
	}
	switch {
	case h.Endless:
		fmt.Fprintf(&b, ": %q has no time limit, so that its %s-seconds have no end", h.Workload, h.Resource)
	case h.Resource == "":
		fmt.Fprintf(&b, ": %q is %d too many", h.Workload, h.Missing)
	case h.Seconds:
		fmt.Fprintf(&b, ": %q asks for %d%s %s-seconds too much", h.Workload, h.Missing, h.unit(), h.Resource)
	default:
		fmt.Fprintf(&b, ": %q asks for %d%s %s too much", h.Workload, h.Missing, h.unit(), h.Resource)
	}
	if h.Never {
		b.WriteString(", whatever else runs")
	} else {
		b.WriteString(" now")
	}
	return b.String()
}

// unit is what the number stands for: CPU is counted in thousandths.
func (h *Held) unit() string {
	if h.Resource == model.CPU {
		return "m"
	}
	return ""
}
