package model

import (
	"errors"
	"testing"
)

// What is no text would not survive being written down and read again.
func TestOnlyTextIsValid(t *testing.T) {
	w := &Workload{
		ID: "a\xff", Namespace: "b\xff", Name: "c\xff",
		Labels: map[string]string{"good": "d\xff", "e\xff": "good"},
	}
	var invalid *ValidationError
	if err := w.Validate(); !errors.As(err, &invalid) {
		t.Fatalf("got %v", err)
	}
	var fields []string
	for _, p := range invalid.Problems {
		fields = append(fields, p.Field+": "+p.Message)
	}
	want := []string{
		`id: "a\xff" is not valid UTF-8`,
		`namespace: "b\xff" is not valid UTF-8`,
		`name: "c\xff" is not valid UTF-8`,
		`labels: "e\xff" is not valid UTF-8`,
		`labels: "d\xff" is not valid UTF-8`,
	}
	for i := range want {
		if i >= len(fields) || fields[i] != want[i] {
			t.Fatalf("problems %q, want %q", fields, want)
		}
	}
	if err := (&Node{Name: "n\xff"}).Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
