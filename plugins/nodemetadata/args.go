package nodemetadata

import (
	"time"

	"github.com/berth-project/berth/plugins/helper"
)

// Name is the plugin's name.
const Name = "NodeMetadata"

// Type is what the label holds.
type Type string

// The types.
const (
	Number    Type = "Number"    // cut off behind the point: 1.9 is 1
	Timestamp Type = "Timestamp" // see Args.Layout; in whole seconds
)

// Strategy says which nodes are preferred.
type Strategy string

// The strategies.
const (
	Highest Strategy = "Highest" // of Number
	Lowest  Strategy = "Lowest"
	Newest  Strategy = "Newest" // of Timestamp
	Oldest  Strategy = "Oldest"
)

// Args are the arguments.
type Args struct {
	// Label is the key of the label. Required.
	Label string
	// Type is what the label holds. Default: Number.
	Type Type
	// Strategy says which nodes are preferred. Default: Highest, or Newest for Timestamp.
	Strategy Strategy
	// Layout is that of a Timestamp, as for time.Parse. Default: time.RFC3339.
	Layout string
}

func (a Args) withDefaults() Args {
	if a.Type == "" {
		a.Type = Number
	}
	if a.Strategy == "" {
		a.Strategy = Highest
		if a.Type == Timestamp {
			a.Strategy = Newest
		}
	}
	if a.Layout == "" {
		a.Layout = time.RFC3339
	}
	return a
}

// Validate lists everything that is wrong with the arguments in one error.
func (a Args) Validate() error {
	var p helper.Problems
	if a.Label == "" {
		p.Addf("Label", "must not be empty")
	}
	d := a.withDefaults()
	switch d.Type {
	case Number:
		if d.Strategy != Highest && d.Strategy != Lowest {
			p.Addf("Strategy", "%q is neither %q nor %q, which there are for %q", a.Strategy, Highest, Lowest, Number)
		}
		if a.Layout != "" {
			p.Addf("Layout", "is only for %q", Timestamp)
		}
	case Timestamp:
		if d.Strategy != Newest && d.Strategy != Oldest {
			p.Addf("Strategy", "%q is neither %q nor %q, which there are for %q", a.Strategy, Newest, Oldest, Timestamp)
		}
	default:
		p.Addf("Type", "%q is neither %q nor %q", a.Type, Number, Timestamp)
	}
	return p.Err(Name)
}
