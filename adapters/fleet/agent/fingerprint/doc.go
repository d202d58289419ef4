// Package fingerprint finds out what a machine is: its processors, memory, disk,
// devices and system. It reads /proc, /sys and the answer of nvidia-smi; where these
// are is a parameter, so that recorded machines can be read in tests.
//
// It is about what tasks may use. A processor here is a hardware thread, as the
// kernel counts them, of those that the agent itself may run on.
package fingerprint
