package trace_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/trace"
)

// Whatever the input, there is either a list of problems, or something the
// protocol can be run on.
func FuzzReadPods(f *testing.F) {
	f.Add([]byte(podsHeader + "p,2000,4096,1,460,\nq,8000,16384,8,1000,G2|T4\n"))
	f.Add([]byte(podsHeader + "p,-1,x,2,500,||\n\"q"))
	f.Add([]byte(zipped(f, podsHeader+"p,1,1,0,0,\n")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, input []byte) {
		pods, err := trace.ReadPods("pods.csv", bytes.NewReader(input))
		if err != nil {
			checkProblems(t, err)
			return
		}
		names := map[string]bool{}
		for _, p := range pods {
			names[p.Name] = true
			whole := p.Share == trace.WholeGPU && p.GPUs > 0
			share := p.Share > 0 && p.Share < trace.WholeGPU && p.GPUs == 1
			none := p.Share == 0 && p.GPUs == 0
			if p.CPU < 0 || p.Memory < 0 || !whole && !share && !none {
				t.Errorf("accepted %+v", p)
			}
		}
		if len(names) != len(pods) || len(pods) == 0 || names[""] {
			t.Errorf("%d pods have %d names", len(pods), len(names))
		}
	})
}

func FuzzReadNodes(f *testing.F) {
	f.Add([]byte(nodesHeader + "n,64000,262144,2,P100\n"))
	f.Add([]byte("model,sn\nx"))
	f.Fuzz(func(t *testing.T, input []byte) {
		nodes, err := trace.ReadNodes("nodes.csv", bytes.NewReader(input))
		if err != nil {
			checkProblems(t, err)
			return
		}
		for _, n := range nodes {
			if n.Name == "" || n.CPU < 0 || n.Memory < 0 || n.GPUs < 0 {
				t.Errorf("accepted %+v", n)
			}
		}
	})
}

func checkProblems(t *testing.T, err error) {
	t.Helper()
	var malformed *trace.FormatError
	if !errors.As(err, &malformed) || len(malformed.Problems) == 0 {
		t.Errorf("not a list of problems: %v", err)
	}
}
