package kubernetes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Whatever happened between the list and the time when all informers knew theirs: of
// one object nothing comes before its beginning, and others come by age and name.
func TestTheFirstReportsOfAnObjectStayInOrder(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		var list []report
		for i := range 300 { // many of them made in the same second
			p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: fmt.Sprintf("p-%05x", r.IntN(1<<20)), CreationTimestamp: metav1.NewTime(time.Unix(int64(i/100), 0))}}
			life := []report{{after: p}, {before: p, after: p.DeepCopy()}, {before: p}}[:1+r.IntN(3)]
			at := len(list)
			for _, event := range life { // each somewhere after the one before
				at = min(len(list), at+r.IntN(50))
				list = slices.Insert(list, at, event)
				at++
			}
		}
		slices.SortStableFunc(list, older)
		seen := map[any]bool{}
		var last metav1.Time
		for _, event := range list {
			if event.before == nil {
				seen[event.after] = true
				if at := event.object().GetCreationTimestamp(); at.Before(&last) {
					t.Fatalf("seed %d: not by age", seed)
				} else {
					last = at
				}
			} else if !seen[event.before] {
				t.Fatalf("seed %d: %s changes before it is there", seed, event.object().GetName())
			}
		}
	}
}
