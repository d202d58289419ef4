package differences

import (
	"fmt"
	"strconv"
)

// again is how often a case with an unexplained difference is run again.
const again = 5

// Cases runs cases with a report, from number 0 on, until one has an unexplained
// difference or n have been run. It is what the tests of the levels run.
func Cases(n uint64, run func(number uint64, report *Report) error) (*Report, error) {
	report, err := New()
	if err != nil {
		return nil, err
	}
	for number := uint64(0); number < n && report.Unexplained() == 0; number++ {
		if err := report.Run(strconv.FormatUint(number, 10), func(r *Report) error { return run(number, r) }); err != nil {
			return nil, fmt.Errorf("case %d: %w", number, err)
		}
	}
	return report, nil
}

// Run runs a case and adds what came of it; name says how to run it again.
//
// In a few places kube-scheduler goes by the order of a map, or by which of its goroutines is first,
// where no pattern of the list can tell. So a case with an unexplained difference is run
// again. The subject answers the same each time; where kube-scheduler comes to that, too, in one of
// the runs, the difference is chance, and counted as such.
func (r *Report) Run(name string, run func(*Report) error) error {
	for i := range 1 + again {
		one := NewWith(r.known)
		one.cases, one.current = 1, name
		if err := run(one); err != nil {
			return err
		}
		same := one.Unexplained() == 0
		if i > 0 && same {
			r.chance = append(r.chance, name)
		}
		if same || i == again {
			r.take(one)
			break
		}
	}
	return nil
}

// take adds what is in another report.
func (r *Report) take(o *Report) {
	r.cases += o.cases
	for what, n := range o.counts {
		r.counts[what] += n
	}
	for key, g := range o.found {
		if mine := r.found[key]; mine != nil {
			mine.add(g)
		} else {
			r.found[key] = g
		}
	}
}
