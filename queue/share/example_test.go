package share_test

import (
	"fmt"

	"github.com/berth-project/berth/queue/share"
)

// Two users share 9 cores and 18 GB by their dominant shares. Alice's tasks need 1 core and 4 GB,
// Bob's 3 cores and 1 GB.
func ExampleNext() {
	capacity, left := []int64{9, 18}, []int64{9, 18}
	tasks := [][]int64{{1, 4}, {3, 1}}
	members := []share.Member{
		{Name: "alice", Sequence: 1, Weight: 1, Used: []int64{0, 0}},
		{Name: "bob", Sequence: 2, Weight: 1, Used: []int64{0, 0}},
	}
	for {
		next, ok := share.Next(members, capacity)
		if !ok {
			break
		}
		for r, amount := range tasks[next] {
			members[next].Blocked = members[next].Blocked || amount > left[r]
		}
		if members[next].Blocked {
			continue
		}
		for r, amount := range tasks[next] {
			members[next].Used[r] += amount
			left[r] -= amount
		}
		fmt.Println(members[next].Name, members[next].Used)
	}
	// Output:
	// alice [1 4]
	// bob [3 1]
	// alice [2 8]
	// bob [6 2]
	// alice [3 12]
}

// Usage is decayed by a ledger, with a half-life of a week in hours, and ranks users. Carol has the
// most shares; Dave used little; Eve used as much as Carol, but a week ago.
func ExampleFairTree() {
	ledger, err := share.NewLedger(168, 0, 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	charge := func(user int, hour, coreHours int64) {
		if err := ledger.Charge(user, hour, coreHours); err != nil {
			fmt.Println(err)
		}
	}
	charge(2, 0, 1000)
	charge(0, 168, 1000)
	charge(1, 168, 100)
	for user, name := range []string{"carol", "dave", "eve"} {
		fmt.Println(name, "used", ledger.Usage(user))
	}

	standings, err := share.FairTree([]share.Account{
		{Name: "physics", Parent: share.Root, Shares: 1},
		{Name: "carol", Parent: 0, Shares: 3, Usage: ledger.Total(0), User: true},
		{Name: "dave", Parent: 0, Shares: 1, Usage: ledger.Total(1), User: true},
		{Name: "eve", Parent: 0, Shares: 1, Usage: ledger.Total(2), User: true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, name := range []string{"carol", "dave", "eve"} {
		fmt.Printf("%s rank %d level %.2f\n", name, standings[i+1].Rank, standings[i+1].Level.Float64())
	}
	// Output:
	// carol used 1000
	// dave used 100
	// eve used 500
	// carol rank 2 level 0.96
	// dave rank 3 level 3.20
	// eve rank 1 level 0.64
}

// Two queues own 3 GPUs each. Research has borrowed two of production's, which wants one back.
func ExampleQuota_Victims() {
	const research, production = 1, 2
	quota, err := share.NewQuota([]share.QuotaNode{
		{Name: "company", Parent: share.Root, Weight: share.PPM},
		{Name: "research", Parent: 0, Nominal: []int64{3}, Weight: share.PPM},
		{Name: "production", Parent: 0, Nominal: []int64{3}, Weight: share.PPM},
	}, []int{0})
	if err != nil {
		fmt.Println(err)
		return
	}
	running := []share.Running{
		{Name: "train", Queue: research, Amounts: []int64{3}},
		{Name: "notebook", Queue: research, Amounts: []int64{1}},
		{Name: "sweep", Queue: research, Amounts: []int64{1}, Reserved: 60},
		{Name: "serve", Queue: production, Amounts: []int64{1}},
	}
	for _, w := range running {
		if err := quota.Add(w.Queue, w.Amounts); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println("available to production:", quota.Available(production, 0))
	fmt.Println("research borrows, in thousandths of what can be lent:", quota.Share(research, nil))

	victims, fits, err := quota.Victims(share.Preemptor{Queue: production, Amounts: []int64{1}, Reclaim: share.AnyPriority}, running)
	fmt.Println(fits, err)
	for _, v := range victims {
		fmt.Println("preempt", running[v.Index].Name, v.Reason == share.Reclaimed)
	}
	// Output:
	// available to production: 0
	// research borrows, in thousandths of what can be lent: 333.3333333333333
	// true <nil>
	// preempt sweep true
}
