// Package readme runs the commands of the fleet's README on a real fleet.
//
// A command is a line of an indented block, or words in backquotes that begin with a
// program's name. They are run one after the other as they are written, by a shell whose
// "berth" is the one that was built. What cannot run as it is written, such as "useradd"
// or the name of a host, is in the table of replacements in readme_test.go, with the
// reason. A command of a program that the test does not know, and a replacement for a
// command that is not in the README any more, fail the test.
package readme
