package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/job/flags"
)

// submission are the options of submit that are not those of the job.
type submission struct {
	check, wait bool
	key         string
}

func submitCommand(a *app) *cobra.Command {
	origin := flags.Origin{Now: a.now(), Environ: a.environ}
	options := flags.New(origin)
	var s submission
	c := &cobra.Command{
		Use:   "submit [options] FILE [ARG...] | submit [options] -- COMMAND [ARG...]",
		Short: "Submit a job file, a script, or a command",
		Long: `Submit a job file, a script, or a command.

A FILE that begins with "#!" is a script: its "#BERTH" and "#SBATCH" comments have
options, and the ARGs are its own. Any other FILE is a job file, YAML or JSON, of
one job or several. "-" is the standard input. What the options say goes before
what the file says.

Without --export or --env no variable of the environment goes along.`,
		Example: `  berth submit --cpu 4 --memory 8Gi --time 2h -- ./simulate --all
  berth submit --array=0-99%10 align.sh
  berth submit pipeline.yaml`,
		Args: args(1, -1),
	}
	c.Flags().SetInterspersed(false)
	options.AddTo(c.Flags())
	c.Flags().BoolVar(&s.check, "check", false, "submit nothing, say what would be wrong")
	c.Flags().BoolVar(&s.wait, "wait", false, "wait for the end, and exit with the job's code")
	c.Flags().StringVar(&s.key, "key", "", "`text` that makes it safe to submit again: with the same one, nothing is submitted twice")
	c.RunE = func(c *cobra.Command, args []string) error {
		// Problems of the jobs are told before problems of the connection.
		specs, err := readJobs(c.InOrStdin(), args, c.ArgsLenAtDash() == 0, origin)
		if err != nil {
			return err
		}
		for i := range specs {
			if err := options.Apply(&specs[i]); err != nil {
				return usage(err)
			}
		}
		if err := job.Check(specs); err != nil {
			return err
		}
		return a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			return a.submit(c, servers, specs, s)
		})(c, nil)
	}
	return c
}

// readJobs are the jobs that the arguments name.
func readJobs(stdin io.Reader, args []string, isCommand bool, origin flags.Origin) ([]job.Spec, error) {
	if isCommand {
		return []job.Spec{{Command: args}}, nil
	}
	in := stdin
	if args[0] != "-" {
		f, err := os.Open(args[0])
		if errors.Is(err, os.ErrNotExist) {
			return nil, usage(fmt.Errorf("%w; for a command write: berth submit -- %s", err, strings.Join(args, " ")))
		}
		if err != nil {
			return nil, usage(err)
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, job.MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", args[0], err)
	}
	if strings.HasPrefix(string(data), "#!") {
		spec, err := flags.Script(string(data), origin)
		spec.Args = args[1:]
		if spec.Name == "" && args[0] != "-" {
			spec.Name = fileName(args[0])
		}
		return []job.Spec{spec}, err
	}
	if len(args) > 1 {
		return nil, usage(fmt.Errorf("%s is a job file and takes no arguments; a script begins with \"#!\"", args[0]))
	}
	return job.Parse(strings.NewReader(string(data)))
}

// fileName is a name for the job of a script: that of its file.
func fileName(path string) string {
	s := job.Spec{Command: []string{path}}
	return s.WithDefaults().Name
}

// submit hands in the jobs.
func (a *app) submit(c *cobra.Command, servers *client.Client, specs []job.Spec, s submission) error {
	answer, err := servers.Submit(c.Context(), api.SubmitRequest{Jobs: specs, Key: s.key, Check: s.check})
	if err != nil {
		return err
	}
	for _, w := range answer.Warnings {
		fmt.Fprintln(c.ErrOrStderr(), "berth: warning: "+visible(w))
	}
	var names []string
	for _, id := range answer.Jobs {
		names = append(names, id.String())
	}
	err = a.print(c, view{value: answer, names: names, people: func(w io.Writer) {
		switch {
		case s.check:
			fmt.Fprintln(w, "It can be submitted.")
		case answer.Repeated:
			fmt.Fprintf(w, "Job %s is there already, by the same key.\n", strings.Join(names, ", "))
		default:
			fmt.Fprintf(w, "Submitted job %s.\n", strings.Join(names, ", "))
		}
	}})
	if err != nil || !s.wait || s.check {
		return err
	}
	return a.wait(c, servers, answer.Jobs)
}
