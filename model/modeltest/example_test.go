package modeltest_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// A builder, for a test that says exactly what it needs.
func ExampleNode() {
	n := modeltest.Node("n1").CPU(4000).With(func(n *model.Node) { n.Zone = "a" }).Build()
	fmt.Println(n.Name, n.Zone, n.Allocatable.CPU)
	// Output: n1 a 4000
}

// A generator, for a property that holds for all workloads. The same seed gives the
// same workload.
func ExampleRandomWorkload() {
	workload := func() *model.Workload { return modeltest.RandomWorkload(rand.New(rand.NewPCG(7, 0))) }
	first, again := workload(), workload()
	fmt.Println(first.Validate(), first.ID == again.ID)
	// Output: <nil> true
}
