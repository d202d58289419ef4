package sidebyside

import (
	"slices"
	"testing"
)

// The sides do the same work: they make the same decisions, in every row. On so
// few nodes kube-scheduler tries them all for preemption, so that it has no
// choice.
func TestSameDecisions(t *testing.T) {
	for _, r := range Rows() {
		r.Members = min(r.Members, 50) // kube-scheduler's queue takes long over large ones
		for _, c := range []Cluster{{Nodes: 20}, {Nodes: 60, PodsPerNode: 10}, {Nodes: 250, PodsPerNode: 3}, {Nodes: 250, Share: 100}} {
			c.NoLots = r.Members > 0
			if !c.Suits(r) {
				continue
			}
			kube, err := NewKube(r, c)
			if err != nil {
				t.Fatal(err)
			}
			berth, err := NewBerth(r, c)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // and nothing is left after a Reset
				n := max(15/r.Pods(), 1)
				if k, b := decisions(kube, n), decisions(berth, n); !slices.Equal(k, b) {
					t.Errorf("%s, %s:\nkube  %v\nberth %v", r.Name, c, k, b)
				}
			}
			kube.Close()
			berth.Close()
		}
	}
}

func decisions(s Side, n int) []string {
	var chosen []string
	for len(chosen) < n {
		chunk := min(n-len(chosen), s.Limit())
		s.Queue(chunk)
		for range chunk {
			s.Decide()
		}
		chosen = append(chosen, s.Reset()...)
	}
	return chosen
}
