package differences

import "fmt"

// Cases runs cases with a report, from number 0 on, until one has an unexplained
// difference or n have been run. It is what the tests of the levels run.
func Cases(n uint64, run func(number uint64, report *Report) error) (*Report, error) {
	report, err := New()
	if err != nil {
		return nil, err
	}
	for number := uint64(0); number < n && report.Unexplained() == 0; number++ {
		if err := run(number, report); err != nil {
			return nil, fmt.Errorf("case %d: %w", number, err)
		}
	}
	return report, nil
}
