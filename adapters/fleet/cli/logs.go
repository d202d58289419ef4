package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
)

func logsCommand(a *app) *cobra.Command {
	var (
		q           api.LogQuery
		tail        int64
		stderr, raw bool
	)
	c := &cobra.Command{
		Use:   "logs JOB[_ELEMENT]",
		Short: "Show the output of a job",
		Long: `Show the output of a job.

On a terminal, characters that would act on it are made visible, but for colours;
--raw leaves them as they are, and so does a pipe.`,
		Args: command.Args(1, 1),
	}
	c.Flags().BoolVarP(&q.Follow, "follow", "f", false, "follow the output until the task has ended")
	c.Flags().BoolVar(&stderr, "stderr", false, "the error output")
	c.Flags().Int32Var(&q.Attempt, "attempt", 0, "`number` of the attempt; the last without it")
	c.Flags().Int32Var(&q.Rank, "rank", 0, "`rank` of the task")
	c.Flags().Int64Var(&tail, "tail", 0, "only the last `bytes`")
	c.Flags().BoolVar(&raw, "raw", false, "change nothing")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, args []string) error {
		t, err := parseElement(args[0])
		if err != nil {
			return err
		}
		if tail < 0 {
			return command.Mistakef("--tail %d is below 0", tail)
		}
		q := q
		q.Element, q.Offset, q.Stream = t.index(), -tail, api.Stdout
		if stderr {
			q.Stream = api.Stderr
		}
		log, err := servers.Logs(c.Context(), t.job, q)
		if err != nil {
			return err
		}
		defer log.Close()
		a.noteFirst(c, servers, t)
		err = copyOut(c, log, raw)
		noteDropped(c, log)
		noteLost(c, servers, t.job, q)
		if err == nil && !stderr {
			noteErrorOutput(c, servers, t, q)
		}
		return err
	})
	return c
}

// copyOut prints a log.
func copyOut(c *cobra.Command, log io.Reader, raw bool) error {
	if raw || !isTerminal(c.OutOrStdout()) {
		_, err := io.Copy(c.OutOrStdout(), log)
		return err
	}
	to := &tame{to: c.OutOrStdout()}
	_, err := io.Copy(to, log)
	return errors.Join(err, to.Close())
}

// noteErrorOutput says on the error output that the task has written error output, too,
// where that is kept: in Slurm both are in one file.
func noteErrorOutput(c *cobra.Command, servers *client.Client, t one, q api.LogQuery) {
	q.Stream, q.Offset, q.Follow = api.Stderr, 0, false
	log, err := servers.Logs(c.Context(), t.job, q)
	if err != nil {
		return
	}
	defer log.Close()
	if n, _ := io.ReadFull(log, make([]byte, 1)); n > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "berth: there is error output, too: berth logs --stderr %s\n", t)
	}
}

// noteDropped says on the error output that what was shown is not all.
func noteDropped(c *cobra.Command, log *client.Log) {
	if n := log.Dropped(); n > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "berth: %d %s of this output were dropped before they could be shown: nodes keep the end of it "+
			"(by default 100 MiB); --output FILE keeps all\n", n, plural(int32(min(n, 2)), "byte"))
	}
}

// noteLost says on the error output what the node could not keep of the attempt's output, as
// when its disk was full: that may be missing anywhere in it.
func noteLost(c *cobra.Command, servers *client.Client, id job.ID, q api.LogQuery) {
	j, err := servers.JobElement(c.Context(), id, q.Element)
	if err != nil {
		return
	}
	for _, at := range slices.Backward(j.Attempts) {
		if q.Attempt != 0 && at.Attempt != q.Attempt {
			continue
		}
		for note := range strings.SplitSeq(at.Message, "; ") {
			if strings.HasSuffix(note, api.NotKept) {
				fmt.Fprintf(c.ErrOrStderr(), "berth: %s; --output FILE keeps all\n", visible(note))
			}
		}
		return
	}
}
