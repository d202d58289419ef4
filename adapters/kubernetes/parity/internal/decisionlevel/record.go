package decisionlevel

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/subject"
	"github.com/berth-project/berth/plugins"
)

// What Record chooses from and aims at: of so many cases so few files that each
// part of the engine matters in so many of them.
const (
	recordCases = 400
	recordFiles = 36
	recordEach  = 6
	// About storage and groups fewer parts matter.
	recordCasesAbout = 100
	recordFilesAbout = 12
)

// recorded is a case that may be written.
type recorded struct {
	about  About
	number uint64
	parts  []string // of the engine, that matter in it
	tape   *subject.Tape
}

// Record writes a selection of small cases about one thing into the directory, as
// files that the engine's own test replays: the changes that the engine is told,
// in the model's terms, and what the reference decided. What matters in a case is
// found out by making mistakes. It returns the number of files. There are none
// about devices: the engine's test cannot evaluate CEL.
func Record(dir string, about About, seed uint64) (int, error) {
	switch about {
	case Pods, Storage, Groups:
	case Devices:
		return 0, errors.New("decisions about devices cannot be recorded: replaying them takes CEL")
	default:
		return 0, fmt.Errorf("there are no decisions about %q to record: want decision, storage or group", about)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	candidates, files := recordCases, recordFiles
	if about != Pods {
		candidates, files = recordCasesAbout, recordFilesAbout
	}
	var cases []recorded
	for number := range uint64(candidates) {
		c, err := record(about, seed, number)
		if err != nil {
			return 0, err
		}
		if c != nil {
			cases = append(cases, *c)
		}
	}
	chosen := choose(cases, files)
	for _, c := range chosen {
		name := filepath.Join(dir, fmt.Sprintf("%s-seed%d-case%03d.txtar", about, seed, c.number))
		if err := os.WriteFile(name, []byte(c.text(seed)), 0o644); err != nil {
			return 0, err
		}
	}
	return len(chosen), nil
}

// record runs a small case; nil where the two sides differ in it, also where that
// is known: a file has no reasons.
func record(about About, seed, number uint64) (*recorded, error) {
	c := &recorded{about: about, number: number, tape: &subject.Tape{}}
	report := differences.NewWith(nil)
	if err := Run(seed, number, report, Options{About: about, Small: true, Tape: c.tape}); err != nil {
		return nil, err
	}
	if report.Unexplained() > 0 || about == Groups && !slices.Contains(c.tape.Without, plugins.DynamicResources) {
		return nil, nil
	}
	var err error
	c.parts, err = matters(about, seed, number)
	return c, err
}

// choose takes, as long as there is something to gain, the case in which most of
// the parts matter that have not mattered often enough; of equal ones the
// shortest.
func choose(cases []recorded, files int) []recorded {
	mattered := map[string]int{}
	gain := func(c recorded) (n int) {
		for _, part := range c.parts {
			if mattered[part] < recordEach {
				n++
			}
		}
		return n
	}
	var chosen []recorded
	for len(cases) > 0 && len(chosen) < files {
		best := slices.MaxFunc(cases, func(a, b recorded) int {
			return cmp.Or(cmp.Compare(gain(a), gain(b)), cmp.Compare(len(b.tape.String()), len(a.tape.String())))
		})
		if gain(best) == 0 {
			break
		}
		for _, part := range best.parts {
			mattered[part]++
		}
		chosen = append(chosen, best)
		cases = slices.DeleteFunc(cases, func(c recorded) bool { return c.number == best.number })
	}
	return chosen
}

// matters lists the parts of the engine in which a mistake would be noticed in
// the case.
func matters(about About, seed, number uint64) ([]string, error) {
	var parts []string
	mistakes := Mistakes()
	for _, name := range slices.Sorted(maps.Keys(mistakes)) {
		o := mistakes[name]
		if cmp.Or(o.About, Pods) != about {
			continue
		}
		o.Small = true
		report := differences.NewWith(nil)
		if err := Run(seed, number, report, o); err != nil {
			return nil, err
		}
		if report.Unexplained() > 0 {
			parts = append(parts, name)
		}
	}
	return parts, nil
}

// text is the case as a file, in the format of golang.org/x/tools/txtar.
func (c *recorded) text(seed uint64) string {
	return fmt.Sprintf(`Decisions of kube-scheduler 1.37.1, recorded by adapters/kubernetes/parity
from seed %d, case %d, about %s. Mistakes would be noticed about: %s.
-- config --
%s-- history --
%s`, seed, c.number, c.about, strings.Join(c.parts, ", "), c.tape.Config(), c.tape)
}
