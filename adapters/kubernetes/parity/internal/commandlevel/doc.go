// Package commandlevel compares the command berth-scheduler with kube-scheduler 1.37.1:
// its flags, by name, default, type, group and text, and the feature gates behind them,
// with all their versions. What is different on purpose is in a list, with the reason.
//
// It has tests alone.
package commandlevel
