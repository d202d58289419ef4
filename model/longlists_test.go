package model_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"
	"time"

	. "github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
)

// listOf has so many items, made of their places; those of the places in twins are made of 3.
func listOf[T any](n int, item func(i int) T, twins ...int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = item(i)
	}
	for _, at := range twins {
		list[at] = item(3)
	}
	return list
}

// The first item that another is like is named, in short lists and in long ones.
func TestItemsThatAreThereTwice(t *testing.T) {
	name := strconv.Itoa
	for _, n := range []int{6, 8, 9, 10, 100} {
		twins := []int{5, n - 1}[:min(n-5, 2)]
		says := func(list, same string) (want []string) {
			for _, at := range twins {
				want = append(want, fmt.Sprintf("%s[%d]: has the same %s as [3]", list, at, same))
			}
			return want
		}
		long := func(i int) Scalar { return Scalar{Name: name(i)} }
		for _, tt := range []struct {
			object interface{ Validate() error }
			want   []string
		}{
			{&Workload{ID: "w", Gates: listOf(n, name, twins...)}, says("gates", "name")},
			{&Workload{ID: "w", Requests: Resources{Scalars: listOf(n, long, twins...)}}, says("requests.scalars", "name")},
			{&Workload{ID: "w", Ports: listOf(n, func(i int) HostPort { return HostPort{Port: int32(i + 1)} }, twins...)}, says("ports", "address, protocol and port")},
			{&Workload{ID: "w", Spread: listOf(n, func(i int) SpreadConstraint {
				return SpreadConstraint{TopologyKey: name(i), MaxSkew: 1, Mode: SpreadRequired}
			}, twins...)}, says("spread", "topology key and mode")},
			{&Workload{ID: "w", VolumeClaims: listOf(n, func(i int) VolumeClaimRef { return VolumeClaimRef{ID: name(i)} }, twins...)}, says("volumeClaims", "id")},
			{&Node{Name: "n", Taints: listOf(n, func(i int) Taint { return Taint{Key: name(i), Effect: NoExecute} }, twins...)}, says("taints", "key and effect")},
			{&NodeLoad{Node: "n", At: time.Unix(1, 0), Workloads: listOf(n, func(i int) WorkloadLoad { return WorkloadLoad{ID: name(i)} }, twins...)}, says("workloads", "id")},
			{&AppGraph{ID: "g", Components: listOf(n, func(i int) AppComponent { return AppComponent{Name: name(i)} }, twins...)}, says("components", "name")},
		} {
			checkProblems(t, tt.object, tt.want...)
		}
	}
}

// Items are found twice as by comparing each with all before it.
func TestItemsThatAreThereTwiceByChance(t *testing.T) {
	r := rand.New(rand.NewPCG(modeltest.Seed(t), 0))
	for range 500 {
		gates := make([]string, r.IntN(30))
		var want []string
		for i := range gates {
			gates[i] = strconv.Itoa(r.IntN(40))
			for j := range i {
				if gates[j] == gates[i] {
					want = append(want, fmt.Sprintf("gates[%d]: has the same name as [%d]", i, j))
					break
				}
			}
		}
		checkProblems(t, &Workload{ID: "w", Gates: gates}, want...)
	}
}

// Lists may be as long as their writer likes: to compare each item with all before it would
// take longer here than a test may.
func TestVeryLongLists(t *testing.T) {
	const n = 1 << 20
	gates := &Workload{ID: "w", Gates: listOf(n, strconv.Itoa, n-1)}
	shares := &Binding{Workload: "w", Node: "n", Devices: listOf(n, func(i int) DeviceShare { return DeviceShare{i, WholeDevice} }, n-1)}
	for want, err := range map[string]error{
		`workload "w": gates[1048575]: has the same name as [3]`:                                                                   gates.Validate(),
		`binding of workload "w": devices[1048575].share: with those before it of the same device it is 2000, more than all, 1000`: shares.Validate(),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Sums over long lists are those of their scalars one by one.
func TestSumsOfLongLists(t *testing.T) {
	r := rand.New(rand.NewPCG(modeltest.Seed(t), 0))
	for range 100 {
		have, change := Resources{}, Resources{}
		for i := range 40 {
			if r.IntN(2) == 0 {
				have.Set(strconv.Itoa(i), r.Int64())
			}
			change.Set(strconv.Itoa(39-i), r.Int64())
		}
		sum, difference, wantSum, wantDifference := have.Clone(), have.Clone(), have.Clone(), have.Clone()
		sum.Add(&change)
		difference.Sub(&change)
		for _, s := range change.Scalars {
			wantSum.Add(&Resources{Scalars: []Scalar{s}})
			wantDifference.Sub(&Resources{Scalars: []Scalar{s}})
		}
		if !reflect.DeepEqual(sum, wantSum) || !reflect.DeepEqual(difference, wantDifference) {
			t.Fatalf("%v and %v: %v, %v", have, change, sum, difference)
		}
	}
	const n = 1 << 20
	long, sum := Resources{Scalars: listOf(n, func(i int) Scalar { return Scalar{strconv.Itoa(i), 1} })}, Resources{}
	sum.Add(&long)
	sum.Sub(&long)
	if len(sum.Scalars) != n || !sum.IsZero() {
		t.Errorf("%d scalars", len(sum.Scalars))
	}
}

func BenchmarkValidateLongList(b *testing.B) {
	for _, n := range []int{8, 100, 20_000} {
		w := &Workload{ID: "w", Gates: listOf(n, strconv.Itoa)}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := w.Validate(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
		})
	}
}
