package main

import (
	"regexp"
	"strings"
	"testing"
)

// Every row has its line, but for those that take long.
func TestTable(t *testing.T) {
	o, err := parse(strings.Fields("-rows ^[^g]|^gang.of.[34] -nodes 30 -pods 0,10 -share 100 -time 1ms"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := table(&text, o); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\| .+ \| 30 \| (0|10) \| 100 % \| \d+ \| \d+ \| \d+ \| \d+ \| \d+\.\d \|$`)
	if lines := line.FindAllString(text.String(), -1); len(lines) != 27 { // preemption wants a full cluster
		t.Errorf("%d lines:\n%s", len(lines), text.String())
	}
}
