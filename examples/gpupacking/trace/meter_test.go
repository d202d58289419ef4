package trace_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// Of this capacity one milli is a thousandth of a percent: 12_345 is 12.345 %.
const hundredGPUs = 100 * trace.WholeGPU

// A step belongs to the percent it is nearest to, a half to the even one.
func TestMeterColumns(t *testing.T) {
	for arrived, want := range map[int64]int{
		0: 0, 499: 0, 500: 0, 501: 1, 1499: 1, 1500: 2, 2500: 2, 2501: 3, 130_000: 130,
	} {
		t.Run(fmt.Sprint(arrived), func(t *testing.T) {
			meter := trace.NewMeter(hundredGPUs)
			meter.Add(trace.Step{Arrived: arrived, Used: 42_000})
			if got := meter.Allocation()[want]; got != 42 {
				t.Errorf("column %d is %v", want, got)
			}
		})
	}
}

// Each step is rounded to two decimals as its exact binary value asks for: only
// a true tie goes to the even digit.
func TestMeterRoundsTheSteps(t *testing.T) {
	for used, want := range map[int64]float64{
		125:   0.12, // a tie
		375:   0.38, // a tie
		2675:  2.67, // in binary a little less than 2.675
		1005:  1.00, // a little less than 1.005
		8_125: 8.12,
	} {
		t.Run(fmt.Sprint(used), func(t *testing.T) {
			meter := trace.NewMeter(hundredGPUs)
			meter.Add(trace.Step{Used: used})
			if got := meter.Allocation()[0]; got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestMeterMeans(t *testing.T) {
	meter := trace.NewMeter(hundredGPUs)
	meter.Add(trace.Step{Arrived: 10_000, Used: 10_000, Fragmented: 9_000})
	meter.Add(trace.Step{Arrived: 10_100, Used: 10_100, Fragmented: 8_990})
	meter.Add(trace.Step{Arrived: 10_200, Used: 10_100, Fragmented: 17_980})
	if got, want := meter.Allocation()[10], 10.07; got != want { // 10.0666...
		t.Errorf("allocation %v, want %v", got, want)
	}
	if got, want := meter.Fragmentation()[10], 40./3; math.Abs(got-want) > 1e-12 {
		t.Errorf("fragmentation %v, want %v", got, want)
	}
}

// A column without a step takes the mean of the steps in the columns beside
// it; where those are empty too, there is no value.
func TestMeterEmptyColumns(t *testing.T) {
	meter := trace.NewMeter(hundredGPUs)
	meter.Add(trace.Step{Arrived: 1_000, Used: 1_000})
	meter.Add(trace.Step{Arrived: 3_000, Used: 2_000})
	meter.Add(trace.Step{Arrived: 3_000, Used: 3_000})
	none := math.NaN()
	for column, want := range []float64{1, 1, 2, 2.5, 2.5, none, none} {
		got := meter.Allocation()[column]
		if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("column %d is %v, want %v", column, got, want)
		}
	}
}

// Of a full cluster nothing is idle, so no part of it is fragmented: the step
// counts for the allocation only.
func TestMeterFullCluster(t *testing.T) {
	meter := trace.NewMeter(hundredGPUs)
	meter.Add(trace.Step{Arrived: 100_000, Used: 99_000, Fragmented: 500})
	meter.Add(trace.Step{Arrived: 100_000, Used: 100_000})
	if got := meter.Allocation()[100]; got != 99.5 {
		t.Errorf("allocation %v", got)
	}
	if got := meter.Fragmentation()[100]; got != 50 {
		t.Errorf("fragmentation %v", got)
	}
}

func TestMeterIgnoresStepsBeyondItsColumns(t *testing.T) {
	meter := trace.NewMeter(hundredGPUs)
	meter.Add(trace.Step{Arrived: 131_000, Used: 1})
	if got := meter.Allocation()[trace.Columns-1]; !math.IsNaN(got) {
		t.Errorf("got %v", got)
	}
}
