package cel_test

import (
	"fmt"

	"github.com/berth-project/berth/adapters/kubernetes/cel"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// A selector of a device claim.
func Example() {
	device := model.SliceDevice{Name: "gpu-0"}
	modeltest.Attribute("model", "a100")(&device)
	ok, err := cel.New().Evaluate(`device.attributes["gpu.example.com"].model == "a100"`, "gpu.example.com", &device)
	fmt.Println(ok, err)
	// Output: true <nil>
}
