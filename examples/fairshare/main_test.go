package main

import (
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the output to testdata instead of comparing it")

// called is the program as a shell sees it.
func called(args ...string) (code int, out, errOut string) {
	var o, e strings.Builder
	code = command(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

// The demo: the program without arguments, and by usage.
func TestDemo(t *testing.T) {
	for golden, args := range map[string][]string{"testdata/output.txt": nil, "testdata/usage.txt": {"-order", "usage"}} {
		code, got, errOut := called(args...)
		if code != 0 || errOut != "" {
			t.Fatalf("exit code %d, stderr\n%s", code, errOut)
		}
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s\n(go test -update writes it, if that is how it should be)", golden, got, want)
		}
	}
}

func aDay(t *testing.T, args ...string) *result {
	t.Helper()
	o, err := parseOptions(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r, err := simulate(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// short lists the departments that have less than nine tenths of what they are guaranteed, on
// average over the hours in which they have work, the first two aside: until then jobs may
// run that were started before. (At a moment it may be less, since what a job leaves need
// not be enough for the next one of the department.)
func short(r *result) (names []string) {
	for d := range departments {
		for _, w := range departments[d].works {
			until := min(w.until, int(r.options.length.Hours()))
			if r.average(d, interval{w.from + 2, until}) < 0.9*float64(departments[d].guaranteed) {
				names = append(names, departments[d].name)
			}
		}
	}
	return names
}

// By queues every department has what it is guaranteed. By arrival it does not.
func TestGuarantees(t *testing.T) {
	for _, seed := range []string{"1", "2", "3"} {
		if list := short(aDay(t, "-seed", seed, "-reclaim", "never")); len(list) > 0 {
			t.Errorf("seed %s: too little has %v", seed, list)
		}
		if list := short(aDay(t, "-seed", seed, "-order", "arrival")); len(list) == 0 {
			t.Errorf("seed %s: by arrival every department has what it is guaranteed", seed)
		}
	}
}

// What the others do not need is borrowed.
func TestBorrowing(t *testing.T) {
	r := aDay(t, "-reclaim", "never")
	if alone := r.average(0, interval{0, 3}); alone < 0.9*cores {
		t.Errorf("physics has %.0f of %d cores while nobody else has work", alone, cores)
	}
}

// By usage biology, which has had nothing before, catches up: it has more than by shares, and physics
// keeps what it is guaranteed.
func TestUsage(t *testing.T) {
	const physics, biology = 0, 1
	catching := interval{3, 5}
	for _, seed := range []string{"1", "2", "3"} {
		past, now := aDay(t, "-seed", seed, "-order", "usage", "-hours", "5"), aDay(t, "-seed", seed, "-hours", "5")
		if more := past.average(biology, catching) - now.average(biology, catching); more < cores/16 {
			t.Errorf("seed %s: biology has %.0f cores more than by shares", seed, more)
		}
		if got := past.average(physics, catching); got < 0.9*float64(departments[physics].guaranteed) {
			t.Errorf("seed %s: physics has %.0f cores", seed, got)
		}
	}
}

// With reclaim biology has what it is guaranteed as soon as it has work, since others are
// displaced for it; without it waits for their jobs to end.
func TestReclaim(t *testing.T) {
	const biology, threeOClock = 1, 12
	for reclaim, at := range map[string]bool{"any": true, "never": false} {
		r := aDay(t, "-hours", "4", "-reclaim", reclaim)
		if got := r.samples[threeOClock].use[biology] >= departments[biology].guaranteed-8; got != at { // a job may just not fit
			t.Errorf("-reclaim %s: biology has %d cores at three o'clock", reclaim, r.samples[threeOClock].use[biology])
		}
		if got := r.displaced[0] > 0; got != at {
			t.Errorf("-reclaim %s: %d jobs of physics were displaced", reclaim, r.displaced[0])
		}
	}
}

// The picture is XML, and has an area for each department.
func TestSVG(t *testing.T) {
	name := filepath.Join(t.TempDir(), "shares.svg")
	if code, _, errOut := called("-hours", "2", "-svg", name); code != 0 {
		t.Fatal(errOut)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	areas := 0
	for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "polygon" {
			areas++
		}
	}
	if areas != len(departments) {
		t.Errorf("it has %d areas", areas)
	}
}

func TestCalledWrongly(t *testing.T) {
	for args, want := range map[string]string{
		"-order random":   `-order: "random" is not one of arrival, queues, usage`,
		"-reclaim always": `-reclaim: "always" is not one of any, lower, never`,
		"-hours 0":        "-hours: 0 is not from 1 to 1000",
		"-hours x":        "invalid value",
		"-fast":           "flag provided but not defined",
		"today":           `"today" is no option`,
	} {
		if code, out, errOut := called(strings.Fields(args)...); code != 2 || out != "" || !strings.Contains(errOut, want) {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q", args, code, out, errOut)
		}
	}
	if code, out, _ := called("-help"); code != 0 || !strings.Contains(out, "-reclaim") {
		t.Errorf("-help: exit code %d\n%s", code, out)
	}
	if code, _, errOut := called("-hours", "1", "-svg", filepath.Join(t.TempDir(), "none", "x.svg")); code != 1 || !strings.HasPrefix(errOut, "fairshare: open") {
		t.Errorf("a folder that is not there: exit code %d, %s", code, errOut)
	}
}
