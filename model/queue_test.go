package model_test

import (
	"math"
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
)

func TestValidateQueue(t *testing.T) {
	for _, test := range []struct {
		name  string
		queue Queue
		want  []string
	}{
		{name: "the name alone", queue: Queue{Name: "q"}},
		{name: "everything", queue: Queue{
			Name: "q", Parent: "p", Weight: 1 << 30, Priority: -1,
			Guaranteed: map[string]int64{CPU: 4000}, Max: map[string]int64{CPU: 4000, Memory: 0},
			Lend: map[string]int64{CPU: 9000}, Borrow: map[string]int64{"gpu": math.MaxInt64},
			Protected: PerMillion, Policy: OrderFIFO, Reclaim: ReclaimAny, MinRuntime: time.Hour,
		}},
		{"nothing", Queue{}, lines("name: must not be empty")},
		{"its own parent", Queue{Name: "q", Parent: "q"}, lines("parent: must not be the queue itself")},
		{"numbers", Queue{Name: "q", Weight: -1, Protected: PerMillion + 1, MinRuntime: -time.Second}, lines(
			"weight: -1 is not between 0 and 1073741824\nprotected: 1000001 is not between 0 and 1000000\nminRuntime: -1s is negative")},
		{"amounts", Queue{Name: "q", Guaranteed: map[string]int64{"": 1}, Lend: map[string]int64{CPU: -1, "gpu": -2}}, lines(
			"guaranteed: has an empty name\nlend: -1 of \"cpu\" is less than 0\nlend: -2 of \"gpu\" is less than 0")},
		{"more guaranteed than allowed", Queue{Name: "q", Guaranteed: map[string]int64{CPU: 2}, Max: map[string]int64{CPU: 1}}, lines(
			`max: 1 of "cpu" is less than the 2 that are guaranteed`)},
		{"by usage", Queue{Name: "q", Policy: OrderUsage, HalfLife: 7 * 24 * time.Hour, Prices: map[string]int64{CPU: 1, "gpu": 1 << 30}}, nil},
		{"without decay", Queue{Name: "q", Policy: OrderUsage, Prices: map[string]int64{CPU: -1, "": 0}}, lines(
			"halfLife: 0s is not between 1s and 240000h0m0s: what has been used must decay\n" +
				"prices: must not be empty\nprices: -1 is not between 0 and 1073741824")},
		{"decay that nobody asks for", Queue{Name: "q", HalfLife: time.Hour, Prices: map[string]int64{CPU: 1}}, lines(
			"halfLife: must be 0 where policy is not Usage\nprices: must be empty where policy is not Usage")},
		{"policies", Queue{Name: "q", Policy: "LIFO", Reclaim: "All"}, lines(
			"policy: \"LIFO\" is not one of FIFO, Priority, Share, Usage\nreclaim: \"All\" is not one of Never, LowerPriority, Any")},
	} {
		t.Run(test.name, func(t *testing.T) { checkProblems(t, &test.queue, test.want...) })
	}
}

func TestValidatePrincipal(t *testing.T) {
	checkProblems(t, &Principal{Name: "p", Parent: "a", Queue: "q", Shares: 1 << 30})
	checkProblems(t, &Principal{}, "name: must not be empty")
	checkProblems(t, &Principal{Name: "p", Parent: "p", Shares: -1},
		"parent: must not be the principal itself", "shares: -1 is not between 0 and 1073741824")
}

func TestValidateLimit(t *testing.T) {
	for _, test := range []struct {
		name  string
		limit Limit
		want  []string
	}{
		{name: "running", limit: Limit{Name: "l", Queue: "q", Scope: LimitSubtree, Measure: LimitRunning}},
		{name: "a resource", limit: Limit{Name: "l", Principal: "p", Scope: LimitEachWorkload, Measure: LimitResource, Resource: CPU, Breach: LimitRefuse}},
		{"nothing", Limit{}, lines("name: must not be empty\nqueue: must not be empty where principal is\n" +
			"scope: \"\" is not one of EachWorkload, EachPrincipal, Own, Subtree\n" +
			"measure: \"\" is not one of Running, Count, Resource, ResourceSeconds\nresource: must not be empty")},
		{"of two", Limit{Name: "l", Queue: "q", Principal: "p", Scope: LimitOwn, Measure: LimitCount, Breach: LimitRefuse}, lines(
			"principal: must be empty where queue is not")},
		{"of each principal of a principal", Limit{Name: "l", Principal: "p", Scope: LimitEachPrincipal, Measure: LimitRunning}, lines(
			"scope: EachPrincipal is for the limit of a queue")},
		{"a number of those that wait, which wait", Limit{Name: "l", Queue: "q", Scope: LimitOwn, Measure: LimitCount}, lines(
			"breach: must be Refuse where measure is Count: one that waits counts too")},
		{"workloads of each workload", Limit{Name: "l", Queue: "q", Scope: LimitEachWorkload, Measure: LimitRunning}, lines(
			"measure: Running of each workload is always 1")},
		{"a resource of workloads", Limit{Name: "l", Queue: "q", Scope: LimitOwn, Measure: LimitRunning, Resource: CPU}, lines(
			"resource: must be empty where measure is Running")},
		{name: "a budget", limit: Limit{Name: "l", Queue: "q", Scope: LimitSubtree, Measure: LimitResourceSeconds, Resource: CPU}},
		{name: "what decays", limit: Limit{Name: "l", Queue: "q", Scope: LimitSubtree, Measure: LimitResourceSeconds, Resource: CPU, HalfLife: time.Hour}},
		{"decay faster than any clock", Limit{Name: "l", Queue: "q", Scope: LimitSubtree, Measure: LimitResourceSeconds, Resource: CPU, HalfLife: -1}, lines(
			"halfLife: -1ns is not between 1s and 240000h0m0s: what has been used must decay")},
		{"decay of what is there now", Limit{Name: "l", Queue: "q", Scope: LimitSubtree, Measure: LimitResource, Resource: CPU, HalfLife: time.Hour}, lines(
			"halfLife: is for what several workloads use over time")},
		{"less than nothing", Limit{Name: "l", Queue: "q", Scope: LimitOwn, Measure: LimitRunning, Amount: -1, Breach: "Kill"}, lines(
			"amount: -1 is less than 0\nbreach: \"Kill\" is not one of Refuse, Hold, Stop")},
	} {
		t.Run(test.name, func(t *testing.T) { checkProblems(t, &test.limit, test.want...) })
	}
}
