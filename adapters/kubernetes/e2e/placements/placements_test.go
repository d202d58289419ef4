package placements

import (
	"flag"
	"testing"
)

var (
	seed  = flag.Uint64("seed", 1, "which clusters and pods there are")
	from  = flag.Uint64("from", 0, "the number of the first case")
	cases = flag.Uint64("cases", 0, "how many cases are compared; 0: some dozen in short runs, else some hundred")
)

// howMany is the number of cases if nobody wants another.
func howMany() uint64 {
	switch {
	case *cases > 0:
		return *cases
	case testing.Short():
		return 30
	}
	return 120
}

// mistakes are configurations of the subject that the reference does not have: each
// must be noticed.
var mistakes = []struct {
	name, config string
}{
	{name: "another weight", config: "profiles: [{plugins: {multiPoint: {enabled: [{name: NodeResourcesBalancedAllocation, weight: 30}]}}}]"},
	{name: "a filter left out", config: "profiles: [{plugins: {filter: {disabled: [{name: TaintToleration}]}}}]"},
	{name: "no preemption", config: "profiles: [{plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}}}]"},
}

func TestPlacements(t *testing.T) {
	b, err := newSides(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	t.Run("same", func(t *testing.T) {
		t.Logf("seed %d", *seed)
		d, c, err := b.compare(t.Context(), run{seed: *seed, from: *from, cases: howMany()})
		t.Log(c)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			t.Fatal(d)
		}
		if *cases == 0 && c.poor() {
			t.Errorf("too little has happened: %v", c)
		}
	})
	for _, m := range mistakes {
		t.Run("noticed/"+m.name, func(t *testing.T) {
			d, c, err := b.compare(t.Context(), run{seed: 1, cases: perWorld, config: m.config})
			if err != nil {
				t.Fatal(err)
			}
			if d == nil {
				t.Fatalf("it was not noticed in %v", c)
			}
			t.Logf("noticed after %v:\n%s\n%s", c, d.reference[d.at], d.subject[d.at])
		})
	}
}
