// Package vm runs a fleet of one node in a virtual machine of its own, whose kernel
// has all controllers of control groups (version 2), as the machine that tests run on
// may not. So limits of memory, cpu and processes are tested for real, also where
// they are exceeded, and that tasks have cores of their own.
//
// The machine is qemu with a kernel of Debian's and nothing but three programs:
// berth, busybox, and guest, which is its first process, runs jobs and writes what
// became of them to the console. The test skips where qemu, or a kernel, or busybox
// is not there:
//
//	apt-get install qemu-system-x86 busybox-static
//
// A second machine has the systemd of this one as its first process, and the units of
// deploy/systemd: what they promise to tasks is tested there.
//
// The kernel is the newest in /boot, or the file that BERTH_VM_KERNEL names.
package vm
