package bridge

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/berth-project/berth/model"
)

// Those that a plugin has rejected and the engine has forgotten are forgotten here too, also
// where no event comes.
func TestRejectedAreForgotten(t *testing.T) {
	h := &handle{listens: true}
	for i := range 20_000 {
		h.rejected("", &model.Workload{ID: fmt.Sprint("w", i)})
		if i%1000 == 0 {
			runtime.GC()
		}
	}
	if n := len(h.turnedDown); n > 4000 {
		t.Errorf("%d are remembered", n)
	}
}
