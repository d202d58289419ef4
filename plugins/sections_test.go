package plugins_test

import (
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/extpoints/extpointstest"
	"github.com/berth-project/berth/model"
	"github.com/berth-project/berth/model/modeltest"
	"github.com/berth-project/berth/plugins"
	"github.com/berth-project/berth/plugins/devicepacking"
)

// sections are the last headings of each plugin's package comment, in this order;
// the comment of package plugins says what each holds.
var sections = []string{"Points", "Events", "Signature", "Parity"}

// TestSections: what the sections of a package comment list is what the code does.
func TestSections(t *testing.T) {
	parity, err := os.ReadFile("../adapters/kubernetes/parity/README.md")
	require.NoError(t, err)
	for folder, names := range folders(t) {
		t.Run(folder, func(t *testing.T) {
			comment := packageComment(t, folder)
			require.Equal(t, sections, headings(comment)[max(0, len(headings(comment))-len(sections)):], "the last headings of the comment")
			var points, events, signature []string
			for _, name := range names {
				v := variantsOf(t, name)
				points = append(points, titled(names, name, []string{strings.Join(v.points(), ", ")})...)
				events = append(events, titled(names, name, v.events(t))...)
				signature = append(signature, titled(names, name, v.signature())...)
				section := section(comment, "Parity")
				if strings.Contains(string(parity), "| "+name+" | [") {
					require.Regexp(t, `\b(plugins|framework)/[a-z/_*]+\.go\b.*1\.37\.1`, strings.ReplaceAll(section, "\n", " "),
						"Parity names the files of kube-scheduler that have the rules, and its version")
				} else {
					require.Contains(t, section, "kube-scheduler has no such plugin")
				}
			}
			require.Equal(t, points, block(section(comment, "Points")), "Points")
			require.Equal(t, events, block(section(comment, "Events")), "Events")
			require.Equal(t, signature, block(section(comment, "Signature")), "Signature")
		})
	}
}

// titled puts the plugin's name above its lines where the package has several.
func titled(names []string, name string, lines []string) []string {
	if len(names) == 1 {
		return lines
	}
	all := []string{name + ":"}
	for _, line := range lines {
		all = append(all, "  "+line)
	}
	return all
}

// folders lists the plugins by the folder that their types are declared in.
func folders(t *testing.T) map[string][]string {
	t.Helper()
	list := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(plugins.Default())) {
		p := variantsOf(t, name)[0].improved
		_, folder, _ := strings.Cut(reflect.TypeOf(p).Elem().PkgPath(), "/plugins/")
		list[folder] = append(list[folder], name)
	}
	return list
}

// variant is a plugin made with certain arguments.
type variant struct{ improved, reference extpoints.Plugin }

type variants []variant

// variantsOf makes the plugin with its default arguments, and with those that make
// another plugin of it.
func variantsOf(t *testing.T, name string) (list variants) {
	t.Helper()
	args := []any{nil}
	if name == plugins.DevicePacking {
		args = nil
		for _, policy := range []devicepacking.Policy{
			devicepacking.BestFit, devicepacking.Random, devicepacking.DotProd, devicepacking.Clustering, devicepacking.Packing,
		} {
			args = append(args, devicepacking.Args{Policy: policy})
		}
		args = append(args, devicepacking.Args{Policy: devicepacking.Rollout})
		for _, policy := range []devicepacking.Policy{devicepacking.FGD, devicepacking.Rollout} {
			args = append(args, devicepacking.Args{Policy: policy, Typical: []devicepacking.Typical{{CPU: 1, Weight: 1}}})
		}
	}
	if a, needs := plugins.RequiredArgs[name]; needs {
		args = []any{a}
	}
	for _, a := range args {
		var v variant
		for mode, made := range map[extpoints.Compat]*extpoints.Plugin{extpoints.Improved: &v.improved, extpoints.KubeScheduler137: &v.reference} {
			h := extpointstest.NewHandle()
			h.Mode = mode
			var err error
			*made, err = plugins.Default()[name](a, h)
			require.NoError(t, err)
		}
		list = append(list, v)
	}
	return list
}

// additions are the optional interfaces that change what a point does.
var additions = []struct {
	name   string
	serves func(extpoints.Plugin) bool
}{
	{"PreFilterExtensions", implements[extpoints.PreFilterExtensions]},
	{"ScoreNormalizer", implements[extpoints.ScoreNormalizer]},
	{"PlacementScoreNormalizer", implements[extpoints.PlacementScoreNormalizer]},
}

func implements[I any](p extpoints.Plugin) bool {
	_, ok := p.(I)
	return ok
}

// points lists the points that the plugin serves, and what it adds to them.
func (vs variants) points() (list []string) {
	add := func(name string, serves func(extpoints.Plugin) bool) {
		count := 0
		for _, v := range vs {
			if serves(v.improved) {
				count++
			}
		}
		switch count {
		case 0:
		case len(vs):
			list = append(list, name)
		default:
			list = append(list, name+" (with some arguments)")
		}
	}
	for _, p := range extpoints.Points() {
		add(string(p), p.Serves)
	}
	for _, a := range additions {
		add(a.name, a.serves)
	}
	return list
}

// rejecting are the points at which a plugin can keep a workload from its node.
var rejecting = []extpoints.Point{"PreEnqueue", "PreFilter", "Filter", "Reserve", "Permit", "PlacementGenerate", "PlacementFeasible"}

// events lists the events that the plugin registers for.
func (vs variants) events(t *testing.T) (list []string) {
	t.Helper()
	v := vs[0]
	if _, ok := v.improved.(extpoints.EnqueueExtensions); !ok {
		for _, p := range rejecting {
			if p.Serves(v.improved) {
				return []string{"every event"}
			}
		}
		return []string{"none"}
	}
	improved, reference := registered(t, v.improved), registered(t, v.reference)
	for _, e := range improved {
		if !slices.Contains(reference, e) {
			e += " (Improved)"
		}
		list = append(list, e)
	}
	for _, e := range reference {
		if !slices.Contains(improved, e) {
			list = append(list, e+" (KubeScheduler137)")
		}
	}
	if len(list) == 0 {
		return []string{"none"}
	}
	return list
}

func registered(t *testing.T, p extpoints.Plugin) (list []string) {
	t.Helper()
	hints, err := p.(extpoints.EnqueueExtensions).EventsToRegister()
	require.NoError(t, err)
	for _, h := range hints {
		list = append(list, eventText(h.Event))
	}
	return list
}

// eventText is the event as the comments write it: with every kind of update as one.
func eventText(e extpoints.ClusterEvent) string {
	if a := e.Action; a != extpoints.AllActions && a != extpoints.Update && a&extpoints.Update == extpoints.Update {
		return string(e.Resource) + "/" + (a &^ extpoints.Update).String() + "|Update"
	}
	return e.String()
}

// signing are the points at which a plugin's verdict is about a node, so that a
// profile has signatures only if the plugin signs.
var signing = []extpoints.Point{"PreFilter", "Filter", "PreScore", "Score"}

// signature lists the keys of the plugin's fragments, and whether there are
// workloads that it does not sign.
func (vs variants) signature() (list []string) {
	signed, signs := 0, 0
	for _, v := range vs {
		sign, ok := v.improved.(extpoints.SignPlugin)
		if !ok {
			continue
		}
		signs++
		for _, w := range signedWorkloads() {
			fragments, st := sign.Sign(w)
			if !st.IsSuccess() {
				continue
			}
			signed++
			for _, f := range fragments {
				if !slices.Contains(list, f.Key) {
					list = append(list, f.Key)
				}
			}
		}
	}
	switch {
	case signs < len(vs):
		if slices.ContainsFunc(signing, func(p extpoints.Point) bool { return p.Serves(vs[0].improved) }) {
			return []string{"none: its profiles have no signatures"}
		}
		return []string{"none needed"}
	case signed < len(vs)*len(signedWorkloads()):
		list = append(list, "(refuses some workloads)")
	case len(list) == 0:
		return []string{"nothing"}
	}
	return list
}

// signedWorkloads are workloads of every kind. The seed is fixed: the answer is a
// list of keys, which does not depend on it.
func signedWorkloads() []*model.Workload {
	r := rand.New(rand.NewPCG(1, 0))
	list := []*model.Workload{
		{ID: "plain"},
		{ID: "load", FitLoad: &model.Resources{CPU: 1}},
		{ID: "claims", DeviceClaims: make([]model.DeviceClaimRef, 1)},
	}
	for range 200 {
		list = append(list, modeltest.RandomWorkload(r))
	}
	return list
}

// packageComment is the comment in the plugin's doc.go.
func packageComment(t *testing.T, folder string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), folder+"/doc.go", nil, parser.ParseComments)
	require.NoError(t, err)
	return file.Doc.Text()
}

func headings(comment string) (list []string) {
	for line := range strings.Lines(comment) {
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			list = append(list, strings.TrimSpace(heading))
		}
	}
	return list
}

// section is what stands below the heading.
func section(comment, heading string) string {
	_, text, _ := strings.Cut(comment, "\n# "+heading+"\n")
	text, _, _ = strings.Cut(text, "\n# ")
	return strings.TrimSpace(text) + "\n"
}

// block is the indented lines that a section begins with.
func block(section string) (lines []string) {
	for line := range strings.Lines("\t" + strings.TrimPrefix(section, "\t")) {
		if !strings.HasPrefix(line, "\t") {
			break
		}
		lines = append(lines, strings.TrimRight(line[1:], "\n"))
	}
	return lines
}
