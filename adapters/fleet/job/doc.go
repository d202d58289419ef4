// Package job has the nouns that a fleet's users speak of: the job and what it
// asks for, its elements and tasks, and the states and reasons of both. It is
// plain data that is read from files, checked, and stored; it does nothing.
//
// [Parse] reads a job file, [Check] looks at the jobs of a submission, and
// [Spec.WithDefaults] gives every field its value. Package flags fills a Spec from
// the options of a command line and from the comments of a script. Nothing here
// reads a clock or a file by itself, so that servers can use all of it in what they
// replicate.
//
// # Vocabulary
//
//	Spec        what a user asks for: a command, resources, conditions
//	job         a Spec with a number, from its submission to its end
//	element     one index of an array; a job that is no array has one, number 0
//	attempt     one try to run an element, from 1; a retry is the next one
//	task        one process of an attempt: rank 0 to Tasks-1, each on its node
//	gang        the tasks of an attempt, where there is more than one: all start
//	            or none does
//	TaskID      names a task: job_element.attempt.rank
//	State       where an element is on its way, in the words of batch systems
//	Reason      why an element waits
//	queue       a named class of jobs with limits of its own
package job
