package convert

import (
	"fmt"
	"math"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// deviceScale is the unit of the amounts that a device has of something and that
// are asked of it: thousandths, for counters as well as for capacities. The
// scheduler itself counts in thousandths where it rounds a request up to the
// steps of a range, and so the model's whole numbers give what it gives. What is
// finer, or more than 9.2e15 (8 Pi, for bytes), is a problem.
//
// Rules: k8s.io/dynamic-resource-allocation structured/internal/incubating/
// consumable_capacity.go (useMilli, safeMilliValue), v0.37.1, with the feature
// gate DRAFractionalCapacityRange on: where it is off the API server takes no such
// ranges.
const deviceScale = resource.Milli

// DeviceAmount is the quantity as an amount of the model: in thousandths. An
// error says that it is less than 0, too large or too fine; the amount is the
// nearest that is not less, or the largest.
func DeviceAmount(q resource.Quantity) (int64, error) {
	n, problem := amount(q, deviceScale)
	if problem == "" && q.Cmp(*resource.NewMilliQuantity(n, q.Format)) != 0 {
		problem = "finer than a thousandth"
	}
	if problem != "" {
		return n, fmt.Errorf("%s is %s", q.String(), problem)
	}
	return n, nil
}

// DeviceQuantity is the way back from [DeviceAmount].
func DeviceQuantity(amount int64) resource.Quantity {
	if amount%1000 == 0 {
		// In this form it is what is parsed of a whole number.
		return *resource.NewQuantity(amount/1000, resource.DecimalSI)
	}
	return *resource.NewMilliQuantity(amount, resource.DecimalSI)
}

// offered and wanted are what to do with an amount that is too fine: of what
// there is a little less counts, and of what is asked for a little more.
type amountOf bool

const (
	wanted  amountOf = false
	offered amountOf = true
)

// deviceAmount is an amount of which what is wrong is reported.
func (p *problems) deviceAmount(at *field.Path, q resource.Quantity, of amountOf) int64 {
	n, err := DeviceAmount(q)
	if err != nil {
		p.report(at, "%s", err)
		if of == offered && n > 0 && n < math.MaxInt64 {
			n-- // it was rounded up
		}
	}
	return n
}

// maybeAmount is an amount that need not be there.
func (p *problems) maybeAmount(at *field.Path, q *resource.Quantity) *int64 {
	if q == nil {
		return nil
	}
	n := p.deviceAmount(at, *q, wanted)
	return &n
}

// wantedAmounts are amounts by name.
func (p *problems) wantedAmounts(at *field.Path, list map[resourcev1.QualifiedName]resource.Quantity) map[string]int64 {
	if len(list) == 0 {
		return nil
	}
	amounts := make(map[string]int64, len(list))
	for _, name := range sortedKeys(list) {
		here := at.Key(string(name))
		amounts[p.text(here, string(name))] = p.deviceAmount(here, list[name], wanted)
	}
	return amounts
}
