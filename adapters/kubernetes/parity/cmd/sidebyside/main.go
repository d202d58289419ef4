// Command sidebyside measures what a scheduling decision costs kube-scheduler
// and Berth, for each pod that it is about, and prints a table. What is measured, and how, is explained in
// package sidebyside.
//
//	go run ./cmd/sidebyside
//	go run ./cmd/sidebyside -rows 'basic|preemption' -nodes 1000 -pods 10 -share 0,100 -time 5s
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
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		err = table(os.Stdout, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sidebyside:", err)
		os.Exit(1)
	}
}

func parse(args []string) (*options, error) {
	flags := flag.NewFlagSet("sidebyside", flag.ExitOnError)
	rows := flags.String("rows", "", "only the rows whose name matches the regular expression")
	nodes := flags.String("nodes", "1000,5000", "numbers of nodes")
	pods := flags.String("pods", "0,10", "numbers of pods that are on each node already")
	shares := flags.String("share", "0,100", "shares of nodes to look at, in percent; 0: adaptive")
	each := flags.Duration("time", 3*time.Second, "how much processor time the slower side may use, in each line")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	pattern, err := regexp.Compile(*rows)
	if err != nil {
		return nil, err
	}
	o := &options{rows: pattern, each: *each}
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

// table measures line by line and prints each when it is ready.
func table(w io.Writer, o *options) error {
	fmt.Fprintf(w, "%s, GOMAXPROCS %d. Processor time (µs) and allocations for each pod decided on; ratio of the times.\n\n", runtime.Version(), runtime.GOMAXPROCS(0))
	fmt.Fprintln(w, "| pods | nodes | pods a node | share | kube µs | kube allocs | Berth µs | Berth allocs | ratio |")
	fmt.Fprintln(w, "|---|---:|---:|---|---:|---:|---:|---:|---:|")
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
					if err := line(w, row, c, o.each); err != nil {
						return fmt.Errorf("%s, %s: %w", row.Name, c, err)
					}
				}
			}
		}
	}
	return nil
}

func line(w io.Writer, row sidebyside.Row, c sidebyside.Cluster, each time.Duration) error {
	kube, err := sidebyside.NewKube(row, c)
	if err != nil {
		return err
	}
	defer kube.Close()
	berth, err := sidebyside.NewBerth(row, c)
	if err != nil {
		return err
	}
	defer berth.Close()
	costs := sidebyside.Measure(row, []sidebyside.Side{kube, berth}, each)
	k, b := costs[0], costs[1]
	share := "adaptive"
	if c.Share != 0 {
		share = fmt.Sprintf("%d %%", c.Share)
	}
	fmt.Fprintf(w, "| %s | %d | %d | %s | %.0f | %.0f | %.0f | %.0f | %.1f |\n", row.Name, c.Nodes, c.PodsPerNode, share,
		micros(k.CPU), k.Allocs, micros(b.CPU), b.Allocs, micros(k.CPU)/micros(b.CPU))
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
