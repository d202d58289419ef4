package decisionlevel

import (
	"strings"
	"testing"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/differences"
	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/reference"
)

// run runs cases until one has an unexplained difference.
func run(t *testing.T, cases uint64, o Options) *differences.Report {
	t.Helper()
	report, err := differences.Cases(cases, func(number uint64, r *differences.Report) error { return Run(1, number, r, o) })
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A short run with a fixed seed.
func TestDecisions(t *testing.T) {
	cases := uint64(48)
	if testing.Short() {
		cases = 16
	}
	report := run(t, cases, Options{})
	mustAgree(t, report)
	for _, kind := range []string{"(placed)", "(fits nowhere)", "(made room)", "(nominated without victims)"} {
		if report.Counted(kind) < int(cases)/4 {
			t.Errorf("%s: %d only", kind, report.Counted(kind))
		}
	}
}

func mustAgree(t *testing.T, report *differences.Report) {
	t.Helper()
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
}

// Short runs about storage, devices and groups, in which every kind of decision
// comes up.
func TestDecisionsAbout(t *testing.T) {
	for about, kinds := range map[About][]string{
		Storage: {"(placed)", "(fits nowhere)", "(volume given)", "(volume asked for)"},
		Devices: {"(placed)", "(fits nowhere)", "(devices given)"},
		Groups:  {"(placed a group)", "(placed some of a group)", "(placed nothing of a group)", "(made a group room)"},
	} {
		t.Run(string(about), func(t *testing.T) {
			cases := uint64(100)
			if testing.Short() {
				cases = 16
			}
			report := run(t, cases, Options{About: about})
			mustAgree(t, report)
			for _, kind := range kinds {
				if report.Counted(kind) < 4 {
					t.Errorf("%s: %d only", kind, report.Counted(kind))
				}
			}
		})
	}
}

// So it is with every combination of the feature gates about groups that a cluster can have.
func TestDecisionsAboutGroupsWithTheirGates(t *testing.T) {
	for _, gates := range reference.Combinations() {
		t.Run(strings.Join(gates, " "), func(t *testing.T) {
			cases := uint64(30)
			if testing.Short() {
				cases = 4
			}
			report := run(t, cases, Options{About: Groups, Gates: gates})
			mustAgree(t, report)
			if n := report.Counted("(placed a group)") + report.Counted("(placed nothing of a group)"); n < int(cases) {
				t.Errorf("%d decisions about groups only", n)
			}
		})
	}
}

// Whatever the engine gets wrong in a decision is noticed.
func TestMistakesAreNoticed(t *testing.T) {
	for name, o := range Mistakes() {
		if report := run(t, 48, o); report.Unexplained() == 0 {
			t.Errorf("not noticed: a mistake about %s", name)
		}
	}
}
