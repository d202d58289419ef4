// Hello has the engine decide where one workload goes, in twenty lines. The
// README of the repository shows main.go as it is.
package main
