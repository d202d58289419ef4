package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/sidebyside"
)

// Every row has its line, but for those that take long.
func TestTable(t *testing.T) {
	text := output(t, "-rows", "^[^g]|^gang of [34]", "-nodes", "30", "-pods", "0,10", "-share", "100", "-time", "1ms")
	line := regexp.MustCompile(`(?m)^\| .+ \| 30 \| (0|10) \| 100 % \| \d+ \| \d+ \| \d+ \| \d+ \| \d+ \| \d+\.\d \|$`)
	if lines := line.FindAllString(text, -1); len(lines) != 27 { // preemption wants a full cluster
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
}

// A picture has a curve for each side and share; one of several rows is refused.
func TestPicture(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cost.svg")
	output(t, "-rows", "^basic$", "-nodes", "20,40", "-pods", "0", "-share", "0,100", "-time", "1ms", "-picture", file)
	svg, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kube-scheduler", "Berth, reference decider", "Berth"} {
		for _, share := range []string{"adaptive", "100 %"} {
			if want := ">" + name + ", " + share + "<"; !strings.Contains(string(svg), want) {
				t.Errorf("no curve %q", want)
			}
		}
	}
	if _, err := curves([]line{{row: sidebyside.Row{Name: "a"}}, {row: sidebyside.Row{Name: "b"}}}); err == nil {
		t.Error("two rows in one picture")
	}
}

// output is what the command prints.
func output(t *testing.T, args ...string) string {
	o, err := parse(args)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := run(&text, o); err != nil {
		t.Fatal(err)
	}
	return text.String()
}
