package words_test

import (
	"math"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/words"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/queue"
)

func TestHeld(t *testing.T) {
	for want, h := range map[string]*queue.Held{
		`there is no queue "typo", which the namespace's label berth-project.github.io/queue names`: {Absent: `there is no queue "typo"`, Queue: "typo"},
		`there is no namespace "tenant"`:                                                                              {Absent: `there is no principal "tenant"`, Principal: "tenant"},
		`limit "pods": "a/p" is 1 too many now`:                                                                       {Limit: "pods", Missing: 1},
		`limit "each": "a/p" asks for 1 cpu too much, whatever else runs`:                                             {Limit: "each", Resource: model.CPU, Missing: 1000, Never: true},
		`queue "q": max: "a/p" asks for 1500m cpu too much now`:                                                       {Queue: "q", Quota: queue.QuotaMax, Resource: model.CPU, Missing: 1500},
		`queue "q": borrow: "a/p" asks for 512Mi memory too much now`:                                                 {Queue: "q", Quota: queue.QuotaBorrow, Resource: model.Memory, Missing: 512 << 20},
		`queue "q": max: "a/p" asks for 2 nvidia.com/gpu too much now`:                                                {Queue: "q", Quota: queue.QuotaMax, Resource: "nvidia.com/gpu", Missing: 2},
		`limit "budget": "a/p" asks for 16 cpu-hours too much now`:                                                    {Limit: "budget", Resource: model.CPU, Missing: 57_600_000, Seconds: true},
		`limit "budget": "a/p" asks for 1m cpu-hours too much now`:                                                    {Limit: "budget", Resource: model.CPU, Missing: 1, Seconds: true},
		`limit "gpus": "a/p" asks for 3 nvidia.com/gpu-hours too much now`:                                            {Limit: "gpus", Resource: "nvidia.com/gpu", Missing: 2*3600 + 1, Seconds: true},
		`limit "budget": "a/p" has no activeDeadlineSeconds, and the limit is of cpu times hours, whatever else runs`: {Limit: "budget", Resource: model.CPU, Missing: math.MaxInt64, Seconds: true, Endless: true, Never: true},
		`queue "b": what is left is guaranteed to queue "a": "a/p" asks for 2 cpu too much now`:                       {Queue: "b", Lender: "a", Quota: queue.QuotaLend, Resource: model.CPU, Missing: 2000},
	} {
		if got := words.Held(h, "a/p"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestNamed(t *testing.T) {
	names := map[string]string{"1-2": "a/p", `"`: "quote"}
	name := func(id string) string {
		if n, ok := names[id]; ok {
			return n
		}
		return id
	}
	for text, want := range map[string]string{
		`1 would delay "1-2", not "3": 1-2 of "\""`: `1 would delay "a/p", not "3": 1-2 of "quote"`,
		`nothing, "open`: `nothing, "open`,
	} {
		if got := words.Named(text, name); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
