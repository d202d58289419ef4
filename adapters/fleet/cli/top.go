package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

// What a terminal is told, in the words of ECMA-48 and xterm.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // a screen of its own, no cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	goHome      = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

func topCommand(a *app) *cobra.Command {
	every := 2 * time.Second
	once := false
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch the fleet: its nodes, and the jobs that run and wait; Ctrl-C quits",
		Args:  command.Args(0, 0),
	}
	c.Flags().DurationVar(&every, "every", every, "`pause` between two looks")
	c.Flags().BoolVar(&once, "once", false, "one look")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		if every < 100*time.Millisecond {
			return command.Mistakef("--every %s is below 100ms", every)
		}
		out := c.OutOrStdout()
		if once || !isTerminal(out) {
			frame, err := a.look(c, servers)
			if err != nil {
				return err
			}
			_, err = out.Write(frame)
			return err
		}
		return a.watch(c, servers, out.(*os.File), every)
	})
	return c
}

// watch looks again and again, until the user ends it, and leaves the terminal as
// it was.
func (a *app) watch(c *cobra.Command, servers *client.Client, out *os.File, every time.Duration) error {
	if _, err := io.WriteString(out, enterScreen); err != nil {
		return err
	}
	defer io.WriteString(out, leaveScreen)
	for {
		frame, err := a.look(c, servers)
		switch {
		case c.Context().Err() != nil:
			return nil
		case err != nil && ExitCode(err) != ExitUnreachable:
			return err
		case err != nil:
			frame = []byte(visible(err.Error()) + "\n")
		}
		width, height, err := term.GetSize(int(out.Fd()))
		if err != nil {
			return fmt.Errorf("asking for the size of the terminal: %w", err)
		}
		if _, err := out.Write(fit(frame, width, height)); err != nil {
			return err
		}
		if a.pause(c.Context(), every) != nil {
			return nil // the user has ended it
		}
	}
}

// fit is a frame for a screen of the size: lines that are too long, or too many,
// are cut.
func fit(frame []byte, width, height int) []byte {
	b := bytes.NewBufferString(goHome)
	for i, line := range bytes.Split(bytes.TrimRight(frame, "\n"), []byte("\n")) {
		if i == height-1 {
			break
		}
		b.Write(cutLine(line, width))
		b.WriteString(clearLine + "\r\n")
	}
	b.WriteString(clearBelow)
	return b.Bytes()
}

// cutLine is a line of at most width characters; colours take no room, and end
// with it.
func cutLine(line []byte, width int) []byte {
	var out []byte
	for len(line) > 0 {
		if n, _ := colour(line); line[0] == 0x1b && n > 0 {
			out = append(out, line[:n]...)
			line = line[n:]
			continue
		}
		_, n := utf8.DecodeRune(line)
		if width > 0 {
			out = append(out, line[:n]...)
		}
		width--
		line = line[n:]
	}
	return out
}

// topJobs is how many jobs of each kind a look has.
const topJobs = 50

// look asks for all that is shown, and writes it.
func (a *app) look(c *cobra.Command, servers *client.Client) ([]byte, error) {
	ctx := c.Context()
	status, err := servers.ServerStatus(ctx)
	if err != nil {
		return nil, err
	}
	nodes, err := allNodes(c, servers)
	if err != nil {
		return nil, err
	}
	active, err := servers.Jobs(ctx, client.JobFilter{State: "STARTING,RUNNING,COMPLETING", Limit: topJobs})
	if err != nil {
		return nil, err
	}
	waiting, err := servers.Jobs(ctx, client.JobFilter{State: string(job.Pending), Limit: topJobs})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s  leader %s  %d running and %d pending, by elements, of %d jobs\n", a.stamp(a.now()),
		visible(or(status.Leader, "none")), status.Running, status.Pending, status.Jobs)
	fmt.Fprintln(&b, sumOf(nodes))
	fmt.Fprintln(&b)
	a.nodeTable(c, nodes).write(&b)
	for _, list := range [][]api.Job{active.Jobs, waiting.Jobs} {
		if len(list) > 0 {
			fmt.Fprintln(&b)
			a.jobTable(c, list).write(&b)
		}
	}
	return b.Bytes(), nil
}

// sumOf says how much of the usable nodes is used.
func sumOf(nodes []api.Node) string {
	var (
		ready       int
		cpu, cpus   job.MilliCPU
		used, there job.Bytes
		gpu, gpus   int64
	)
	for i := range nodes {
		n := &nodes[i]
		if n.State != api.NodeReady {
			continue
		}
		ready++
		cpu, cpus = cpu+n.Used.CPU, cpus+n.Machine.CPU
		used, there = used+n.Used.Memory, there+n.Machine.Memory
		gpus += int64(len(n.Machine.GPUs))
		for _, share := range n.Used.GPUs {
			gpu += share
		}
	}
	s := fmt.Sprintf("%d of %d nodes ready  cpu %s/%s  memory %s/%s", ready, len(nodes), cpu, cpus, shortBytes(used), shortBytes(there))
	if gpus > 0 {
		s += fmt.Sprintf("  gpus %s/%d", job.MilliCPU(gpu), gpus)
	}
	return s
}
