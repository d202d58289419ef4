// Package flags has the options that fill a job.Spec: those of "berth submit", and
// those that scripts carry in comments, which are the same.
//
//	#!/bin/sh
//	#BERTH --name=align --array=0-99%10
//	#BERTH --cpu 4 --memory 8Gi --time 2h
//	./align "$BERTH_ARRAY_INDEX"
//
// # Directives
//
// A line that begins with "#BERTH" and a space has options, with quotes as a shell
// has them, up to a "#" that begins a word. Directives end at the first line that
// is neither a comment nor empty. What stands on the command line goes before what
// the script says: a list that is given there replaces that of the script,
// variables and labels are added one by one. Comments that look like directives and
// are not read ("# SBATCH -n 1", "#PBS -N x", any after the first command) are warned
// about; "##SBATCH" is not.
//
// # Where jobs run
//
// What "berth submit" submits, a script, a command or a job file, runs in the
// directory where it is submitted, as sbatch has it: the directory must be there on
// the nodes. --dir names another one, relative to that, and --dir=own a folder that is
// made for each task and removed with it. Paths of --output and --error are relative
// to the working directory. --output without --error takes both streams. What is in
// the files is removed, unless --open-mode=append is given, or another task of the job
// or an earlier try has written it.
//
// The umask of who submits goes along, and with --export=ALL the environment: functions
// that bash has exported and the settings of berth itself, too (BERTH_ADDR, BERTH_CACERT,
// BERTH_CLIENT_CERT, BERTH_CONFIG, BERTH_TOKEN_FILE), which a job needs that submits jobs.
// What cannot go along is named.
//
// # Scripts for Slurm
//
// Lines that begin with "#SBATCH" are read, too, with the names and meanings that
// Slurm gives them; "#BERTH" lines of the same script go before them. Most of
// Slurm's names are also known to "berth submit" and "#BERTH", but amounts there
// are Berth's. In "#SBATCH" lines:
//
//   - --mem=4000 is megabytes, and K, M, G and T are powers of 1024; elsewhere 4G
//     is 4000000000 bytes, and a number needs its unit.
//   - --time=10 is minutes, and --signal=USR1@60 seconds; elsewhere a number needs
//     its unit. --time=0 is no limit, here and there.
//   - --signal=USR1 is for the processes that the shell has started, and
//     --signal=B:USR1 for the shell alone, as elsewhere.
//   - -o and -e are --output and --error. In file names %A is the job and %N the
//     node. %j and %J are the job, too, but in an array the job and the element,
//     "17_3", because each element has a number of its own in Slurm. %n, %s and %b
//     are refused.
//
// Options of Slurm that Berth does not have, or that count otherwise for several
// tasks (--mem, --gres, --gpus), are in one table, words, with what to write instead:
// they are refused, or warned about where it is harmless to go on. The table holds for
// directives and the command line alike. --nodes=1 and --ntasks-per-node=1 mean what
// they say where there is one task. Any other option that is not known is an error
// that names the line.
//
// The file sbatch.md of this module has each option of sbatch, with what happens to it.
package flags
