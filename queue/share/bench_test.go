package share

import (
	"fmt"
	"testing"
)

// BenchmarkLedger charges one of 10,000 principals and compares it with another.
func BenchmarkLedger(b *testing.B) {
	const principals = 10_000
	l, err := NewLedger(604_800, 0, principals)
	if err != nil {
		b.Fatal(err)
	}
	tick := int64(0)
	for b.Loop() {
		tick++
		p := int(tick) * 7919 % principals
		if err := l.Charge(p, tick, 3600); err != nil {
			b.Fatal(err)
		}
		l.Compare(p, (p+1)%principals)
	}
}

// BenchmarkFairTree ranks 10,000 users in 100 accounts.
func BenchmarkFairTree(b *testing.B) {
	var accounts []Account
	for i := range 100 {
		accounts = append(accounts, Account{Name: fmt.Sprint("a", i), Parent: Root, Shares: 1 + int64(i%7)})
	}
	for i := range 10_000 {
		accounts = append(accounts, Account{Name: fmt.Sprint("u", i), Parent: i % 100, Shares: 1, Usage: Uint128{uint64(i % 3), uint64(i) * 7919}, User: true})
	}
	for b.Loop() {
		if _, err := FairTree(accounts); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAvailable asks what is available to a queue four cohorts down.
func BenchmarkAvailable(b *testing.B) {
	nodes := []QuotaNode{{Name: "top", Parent: Root, Nominal: []int64{100}}}
	for i := range 4 {
		nodes = append(nodes, QuotaNode{Name: fmt.Sprint(i), Parent: i, Nominal: []int64{100}, Borrow: []int64{80}, Lend: []int64{50}})
	}
	q, err := NewQuota(nodes, []int{0})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		q.Available(4, 0)
	}
}

// BenchmarkVictims chooses among 1,000 candidates in 20 queues for a workload that needs the room of
// 200 of them.
func BenchmarkVictims(b *testing.B) {
	nodes := []QuotaNode{{Name: "cohort", Parent: Root}}
	for i := range 21 {
		nodes = append(nodes, QuotaNode{Name: fmt.Sprint("q", i), Parent: 0, Nominal: []int64{40, 40}, Weight: PPM})
	}
	q, err := NewQuota(nodes, []int{0, 1})
	if err != nil {
		b.Fatal(err)
	}
	var running []Running
	for i := range 1000 {
		w := Running{Name: fmt.Sprint("w", i), Queue: 1 + i%20, Amounts: []int64{1, int64(i % 2)}, Priority: int64(i % 5)}
		if err := q.Add(w.Queue, w.Amounts); err != nil {
			b.Fatal(err)
		}
		running = append(running, w)
	}
	// 840 is the quota and 1,000 are used, so that the first 160 victims make no room
	p := Preemptor{Queue: 21, Amounts: []int64{40, 0}, Reclaim: AnyPriority}
	victims := 0
	for b.Loop() {
		list, fits, err := q.Victims(p, running)
		if err != nil || !fits {
			b.Fatal(err, fits)
		}
		victims = len(list)
	}
	b.ReportMetric(float64(victims), "victims")
}

// BenchmarkVictimsOfOwnQueue has half of 1,000 candidates in the preemptor's own queue.
func BenchmarkVictimsOfOwnQueue(b *testing.B) {
	q, err := NewQuota([]QuotaNode{
		{Name: "cohort", Parent: Root}, {Name: "a", Parent: 0, Nominal: []int64{400}, Weight: PPM}, {Name: "b", Parent: 0, Nominal: []int64{600}, Weight: PPM},
	}, []int{0})
	if err != nil {
		b.Fatal(err)
	}
	var running []Running
	for i := range 1000 {
		w := Running{Name: fmt.Sprint("w", i), Queue: 1 + i%2, Amounts: []int64{1}, Priority: -1}
		if err := q.Add(w.Queue, w.Amounts); err != nil {
			b.Fatal(err)
		}
		running = append(running, w)
	}
	p := Preemptor{Queue: 1, Amounts: []int64{300}, Within: LowerPriority, Reclaim: AnyPriority}
	for b.Loop() {
		if _, fits, err := q.Victims(p, running); err != nil || !fits {
			b.Fatal(err, fits)
		}
	}
}
