// Command sidebyside measures what a scheduling decision costs kube-scheduler
// and Berth, for each pod that it is about, and prints a table. What is measured, and how, is explained in
// package sidebyside.
//
//	go run ./cmd/sidebyside
//	go run ./cmd/sidebyside -rows 'basic|preemption' -nodes 1000 -pods 10 -share 0,100 -time 5s
//	go run ./cmd/sidebyside -rows '^basic$' -nodes 100,1000,10000,100000 -pods 0 -picture cost.svg
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/berth-project/berth/adapters/kubernetes/parity/internal/sidebyside"
)

// options are the flags.
type options struct {
	rows                *regexp.Regexp
	nodes, pods, shares []int
	each                time.Duration
	picture             string
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		err = run(os.Stdout, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sidebyside:", err)
		os.Exit(1)
	}
}

// run prints the table, and draws it where a picture is asked for.
func run(w io.Writer, o *options) error {
	lines, err := table(w, o)
	if err != nil || o.picture == "" {
		return err
	}
	return draw(o.picture, lines)
}

func parse(args []string) (*options, error) {
	flags := flag.NewFlagSet("sidebyside", flag.ExitOnError)
	rows := flags.String("rows", "", "only the rows whose name matches the regular expression")
	nodes := flags.String("nodes", "1000,5000", "numbers of nodes")
	pods := flags.String("pods", "0,10", "numbers of pods that are on each node already")
	shares := flags.String("share", "0,100", "shares of nodes to look at, in percent; 0: adaptive")
	each := flags.Duration("time", 3*time.Second, "how much processor time the slower side may use, in each line")
	picture := flags.String("picture", "", "also draw the costs of one row against the number of nodes, to this file (.svg or .png)")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(*rows)
	if err != nil {
		return nil, err
	}
	o := &options{rows: pattern, each: *each, picture: *picture}
	for _, list := range []struct {
		flag, text string
		to         *[]int
	}{{"nodes", *nodes, &o.nodes}, {"pods", *pods, &o.pods}, {"share", *shares, &o.shares}} {
		for _, field := range strings.Split(list.text, ",") {
			n, err := strconv.Atoi(field)
			if err != nil {
				return nil, fmt.Errorf("-%s: %q is no number; want numbers with commas between them", list.flag, field)
			}
			*list.to = append(*list.to, n)
		}
	}
	return o, nil
}

// table measures line by line, prints each when it is ready, and returns them.
func table(w io.Writer, o *options) (lines []line, err error) {
	fmt.Fprintf(w, "%s, GOMAXPROCS %d. Processor time (µs) and allocations for each pod decided on; ratio of the times.\n", runtime.Version(), runtime.GOMAXPROCS(0))
	fmt.Fprint(w, "Reference is Berth without its fast decider.\n\n")
	fmt.Fprintln(w, "| pods | nodes | pods a node | share | kube µs | kube allocs | reference µs | Berth µs | Berth allocs | ratio |")
	fmt.Fprintln(w, "|---|---:|---:|---|---:|---:|---:|---:|---:|---:|")
	for _, row := range sidebyside.Rows() {
		if !o.rows.MatchString(row.Name) {
			continue
		}
		for _, nodes := range row.Sizes(o.nodes) {
			for _, pods := range o.pods {
				for _, share := range o.shares {
					c := sidebyside.Cluster{Nodes: nodes, PodsPerNode: pods, Share: int32(share)}
					if !c.Suits(row) {
						continue
					}
					l, err := measure(row, c, o.each)
					if err != nil {
						return nil, fmt.Errorf("%s, %s: %w", row.Name, c, err)
					}
					fmt.Fprintln(w, l)
					lines = append(lines, l)
				}
			}
		}
	}
	return lines, nil
}

// line is what decisions cost on one cluster.
type line struct {
	row                    sidebyside.Row
	cluster                sidebyside.Cluster
	kube, reference, berth sidebyside.Cost
}

func measure(row sidebyside.Row, c sidebyside.Cluster, each time.Duration) (line, error) {
	var sides []sidebyside.Side
	for _, start := range []func(sidebyside.Row, sidebyside.Cluster) (sidebyside.Side, error){
		sidebyside.NewKube, sidebyside.NewReference, sidebyside.NewBerth,
	} {
		side, err := start(row, c)
		if err != nil {
			return line{}, err
		}
		defer side.Close()
		sides = append(sides, side)
	}
	costs := sidebyside.Measure(row, sides, each)
	return line{row, c, costs[0], costs[1], costs[2]}, nil
}

// String is the line in the table.
func (l line) String() string {
	return fmt.Sprintf("| %s | %d | %d | %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f |", l.row.Name, l.cluster.Nodes, l.cluster.PodsPerNode,
		shareName(l.cluster.Share), micros(l.kube.CPU), l.kube.Allocs, micros(l.reference.CPU), micros(l.berth.CPU), l.berth.Allocs,
		micros(l.kube.CPU)/micros(l.berth.CPU))
}

// shareName says how many nodes are looked at.
func shareName(share int32) string {
	if share == 0 {
		return "adaptive"
	}
	return fmt.Sprintf("%d %%", share)
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
