package words_test

import (
	"fmt"

	"github.com/berth-project/berth/adapters/kubernetes/words"
)

func ExampleText() {
	fmt.Println(words.Text("0/2 nodes are available: 1 Insufficient cpu, 1 Too many workloads."))
	fmt.Println(words.Text(`could not find device claim "workload"`))
	// Output:
	// 0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods.
	// could not find ResourceClaim "workload"
}
