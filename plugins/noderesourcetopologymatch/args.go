package noderesourcetopologymatch

import (
	"fmt"
	"time"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeResourceTopologyMatch"

// Strategy says which nodes score higher.
type Strategy string

// The strategies; the empty value means LeastAllocated.
const (
	LeastAllocated     Strategy = "LeastAllocated"     // whose zones have more left
	MostAllocated      Strategy = "MostAllocated"      // whose zones have less left
	BalancedAllocation Strategy = "BalancedAllocation" // whose zones would be used evenly
	LeastNUMANodes     Strategy = "LeastNUMANodes"     // of which fewer and closer zones are needed
)

// Book says how workloads on a node count that are not in its report.
type Book string

// The books; the empty value means OverReserve, and with extpoints.KubeScheduler137 Ignore.
const (
	OverReserve Book = "OverReserve" // each counts in every zone
	Wait        Book = "Wait"        // nothing more is placed there until a report has them
	Ignore      Book = "Ignore"      // they do not count
)

// ResourceWeight is how much a resource counts.
type ResourceWeight struct {
	Name   string // of the resource
	Weight int64  // 1 or more; 0: 1
}

// Args are the arguments.
type Args struct {
	Strategy Strategy // default: LeastAllocated
	// Resources have weights for LeastAllocated and MostAllocated; what is requested and is
	// not here has weight 1. Default: none.
	Resources []ResourceWeight
	Book      Book // default: OverReserve
	// MaxAge is how old a report may be; nothing that must be aligned is placed on a node with an
	// older one. 0: any age.
	MaxAge time.Duration
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	switch a.Strategy {
	case "", LeastAllocated, MostAllocated, BalancedAllocation, LeastNUMANodes:
	default:
		p.Addf("strategy", "%q is not one of LeastAllocated, MostAllocated, BalancedAllocation, LeastNUMANodes", a.Strategy)
	}
	switch a.Book {
	case "", OverReserve, Wait, Ignore:
	default:
		p.Addf("book", "%q is not one of OverReserve, Wait, Ignore", a.Book)
	}
	seen := map[string]bool{}
	for i, r := range a.Resources {
		field := fmt.Sprintf("resources[%d]", i)
		if r.Name == "" {
			p.Addf(field+".name", "must not be empty")
		} else if seen[r.Name] {
			p.Addf(field+".name", "%q is listed twice", r.Name)
		}
		seen[r.Name] = true
		if r.Weight < 0 || r.Weight > maxWeight {
			p.Addf(field+".weight", "%d is not between 0 and %d", r.Weight, maxWeight)
		}
	}
	helper.CheckLoadAge(&p, a.MaxAge)
	return p.Err(Name)
}

// maxWeight keeps sums of weighted scores far from the limits of int64.
const maxWeight = 1 << 40

// NodeResourceTopologyMatch is the plugin. It has no state but what it need not compute again.
type NodeResourceTopologyMatch struct {
	handle   extpoints.Handle
	strategy Strategy
	weights  map[string]int64
	book     Book
	maxAge   time.Duration
	memo     *memo
	// like has it do what upstream does, mistakes included.
	like bool
}

// New makes the plugin. The error lists everything that is wrong with the arguments.
func New(a Args, h extpoints.Handle) (*NodeResourceTopologyMatch, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	p := &NodeResourceTopologyMatch{
		handle: h, strategy: a.Strategy, book: a.Book, maxAge: a.MaxAge, weights: map[string]int64{}, memo: &memo{},
		like: h.Compat() == extpoints.KubeScheduler137,
	}
	if p.strategy == "" {
		p.strategy = LeastAllocated
	}
	if p.book == "" {
		p.book = OverReserve
		if p.like {
			p.book = Ignore
		}
	}
	for _, r := range a.Resources {
		p.weights[r.Name] = max(r.Weight, 1)
	}
	return p, nil
}

// Name returns the plugin's name.
func (*NodeResourceTopologyMatch) Name() string { return Name }

// weight is how much the resource counts.
func (p *NodeResourceTopologyMatch) weight(name string) int64 {
	if w, ok := p.weights[name]; ok {
		return w
	}
	return 1
}

// partsOf are the parts of the workload that are placed by themselves.
func partsOf(w *model.Workload) []model.Container {
	if len(w.Containers) > 0 {
		return w.Containers
	}
	return []model.Container{{Requests: w.Requests}}
}
