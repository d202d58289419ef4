package cli

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job/flags"
)

func usageCommand(a *app) *cobra.Command {
	var (
		by, owner, since string
		asCSV, asSWF     bool
	)
	c := &cobra.Command{
		Use:   "usage",
		Short: "Show what users, or jobs, have used",
		Long: `Show what users, or jobs, have used: of the attempts that have ended.

--swf writes each attempt in the Standard Workload Format, which simulators of batch
systems read.`,
		Args: command.Args(0, 0),
	}
	c.Flags().StringVar(&by, "by", "user", "`what` has a row: user or job")
	c.Flags().StringVar(&owner, "owner", "", "only that of this `user`")
	c.Flags().StringVar(&since, "since", "", "with --swf, only attempts that ended after this `time`")
	c.Flags().BoolVar(&asCSV, "csv", false, "as comma-separated values")
	c.Flags().BoolVar(&asSWF, "swf", false, "each attempt, in the Standard Workload Format")
	filled(c, "owner", "since")
	c.RunE = a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
		if by != "user" && by != "job" {
			return command.Mistakef("--by %q is neither user nor job", by)
		}
		if asCSV && asSWF {
			return command.Mistake(errors.New("--csv and --swf cannot both be had"))
		}
		if since != "" && !asSWF {
			return command.Mistake(errors.New("--since goes with --swf: other rows are of all attempts that are known"))
		}
		if asSWF {
			after, err := a.readMoment("since", since, flags.PastMoment)
			if err != nil {
				return err
			}
			return writeSWF(c, servers, client.RecordFilter{Owner: owner, Since: after, Limit: api.MaxPage})
		}
		rows, err := allUsage(c, servers, by, owner)
		if err != nil {
			return err
		}
		if asCSV {
			return writeCSV(c.OutOrStdout(), rows)
		}
		return a.printUsage(c, rows, by)
	})
	return c
}

// allUsage gathers all pages.
func allUsage(c *cobra.Command, servers *client.Client, by, owner string) ([]api.UsageRow, error) {
	rows := []api.UsageRow{}
	for after := ""; ; {
		page, err := servers.Usage(c.Context(), by, owner, after)
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.Rows...)
		if after = page.After; after == "" {
			return rows, nil
		}
	}
}

// printUsage prints rows as --format says.
func (a *app) printUsage(c *cobra.Command, rows []api.UsageRow, by string) error {
	v := view{value: api.UsageList{Rows: rows}}
	t := a.newTable(c, "OWNER", "JOB", "NAME", "ATTEMPTS", "WALL", "CORES SET ASIDE", "CPU", "GPU", "PEAK MEMORY")
	for i := range rows {
		r := &rows[i]
		id := "-"
		if by == "job" {
			id = r.Job.String()
			v.names = append(v.names, id)
		} else {
			v.names = append(v.names, r.Owner)
		}
		t.row(r.Owner, id, or(r.Name, "-"), strconv.FormatInt(r.Attempts, 10), seconds(r.WallSeconds),
			seconds(r.AllocSeconds), seconds(r.CPUSeconds), seconds(r.GPUSeconds), shortBytes(r.PeakMemory))
	}
	v.people = t.write
	return a.print(c, v)
}

// writeCSV writes rows as comma-separated values, with a heading: times in seconds,
// memory in bytes.
func writeCSV(w io.Writer, rows []api.UsageRow) error {
	to := csv.NewWriter(w)
	lines := [][]string{{"owner", "job", "name", "attempts", "wall_seconds", "alloc_core_seconds", "cpu_seconds", "gpu_seconds", "peak_memory_bytes"}}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	for i := range rows {
		r := &rows[i]
		id := ""
		if r.Job != 0 {
			id = r.Job.String()
		}
		lines = append(lines, []string{visible(r.Owner), id, visible(r.Name), strconv.FormatInt(r.Attempts, 10), number(r.WallSeconds),
			number(r.AllocSeconds), number(r.CPUSeconds), number(r.GPUSeconds), strconv.FormatInt(int64(r.PeakMemory), 10)})
	}
	return to.WriteAll(lines)
}
