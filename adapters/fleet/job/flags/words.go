package flags

import "strings"

// A verdict says what happens to a job with an option.
type verdict int

const (
	fine    verdict = iota // it means here what it means in Slurm
	warned                 // it is submitted, with a warning
	several                // it is refused where it has several tasks
	refused                // it is refused
)

// word is what is said about an option of Slurm that Berth does not have, or that has
// another meaning here.
type word struct {
	name, short string
	// also are other options, by spaces, of which the same is said. They have no short
	// names.
	also string
	// bare: Slurm takes it without a value, too.
	bare    bool
	verdict verdict
	// judge, where it is not nil, decides by the value.
	judge func(value string) verdict
	text  string
}

// words are the options of Slurm that do not mean here what they mean there, on the
// command line as in directives. The order of the verdicts: what counts otherwise is
// refused where that makes a difference; what somebody would wait for in vain, or
// what changes what runs, is refused; what only changes how fast it runs, or what is
// noted about it, is warned about.
//
// A name of a Berth option is here where it has a meaning in Slurm that is another one
// for several tasks.
var words = []word{
	// Amounts that Slurm counts for a node, or for the job.
	{name: "mem", verdict: several, text: "Slurm counts it for a node, and Berth for each task: write --memory or --mem-per-cpu"},
	{name: "tmp", verdict: several, text: "Slurm counts it for a node, and Berth for each task: write --disk"},
	{name: "gres", verdict: several, text: "Slurm counts it for a node, and Berth for each task: write --gpus-per-task and --resource"},
	{name: "gpus", verdict: several, text: "Slurm counts it for all tasks together, and Berth for each: write --gpus-per-task"},
	{name: "gpus-per-node", verdict: several, text: "Slurm counts it for a node, and Berth for each task: write --gpus-per-task"},
	{name: "nodes", short: "N", also: "ntasks-per-node", judge: onlyOne, text: "tasks go to any nodes that have room: --ntasks says how many tasks there are, --same-label=node puts all on one node, --spread=node spreads them"},
	{name: "gpus-per-socket", verdict: refused, text: "write --gpus-per-task"},
	{name: "cpus-per-gpu", also: "mincpus", verdict: refused, text: "write --cpus-per-task"},
	{name: "mem-per-gpu", verdict: refused, text: "write --memory, for each task"},
	{name: "ntasks-per-gpu", verdict: refused, text: "write --ntasks and --gpus-per-task; --gpu-share is for tasks that share a device"},
	{name: "ntasks-per-core", also: "ntasks-per-socket", verdict: refused, text: "write --ntasks and --cpus-per-task"},
	{name: "tres-per-task", verdict: refused, text: "write --cpus-per-task, --memory, --gpus-per-task and --resource"},

	// What somebody would wait for in vain.
	{name: "mail-type", judge: unless("NONE"), text: "Berth sends no mail: wait with --wait or \"berth wait\", or follow \"berth events\"; --mail-type=NONE on the command line submits the script as it is"},

	// What Berth does by another name.
	{name: "licenses", short: "L", verdict: refused, text: "write --resource=name=number, which nodes offer"},
	{name: "switches", also: "segment", verdict: refused, text: "write --same-label with the label of a rack or a switch"},
	{name: "consolidate-segments", bare: true, verdict: refused, text: "Berth has no segments: write --same-label with the label of what all tasks are to be in"},
	{name: "spread-segments", bare: true, verdict: refused, text: "Berth has no segments: write --spread with the label of a rack or a block"},
	{name: "spread-job", bare: true, verdict: refused, text: "write --spread=node"},
	{name: "test-only", bare: true, verdict: refused, text: "write --check on the command line"},
	{name: "wrap", verdict: refused, text: "write the command after a double dash: berth submit -- sh -c '...'"},
	{name: "exclusive", bare: true, verdict: refused, text: "Berth gives no whole nodes: --cpus-per-task gives as many cores to the task alone"},
	{name: "nodefile", short: "F", verdict: refused, text: "write --nodelist with the names"},
	{name: "no-kill", short: "k", bare: true, verdict: refused, text: "write --keep-going: the failure of one task does not end the others"},
	{name: "input", short: "i", verdict: refused, text: "the standard input is /dev/null: write \"< file\" in the script"},
	{name: "qos", short: "q", verdict: refused, text: "Berth has no QOS: priorities and limits are those of a queue, --queue"},
	{name: "export-file", verdict: refused, text: "write --export or --env"},
	{name: "gid", verdict: refused, text: "the groups are those of the account, --user"},
	{name: "container", also: "container-id", verdict: refused, text: "start the container in the script, with its own command"},
	{name: "time-min", verdict: refused, text: "a job has one time limit, --time"},

	// What Berth does not have, and what runs would be another thing without.
	{name: "bb", also: "bbf", verdict: refused, text: "Berth has no burst buffers"},
	{name: "clusters", short: "M", also: "cluster-constraint", verdict: refused, text: "Berth has one fleet; --addr says which servers are asked"},
	{name: "batch", verdict: refused, text: "the script runs in every task: write --constraint"},
	{name: "extra-node-info", short: "B", also: "sockets-per-node cores-per-socket", verdict: refused, text: "Berth does not choose nodes by sockets and cores: write --constraint with a label"},
	{name: "mcs-label", verdict: refused, text: "Berth has no MCS labels"},
	{name: "resources", verdict: refused, text: "Berth has no resources of a hierarchy, such as a rack's: write --resource=name=number for what nodes offer"},
	{name: "network", verdict: refused, text: "Berth does not set up networks"},
	{name: "overcommit", short: "O", bare: true, verdict: refused, text: "a core is given once: write --cpu=0.5 for half a core"},
	{name: "reboot", bare: true, verdict: refused, text: "Berth does not reboot nodes"},
	{name: "resv-ports", bare: true, verdict: refused, text: "Berth reserves no ports"},
	{name: "stepmgr", bare: true, verdict: refused, text: "Berth has no job steps"},
	{name: "x11", bare: true, verdict: refused, text: "Berth has no X11 forwarding"},

	// What changes nothing but how fast it runs.
	{name: "contiguous", bare: true, verdict: warned, text: "means nothing: --same-label keeps tasks near to each other"},
	{name: "core-spec", short: "S", also: "thread-spec", verdict: warned, text: "means nothing: nodes reserve cores by their own settings"},
	{name: "cpu-freq", also: "gpu-freq power", verdict: warned, text: "means nothing: Berth leaves the frequency to the node"},
	{name: "delay-boot", verdict: warned, text: "means nothing: Berth does not boot nodes"},
	{name: "distribution", short: "m", also: "hint mem-bind tres-bind", verdict: warned, text: "means nothing: agents pin whole cores, near to each other"},
	{name: "threads-per-core", verdict: warned, text: "means nothing: a core of --cpus-per-task is a hardware thread"},
	{name: "gpu-bind", also: "gres-flags", verdict: warned, text: "means nothing: CUDA_VISIBLE_DEVICES has the devices of the task"},
	{name: "oversubscribe", short: "s", bare: true, verdict: warned, text: "means nothing: tasks share nodes, and whole cores are not shared"},
	{name: "use-min-nodes", bare: true, verdict: warned, text: "means nothing: tasks go to any nodes that have room"},
	{name: "oom-kill-step", bare: true, verdict: warned, text: "means nothing: a task that is out of memory is always killed as a whole"},
	{name: "wait-all-nodes", verdict: warned, text: "means nothing: all tasks start or none"},

	// What is noted about a job, or printed.
	{name: "account", short: "A", verdict: warned, text: "means nothing: operators say which account a user belongs to"},
	{name: "mail-user", verdict: warned, text: "means nothing: Berth sends no mail"},
	{name: "comment", also: "extra wckey", verdict: warned, text: "is not kept: --label=key=value is"},
	{name: "profile", verdict: warned, text: "means nothing: \"berth job\" shows what was used"},
	{name: "acctg-freq", verdict: warned, text: "means nothing: usage is measured all the time"},
	{name: "quiet", short: "Q", bare: true, verdict: warned, text: "means nothing: -o name prints the number alone"},
	{name: "verbose", short: "v", bare: true, verdict: warned, text: "means nothing: \"berth explain\" says why a job waits"},
	{name: "get-user-env", bare: true, verdict: warned, text: "means nothing: begin the script with \"#!/bin/bash -l\" for the environment of a login"},
	{name: "propagate", bare: true, verdict: warned, text: "means nothing: limits of this shell do not go along"},
	{name: "ignore-pbs", bare: true, verdict: fine},
}

// onlyOne: one node is enough for one task, and Berth does not count further.
func onlyOne(value string) verdict {
	if value == "1" || value == "1-1" {
		return several
	}
	return refused
}

// unless refuses all values but one.
func unless(only string) func(string) verdict {
	return func(value string) verdict {
		if strings.EqualFold(value, only) {
			return fine
		}
		return refused
	}
}

var wordsByName = func() map[string]*word {
	byName := map[string]*word{}
	for i := range words {
		for _, name := range words[i].names() {
			byName[name] = &words[i]
		}
	}
	return byName
}()

// names are all options that the word is about.
func (w *word) names() []string { return append([]string{w.name}, strings.Fields(w.also)...) }

// otherOptions are those that there is a word to say about, and that are not among
// the options.
func otherOptions(options []*option) []*option {
	known := map[string]bool{}
	for _, o := range options {
		for _, name := range o.names() {
			known[name] = true
		}
	}
	var others []*option
	for i := range words {
		w := &words[i]
		for k, name := range w.names() {
			if known[name] {
				continue
			}
			o := &option{name: name, hidden: true}
			if k == 0 {
				o.short = w.short
			}
			if w.bare {
				o.bare = "true"
			}
			others = append(others, o)
		}
	}
	return others
}

// say does with the job what the word says about its option, which was given under a
// name.
func (r *reading) say(w *word, key, name, value string) {
	v := w.verdict
	if w.judge != nil {
		v = w.judge(value)
	}
	switch v {
	case warned:
		r.warn(name, "%s", w.text)
	case several, refused:
		p := r.at(name)
		if v == several {
			p.Message += "the job has several tasks; "
		}
		p.Message += w.text
		r.job.refusals = append(r.job.refusals, refusal{key: key, problem: p, several: v == several})
	}
}
