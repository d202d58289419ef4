package parity

import (
	"flag"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/sidebyside"
)

// BenchmarkDecision is one scheduling decision of each side, about a pod or a
// group, kube-scheduler's
// and Berth's, on the same cluster; what is timed is explained in package
// sidebyside. For a table in which the two take turns, see cmd/sidebyside.
//
// In short mode, and with -benchtime=1x, the clusters are small, and the largest
// groups come to one of them only.
func BenchmarkDecision(b *testing.B) {
	sizes := []int{1000, 5000}
	if testing.Short() || flag.Lookup("test.benchtime").Value.String() == "1x" {
		sizes = sizes[:1]
	}
	for _, row := range sidebyside.Rows() {
		for _, nodes := range row.Sizes(sizes) {
			for _, pods := range []int{0, 10} {
				for _, share := range []int32{0, 100} {
					c := sidebyside.Cluster{Nodes: nodes, PodsPerNode: pods, Share: share}
					large := row.Members > 100 && (pods > 0 || share > 0)
					if !c.Suits(row) || len(sizes) == 1 && large {
						continue
					}
					name := strings.ReplaceAll(row.Name, " ", "_") + "/" + c.String()
					b.Run(name+"/kube", func(b *testing.B) { decide(b, sidebyside.NewKube, row, c) })
					b.Run(name+"/berth", func(b *testing.B) { decide(b, sidebyside.NewBerth, row, c) })
				}
			}
		}
	}
}

// decide times b.N decisions; making pods and taking them away is not timed.
func decide(b *testing.B, newSide func(sidebyside.Row, sidebyside.Cluster) (sidebyside.Side, error), row sidebyside.Row, c sidebyside.Cluster) {
	s, err := newSide(row, c)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; {
		n := min(left, s.Limit())
		b.StopTimer()
		s.Queue(n)
		b.StartTimer()
		for range n {
			s.Decide()
		}
		b.StopTimer()
		s.Reset()
		left -= n
	}
}
