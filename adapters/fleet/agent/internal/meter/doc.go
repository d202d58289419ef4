// Package meter measures how busy a machine is: it reads counters from /proc, keeps what they
// said for a while, and sums it up over windows of time.
package meter
