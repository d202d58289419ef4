package placements

import "testing"

// What is the same is the same, and nothing else is, but for the known difference.
func TestApart(t *testing.T) {
	one := outcome{Pod: "a", Node: "n1"}
	unasked := outcome{Pod: "a", Reason: "Unschedulable", Message: "0/2 nodes are available: x. not found", Note: "0/2 nodes are available: x. not found"}
	asked := unasked
	asked.Message = "0/2 nodes are available: x. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	asked.Note = asked.Message
	half := unasked
	half.Note = asked.Note
	helped := asked
	helped.Message, helped.Note = "0/2 nodes are available: x. preemption: found", "0/2 nodes are available: x. preemption: found"
	tests := []struct {
		name               string
		reference, subject []outcome
		want               int
	}{
		{"nothing", nil, nil, -1},
		{"same", []outcome{one, asked}, []outcome{one, asked}, -1},
		{"another node", []outcome{asked, one}, []outcome{asked, {Pod: "a", Node: "n2"}}, 1},
		{"another victim", []outcome{{Victims: []string{"a"}}}, []outcome{{Victims: []string{"b"}}}, 0},
		{"one fewer", []outcome{one, one}, []outcome{one}, 1},
		{"known", []outcome{unasked}, []outcome{asked}, -1},
		{"known the other way round", []outcome{asked}, []outcome{unasked}, 0},
		{"known in one of two places", []outcome{half}, []outcome{asked}, 0},
		{"not known", []outcome{unasked}, []outcome{helped}, 0},
	}
	for _, test := range tests {
		if got := apart(test.reference, test.subject); got != test.want {
			t.Errorf("%s: apart at %d, want %d", test.name, got, test.want)
		}
	}
}
