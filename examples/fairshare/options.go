package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berth-project/berth/model"
)

// options are what the program was asked for.
type options struct {
	order   string
	reclaim model.ReclaimPolicy
	seed    uint64
	length  time.Duration
	svg     string
}

// The values of -order.
const (
	byQueues  = "queues"  // by what departments have now
	byUsage   = "usage"   // by what they have had
	byArrival = "arrival" // without queues
)

var orders = []string{byArrival, byQueues, byUsage}

// usageError says that the program was called wrongly.
type usageError struct{ text string }

func (e *usageError) Error() string { return "fairshare: " + e.text + " (see -help)" }

// reclaims are the values of -reclaim.
var reclaims = map[string]model.ReclaimPolicy{"never": model.ReclaimNever, "lower": model.ReclaimLower, "any": model.ReclaimAny}

const maxHours = 1000

func parseOptions(args []string, out io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("fairshare", flag.ContinueOnError)
	f.StringVar(&o.order, "order", byQueues, "who goes first: by queues, with their shares; by usage, with what they have had over time; or by arrival")
	reclaim := f.String("reclaim", "any", "whom a department displaces for what it is guaranteed: never anybody, lower priorities, or any")
	hours := f.Int("hours", 12, "how long the day is, 1 to 1000")
	f.Uint64Var(&o.seed, "seed", 1, "the seed of the jobs")
	f.StringVar(&o.svg, "svg", "", "write a picture of the shares to this file")
	var usage strings.Builder
	f.SetOutput(&usage)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			if _, err := io.WriteString(out, usage.String()); err != nil {
				return nil, err
			}
			return nil, err
		}
		return nil, &usageError{err.Error()}
	}
	if f.NArg() > 0 {
		return nil, &usageError{fmt.Sprintf("%q is no option", f.Arg(0))}
	}
	if !slices.Contains(orders, o.order) {
		return nil, &usageError{fmt.Sprintf("-order: %q is not one of %s", o.order, strings.Join(orders, ", "))}
	}
	var known bool
	if o.reclaim, known = reclaims[*reclaim]; !known {
		return nil, &usageError{fmt.Sprintf("-reclaim: %q is not one of %s", *reclaim, strings.Join(slices.Sorted(maps.Keys(reclaims)), ", "))}
	}
	if *hours < 1 || *hours > maxHours {
		return nil, &usageError{fmt.Sprintf("-hours: %d is not from 1 to %d", *hours, maxHours)}
	}
	o.length = time.Duration(*hours) * time.Hour
	return o, nil
}
