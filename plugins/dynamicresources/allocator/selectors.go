package allocator

import (
	"errors"
	"fmt"

	"github.com/berth-project/berth/model"
)

// selects reports whether the class and the demand select the device. An error
// is not remembered.
func (d *demand) selects(e Evaluator, at *device) (bool, error) {
	words := at.slice.verdicts.of(d.selectors, len(at.slice.devices))
	word, shift := &words[at.index/perWord], at.index%perWord*2
	switch word.Load() >> shift & 3 {
	case selected:
		return true, nil
	case rejected:
		return false, nil
	}
	ok, err := d.judge(e, at)
	if err != nil {
		return false, err
	}
	verdict := rejected
	if ok {
		verdict = selected
	}
	word.Or(verdict << shift)
	return ok, nil
}

// judge is selects without the memory.
func (d *demand) judge(e Evaluator, at *device) (bool, error) {
	ok, err := selectsAll(e, d.class.Selectors, at, func() string { return "class " + d.class.Name })
	if err != nil || !ok {
		return false, err
	}
	return selectsAll(e, d.Selectors, at, func() string { return "claim " + d.claim })
}

// selectsAll reports whether all selectors select the device; whose says in
// errors where they come from.
func selectsAll(e Evaluator, list []model.DeviceSelector, at *device, whose func() string) (bool, error) {
	for i := range list {
		for j := range list[i].Requirements {
			if !list[i].Requirements[j].Matches(at.id.Driver, at.SliceDevice) {
				return false, nil
			}
		}
		if list[i].Expression == "" {
			continue
		}
		if e == nil {
			return false, fmt.Errorf("%s: selector #%d: there is no evaluator for expressions", whose(), i)
		}
		ok, err := e.Evaluate(list[i].Expression, at.id.Driver, at.SliceDevice)
		if of := (*ExpressionError)(nil); errors.As(err, &of) {
			return false, fmt.Errorf("%s: selector #%d: %w", whose(), i, err)
		}
		if err != nil {
			return false, fmt.Errorf("%s: selector #%d on device %s: %w", whose(), i, name(at.id), err)
		}
		if !ok {
			return false, nil
		}
	}
	return true, nil
}
