package queue

import (
	"strings"
	"testing"
	"time"

	"github.com/berth-project/berth/extpoints"
)

func TestConfigDefaults(t *testing.T) {
	c := Timing{MaxBackoff: time.Minute}
	d := c.WithDefaults()
	if c.InitialBackoff != 0 {
		t.Error("WithDefaults changed the original")
	}
	// The numbers of kube-scheduler 1.37.1.
	if d.InitialBackoff != time.Second || d.MaxBackoff != time.Minute || d.MaxInUnschedulable != 5*time.Minute ||
		d.UnschedulableFlushInterval != 30*time.Second || d.OrderingWindow != time.Second {
		t.Errorf("defaults: %+v", d)
	}
	if got := (Timing{}).WithDefaults().MaxBackoff; got != 10*time.Second {
		t.Error("MaxBackoff", got)
	}
}

func TestConfigProblems(t *testing.T) {
	_, err := New(Timing{
		InitialBackoff:             -1,
		MaxBackoff:                 -2,
		MaxInUnschedulable:         -1,
		UnschedulableFlushInterval: -1,
		OrderingWindow:             -1,
	}, 7, Hooks{
		PreEnqueue: map[string][]extpoints.PreEnqueuePlugin{"p": {nil}},
		Hints:      map[string][]PluginHints{"p": {{Plugin: "A"}, {}, {Plugin: "A"}}},
	})
	want := `queue: InitialBackoff is -1ns, must be more than 0
MaxInUnschedulable is -1ns, must be more than 0
UnschedulableFlushInterval is -1ns, must be more than 0
OrderingWindow is -1ns, must be more than 0
MaxBackoff is -2ns, must be NoBackoff or at least InitialBackoff, -1ns
Compat is 7, must be one of the constants
Less is missing
PreEnqueue["p"][0] is nil
Hints["p"][1] has no plugin
Hints["p"] has plugin "A" twice`
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	_, err = New(Timing{InitialBackoff: time.Minute}, extpoints.Improved, Hooks{Less: byPriority})
	if err == nil || !strings.Contains(err.Error(), "at least InitialBackoff, 1m0s") {
		t.Error(err)
	}
}

// TestBackoffSeries: no number of failures makes the backoff overflow.
func TestBackoffSeries(t *testing.T) {
	q, err := New(Timing{}, extpoints.Improved, Hooks{Less: byPriority})
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{1, 2, 4, 8, 10, 10}
	for i, w := range want {
		if got := q.backoffFor(i+1, 1); got != w*time.Second {
			t.Errorf("after %d failures: %v, want %v", i+1, got, w*time.Second)
		}
	}
	for n := 7; n < 1000; n++ {
		if got := q.backoffFor(n, 0); got != 10*time.Second {
			t.Fatalf("after %d failures: %v", n, got)
		}
		if got := q.backoffFor(n, 9); got != 30*time.Second {
			t.Fatalf("after %d failures, with 9 members: %v", n, got)
		}
	}
}

func TestNamesOfPlaces(t *testing.T) {
	for p := None; p < places; p++ {
		if p.String() == "" {
			t.Errorf("place %d has no name", p)
		}
	}
	if got := places.String(); got != "Place(invalid)" {
		t.Error(got)
	}
}
