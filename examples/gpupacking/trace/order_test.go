package trace_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/berth-project/berth/examples/gpupacking/internal/openb"
	"github.com/berth-project/berth/examples/gpupacking/trace"
)

func podNames(o trace.Order) []string {
	var names []string
	for _, p := range o.Pods {
		names = append(names, p.Name)
	}
	return names
}

// nodesByRank are the names of the nodes, the one that wins ties first.
func nodesByRank(t *trace.Trace, o trace.Order) []string {
	names := make([]string, len(t.Nodes))
	for i, rank := range o.Ranks {
		names[rank] = t.Nodes[i].Name
	}
	return names
}

func demand(o trace.Order) int64 {
	var sum int64
	for _, p := range o.Pods {
		sum += p.Demand()
	}
	return sum
}

// digest is the SHA-256 of the lines.
func digest(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n") + "\n"))
	return hex.EncodeToString(sum[:])
}

// The published orders are met for every trace and seed: number and demand of
// the pods, the names of the pods as they arrive, and those of the nodes by
// rank.
func TestArrangeMeetsThePublishedOrders(t *testing.T) {
	loaded := map[string]*trace.Trace{}
	for _, row := range openb.Rows(t, "expected/order_check_vectors.csv") {
		list := row[0]
		if loaded[list] == nil {
			loaded[list] = openb.Load(t, list)
		}
		seed, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		order := loaded[list].Arrange(seed)
		pods, nodes := podNames(order), nodesByRank(loaded[list], order)
		got := []string{
			list, row[1],
			strconv.Itoa(len(pods)), strconv.FormatInt(demand(order), 10),
			digest(pods), digest(nodes),
			pods[0], pods[1], pods[2], pods[len(pods)-1],
			nodes[0], nodes[1],
		}
		if !slices.Equal(got, row) {
			t.Errorf("got  %v\nwant %v", got, row)
		}
	}
}

func TestArrangeIsAFunctionOfTheSeed(t *testing.T) {
	generated := trace.Generate(1, 20, 100)
	one, again, other := generated.Arrange(7), generated.Arrange(7), generated.Arrange(8)
	if !slices.Equal(one.Pods, again.Pods) || !slices.Equal(one.Ranks, again.Ranks) {
		t.Error("the same seed gave two orders")
	}
	if slices.Equal(one.Pods, other.Pods) || slices.Equal(one.Ranks, other.Ranks) {
		t.Error("two seeds gave the same order")
	}
}

// The arrivals end at 130 % of the capacity: pods are dropped where there are
// too many, and repeated where there are too few. The last pod may overshoot by
// its GPUs beyond the first, at most.
func TestArrangeTunesTheDemand(t *testing.T) {
	for _, pods := range []int{1, 20, 100, 1000} {
		t.Run(fmt.Sprint(pods), func(t *testing.T) {
			generated := trace.Generate(3, 20, pods)
			target := generated.Capacity() * 13 / 10
			got := demand(generated.Arrange(42))
			const largest = 4 * trace.WholeGPU
			if got <= target-largest || got >= target+largest {
				t.Errorf("demand %d, target %d", got, target)
			}
		})
	}
}

// A pod of several GPUs is repeated when one of its GPUs is within the target.
func TestArrangeMayOvershootByAPodOfSeveralGPUs(t *testing.T) {
	small, err := trace.New(
		[]trace.Node{{Name: "n", GPUs: 10}}, // the target is 13 GPUs
		[]trace.Pod{{Name: "p", Shape: trace.Shape{GPUs: 4, Share: trace.WholeGPU}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(small.Arrange(1).Pods); got != 4 { // 16 GPUs
		t.Errorf("%d pods of 4 GPUs, want 4", got)
	}
}
