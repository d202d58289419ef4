// Package deploy has what an operator installs: systemd units, and the settings of a
// fleet of three servers. Its test sees that they are what the program reads.
package deploy
