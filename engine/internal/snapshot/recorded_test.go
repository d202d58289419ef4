package snapshot

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berth-project/berth/extpoints"
	"github.com/berth-project/berth/model"
)

// TestRecorded does to a View what was done to kube-scheduler's cache, and
// expects it to look the same after each settling. A line is a patch, "new" for
// a fresh start, or ">" with what was seen:
//
//	put NODE ZONE IMAGE:SIZE...
//	rm NODE
//	place ID NODE no|aff|anti
//	unplace ID NODE ...
//
// The branch that is taken now and then must make no difference.
func TestRecorded(t *testing.T) {
	file, err := os.Open("testdata/kube.txt")
	require.NoError(t, err)
	defer file.Close()
	lines := bufio.NewScanner(file)
	var v *View
	seen := 0
	for n := 1; lines.Scan(); n++ {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		args := strings.Fields(rest)
		switch verb {
		case "#":
		case "new":
			v = New()
		case "put":
			v.PutNode(parseNode(t, args))
		case "rm":
			v.RemoveNode(args[0])
		case "place":
			v.Place(parseWorkload(args), args[1])
		case "unplace":
			v.Unplace(args[0], args[1])
		case ">":
			require.Equal(t, rest, describe(v), "line %d", n)
			if seen++; seen%3 == 0 {
				v = v.Branch()
			}
		default:
			t.Fatalf("line %d: %q", n, verb)
		}
	}
	require.NoError(t, lines.Err())
	require.NotZero(t, seen)
}

func parseNode(t *testing.T, args []string) *model.Node {
	node := &model.Node{Name: args[0], Zone: args[1]}
	for _, image := range args[2:] {
		name, size, _ := strings.Cut(image, ":")
		bytes, err := strconv.ParseInt(size, 10, 64)
		require.NoError(t, err)
		node.Images = append(node.Images, model.NodeImage{Names: []string{name}, Size: bytes})
	}
	return node
}

func parseWorkload(args []string) *extpoints.WorkloadInfo {
	w := &model.Workload{ID: args[0]}
	switch args[2] {
	case "aff":
		w.Affinity = &model.WorkloadAffinity{}
	case "anti":
		w.AntiAffinity = &model.WorkloadAffinity{Required: make([]model.AffinityTerm, 1)}
	}
	return &extpoints.WorkloadInfo{Workload: w}
}

func describe(v *View) string {
	var out strings.Builder
	ns := v.Nodes()
	for i := range ns.Len() {
		info := ns.At(i)
		fmt.Fprintf(&out, "%s[", info.Node.Name)
		for _, w := range info.Workloads {
			fmt.Fprintf(&out, "%s ", w.ID)
		}
		var images []string
		for _, name := range slices.Sorted(maps.Keys(info.Images)) {
			images = append(images, fmt.Sprintf("%s=%d/%d", name, info.Images[name].Size, info.Images[name].NumNodes))
		}
		fmt.Fprintf(&out, "|%s] ", strings.Join(images, ","))
	}
	out.WriteString("aff")
	for _, info := range ns.WithAffinity() {
		out.WriteString(" " + info.Node.Name)
	}
	out.WriteString(" anti")
	for _, info := range ns.WithRequiredAntiAffinity() {
		out.WriteString(" " + info.Node.Name)
	}
	return out.String()
}
