// Package flags has the options that fill a job.Spec: those of "berth submit", and
// those that scripts carry in comments, which are the same.
//
//	#!/bin/sh
//	#BERTH --name=align --array=0-99%10
//	#BERTH --cpu 4 --memory 8Gi --time 2h
//	./align "$BERTH_ELEMENT"
//
// # Directives
//
// A line that begins with "#BERTH" and a space has options, with quotes as a shell
// has them, up to a "#" that begins a word. Directives end at the first line that
// is neither a comment nor empty. What stands on the command line goes before what
// the script says: a list that is given there replaces that of the script,
// variables and labels are added one by one.
//
// # Scripts for Slurm
//
// Lines that begin with "#SBATCH" are read, too, with the names and meanings that
// Slurm gives them; "#BERTH" lines of the same script go before them. Most of
// Slurm's names are also known to "berth submit" and "#BERTH", but amounts there
// are Berth's. In "#SBATCH" lines:
//
//   - --mem=4000 is megabytes, and K, M, G and T are powers of 1024; elsewhere 4G
//     is 4000000000 bytes, and a number alone is bytes.
//   - --time=10 is minutes, and --signal=USR1@60 seconds; elsewhere a number needs
//     its unit.
//   - -o and -e are --output and --error. In file names %A is the job, %N the node,
//     and %j the job, too; %x and a width, as in %4a, are refused.
//   - --gpus=N is for the whole job, so it is refused for several tasks: there
//     --gpus-per-task=N says what is meant.
//   - --account, --mail-type, --mail-user, --comment, --wckey, --quiet, --verbose,
//     --parsable, --profile, --acctg-freq, --get-user-env and --propagate are read
//     and mean nothing; so are --nodes=1 and --ntasks-per-node=1. Any other option
//     that is not known is an error that names the line.
//
// What differs from Slurm on all lines: --nodelist names the only nodes that will
// do, not nodes that are all needed; each task has --cpus-per-task, --mem and the
// devices for itself; of --constraint, "a&b" is read and "a|b" is not; the
// environment of who submits goes along only with --export=ALL; and dependencies
// that hold one of several ("?") or a delay ("+") are refused.
package flags
