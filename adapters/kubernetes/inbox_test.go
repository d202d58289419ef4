package kubernetes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
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
			changed := p.DeepCopy()
			p.ResourceVersion, changed.ResourceVersion = strconv.Itoa(1+r.IntN(500)), strconv.Itoa(501+i)
			life := []report{{after: p}, {before: p, after: changed}, {before: changed}}[:1+r.IntN(3)]
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
			if event.after != nil {
				seen[event.after] = true
			}
			if event.before == nil {
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

// Pods that were made in the same second come in the order in which they were written,
// whatever their names and however long their versions; nodes by name, since they are
// written all the time.
func TestTheFirstPodsComeInTheOrderInWhichTheyWereWritten(t *testing.T) {
	at := func(name, version string, second int64) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: "a", ResourceVersion: version, CreationTimestamp: metav1.NewTime(time.Unix(second, 0))}
	}
	var list []report
	for _, m := range []metav1.ObjectMeta{at("a", "1000", 5), at("b", "99", 5), at("c", "101", 5), at("d", "5000", 4), at("f", "", 5), at("e", "", 5)} {
		list = append(list, report{rank: 1, after: &v1.Pod{ObjectMeta: m}}, report{after: &v1.Node{ObjectMeta: m}})
	}
	slices.SortStableFunc(list, older)
	var names string
	for _, r := range list {
		names += r.object().GetName()
	}
	if want := "dabcef" + "defbca"; names != want {
		t.Errorf("got %s, want %s", names, want)
	}
}
