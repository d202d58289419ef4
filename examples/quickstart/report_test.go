package main

import (
	"strings"
	"testing"
)

func TestGrouped(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345: "12,345", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is written %s, want %s", n, got, want)
		}
	}
}

func TestGauge(t *testing.T) {
	for part, want := range map[int64]string{0: "░░░░", 1: "█░░░", 50: "██░░", 87: "███░", 100: "████"} {
		if got := gauge(part, 100, 4); got != want {
			t.Errorf("%d is drawn %s, want %s", part, got, want)
		}
	}
	if got := gauge(0, 0, 4); got != "░░░░" {
		t.Errorf("nothing of nothing is drawn %s", got)
	}
}

func TestPercent(t *testing.T) {
	for got, want := range map[string]string{percent(1, 8): " 12.5%", percent(8, 8): "100.0%", percent(0, 0): "     -"} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWrapped(t *testing.T) {
	var out strings.Builder
	p := &printer{out: &out}
	p.wrapped("head", strings.Repeat("word ", 30)+strings.Repeat("x", 120))
	want := "head" + strings.Repeat(" word", 18) + "\n" +
		"    " + strings.Repeat(" word", 12) + "\n" +
		"     " + strings.Repeat("x", 120) + "\n"
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
}
