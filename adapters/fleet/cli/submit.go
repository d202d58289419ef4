package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berth-project/berth/adapters/fleet/api"
	"github.com/berth-project/berth/adapters/fleet/api/client"
	"github.com/berth-project/berth/adapters/fleet/internal/command"
	"github.com/berth-project/berth/adapters/fleet/job"
	"github.com/berth-project/berth/adapters/fleet/job/flags"
)

// submission are the options of submit that are not those of a job.
type submission struct {
	check bool
	key   string

	// What the jobs come to, with all options: they themselves and their specs, whether any of them
	// asks to be waited for, or for its number alone, and what they are warned about.
	jobs           []*flags.Job
	specs          []job.Spec
	wait, parsable bool
	warnings       []string
}

// complete applies the options to the jobs, which were read with a *job.ValidationError, or
// nil. Its error has all that is wrong with all of them, what is the same for several once.
func (s *submission) complete(jobs []*flags.Job, read error, options *flags.Set) error {
	var problems []job.Problem
	add := func(p job.Problem) {
		if !slices.Contains(problems, p) {
			problems = append(problems, p)
		}
	}
	var invalid *job.ValidationError
	s.jobs = jobs
	for _, j := range jobs {
		if err := options.Apply(j); errors.As(err, &invalid) {
			for _, p := range invalid.Problems {
				add(p)
			}
		} else if err != nil {
			return command.Mistake(err)
		}
		if j.Spec.Dir == "" {
			return command.Mistake(errors.New("the current directory, where jobs run, cannot be found: use --dir"))
		}
		s.specs = append(s.specs, j.Spec)
		s.wait, s.parsable = s.wait || j.Wait, s.parsable || j.Parsable
		for _, w := range j.Warnings {
			s.warnings = append(s.warnings, w.String())
		}
	}
	if err := job.CheckRead(s.specs, read); errors.As(err, &invalid) {
		for _, p := range invalid.Problems {
			add(s.asWritten(p))
		}
	}
	if len(problems) > 0 {
		return &job.ValidationError{Problems: problems}
	}
	return nil
}

// asWritten is a problem of the submission, named by the option that made it where one did.
// What could not be read stands in a job file.
func (s *submission) asWritten(p job.Problem) job.Problem {
	place, field, _ := strings.Cut(strings.TrimPrefix(p.Field, "jobs["), "].")
	if i, err := strconv.Atoi(place); err == nil && i < len(s.jobs) && p.Line == 0 {
		if by, ok := s.jobs[i].AsWritten(job.Problem{Field: field, Message: p.Message}); ok {
			return by
		}
	}
	p.Field = s.field(p.Field)
	return p
}

// refused is asWritten for a problem that the servers found.
func (s *submission) refused(p api.Problem) api.Problem {
	by := s.asWritten(job.Problem{Field: p.Field, Message: p.Message})
	if by.Line > 0 {
		by.Field = fmt.Sprintf("line %d: %s", by.Line, by.Field)
	}
	return api.Problem{Field: by.Field, Message: by.Message}
}

// field is what names a field, or a job, without the job where there is one only.
func (s *submission) field(text string) string {
	if len(s.specs) == 1 {
		text = strings.TrimPrefix(strings.TrimPrefix(text, "jobs[0]."), "jobs[0]: ")
	}
	return text
}

func submitCommand(a *app) *cobra.Command {
	origin := flags.Origin{Now: a.now(), Environ: a.environ, Dir: a.dir, Host: a.hostname, Umask: a.umask}
	options := flags.New(origin)
	var s submission
	c := &cobra.Command{
		Use:   "submit [options] FILE [ARG...] | submit [options] -- COMMAND [ARG...]",
		Short: "Submit a job file, a script, or a command",
		Long: `Submit a job file, a script, or a command.

A FILE that begins with "#!" is a script: its "#BERTH" and "#SBATCH" comments have
options, and the ARGs are its own. Any other FILE is a job file, YAML or JSON, of
one job or several. "-" is the standard input. What the options say goes before
what the file says. Options of Slurm that mean nothing here, or something else, are
refused with what to write instead, or warned about on the error output.

Jobs run in the directory where they are submitted, which must be there on the
nodes; --dir names another one, and --dir=own gives each task a folder that is
removed with it. Paths of --output and --error are relative to that directory.

Without --export or --env no variable of the environment goes along: in Slurm all
do, write --export=ALL for that.

Of Slurm's names for options those that mean the same are taken, such as --mem and
--cpus-per-task. Amounts need a unit, as times do: "--mem 4Gi". Berth sends no mail:
--mail-type=NONE on the command line submits a script that asks for some.

A job that can never start, because of what it asks for or of a dependency, is taken,
with a warning. With --wait the exit code is that of the job, or 125: see
"berth wait --help".`,
		Args: command.Args(0, -1), // prepare says what is missing
		Example: `  berth submit --cpu 4 --memory 8Gi --time 2h -- ./simulate --all
  berth submit --array=0-99%10 align.sh
  berth submit pipeline.yaml`,
	}
	c.Flags().SetInterspersed(false)
	options.AddTo(c.Flags())
	c.Flags().BoolVar(&s.check, "check", false, "submit nothing; only say what is wrong")
	c.Flags().StringVar(&s.key, "key", "", "`text` that makes it safe to submit again: with the same one, nothing is submitted twice")
	filled(c, "key")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := a.prepare(c, &s, args, origin, options); err != nil {
			return s.failed(err)
		}
		printWarnings(c, s.warnings)
		return s.failed(a.with(func(c *cobra.Command, servers *client.Client, _ []string) error {
			return a.submit(c, servers, s)
		})(c, nil))
	}
	return c
}

// prepare reads the jobs and completes them. Problems of the jobs are told before
// problems of the connection.
func (a *app) prepare(c *cobra.Command, s *submission, args []string, origin flags.Origin, options *flags.Set) error {
	if len(args) == 0 { // what is refused may say what to write, such as --wrap
		if err := options.Apply(&flags.Job{}); err != nil {
			return err
		}
		return command.Mistake(errors.New(`name a job file or a script, "-" for the standard input, or write "--" and a command; see berth submit --help`))
	}
	jobs, err := readJobs(c.InOrStdin(), args, c.ArgsLenAtDash() == 0, origin)
	if err != nil && len(jobs) == 0 {
		return err
	}
	if err := s.complete(jobs, err, options); err != nil {
		return err
	}
	if s.parsable && a.format == "" {
		a.format = "name"
	}
	return nil
}

// failed is an error as it ends the command: see notTheJobs.
func (s *submission) failed(err error) error {
	if s.wait {
		return notTheJobs(err)
	}
	return err
}

// printWarnings prints each warning once, on the error output: scripts read the other
// one.
func printWarnings(c *cobra.Command, warnings []string) {
	printed := map[string]bool{}
	for _, w := range warnings {
		if !printed[w] {
			fmt.Fprintln(c.ErrOrStderr(), "berth: warning: "+visible(w))
		}
		printed[w] = true
	}
}

// readJobs are the jobs that the arguments name. With a *job.ValidationError come those of a job
// file, as far as they could be read.
func readJobs(stdin io.Reader, args []string, isCommand bool, origin flags.Origin) ([]*flags.Job, error) {
	if isCommand {
		return []*flags.Job{{Spec: job.Spec{Command: args}}}, nil
	}
	in, name := stdin, "the standard input"
	if args[0] != "-" {
		f, err := open(args[0])
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%w; for a command write: berth submit -- %s", err, strings.Join(args, " "))
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in, name = f, args[0]
	}
	data, err := io.ReadAll(io.LimitReader(in, job.MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	// One with a byte order mark is refused as a script.
	if strings.HasPrefix(strings.TrimPrefix(string(data), "\uFEFF"), "#!") {
		j, err := flags.Script(string(data), origin)
		if err != nil {
			return nil, err
		}
		j.Spec.Args = args[1:]
		if j.Spec.Name == "" && args[0] != "-" {
			j.Spec.Name = fileName(args[0])
		}
		return []*flags.Job{j}, nil
	}
	if len(data) <= job.MaxFileSize && !looksLikeJobFile(name, data) {
		return nil, command.Mistakef(`%s is neither a script nor a job file: a script begins with "#!" and its interpreter, such as "#!/bin/sh"`, name)
	}
	if len(args) > 1 {
		return nil, command.Mistakef("%s is a job file and takes no arguments; a script begins with \"#!\"", name)
	}
	specs, err := job.Parse(strings.NewReader(string(data)))
	jobs := make([]*flags.Job, len(specs))
	for i := range specs {
		jobs[i] = &flags.Job{Spec: specs[i]}
	}
	return jobs, err
}

// jobFileStart is the first line of a job file that is neither empty nor a comment.
var jobFileStart = regexp.MustCompile(`^\s*(---|\{|["']?[A-Za-z]+["']?\s*:(\s|$))`)

// looksLikeJobFile reports whether a file that is no script was meant as a job file:
// by its name, or because it begins as one and has no directives.
func looksLikeJobFile(name string, data []byte) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		return true
	}
	for line := range bytes.Lines(data) {
		switch line = bytes.TrimSpace(line); {
		case bytes.HasPrefix(line, []byte("#SBATCH")), bytes.HasPrefix(line, []byte("#BERTH")):
			return false
		case len(line) > 0 && line[0] != '#':
			return jobFileStart.Match(line)
		}
	}
	return false
}

// fileName is a name for the job of a script: that of its file.
func fileName(path string) string {
	s := job.Spec{Command: []string{path}}
	return s.WithDefaults().Name
}

// submit submits the jobs.
func (a *app) submit(c *cobra.Command, servers *client.Client, s submission) error {
	answer, err := servers.Submit(c.Context(), api.SubmitRequest{Jobs: s.specs, Key: s.key, Check: s.check})
	if err != nil {
		var refused *api.Error
		if errors.As(err, &refused) {
			for i, p := range refused.Problems {
				refused.Problems[i] = s.refused(p)
			}
		}
		return err
	}
	for i, w := range answer.Warnings {
		answer.Warnings[i] = s.field(w)
	}
	printWarnings(c, answer.Warnings)
	if answer.Repeated && a.format != "" { // people read it in the answer
		fmt.Fprintln(c.ErrOrStderr(), "berth: nothing is submitted: there was a submission with the same key before, whatever was in it")
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
			fmt.Fprintf(w, "Job %s was submitted before with the same key.\n", strings.Join(names, ", "))
		default:
			fmt.Fprintf(w, "Submitted job %s.\n", strings.Join(names, ", "))
		}
	}})
	if err != nil || !s.wait || s.check {
		return err
	}
	list := make([]one, len(answer.Jobs))
	for i, id := range answer.Jobs {
		list[i].job = id
	}
	return a.wait(c, servers, list)
}
