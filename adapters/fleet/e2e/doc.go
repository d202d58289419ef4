// Package e2e is the root of the module that tests a whole fleet: servers, agents and
// tasks as processes on this machine, used as users and operators use them.
//
//   - cluster runs a fleet for a test, and makes trouble for it;
//   - scenario has what users and operators do, story by story: every kind of job,
//     every command;
//   - fault makes faults under load by random choice, and checks that nothing that was
//     promised is broken;
//   - load measures how much a fleet carries;
//   - page uses the web page in a browser;
//   - readme runs the commands of the fleet's README;
//   - vm has tasks exceed their limits, in a virtual machine with control groups.
//
// The module is never released, and is not in the repository's workspace: who wants its
// tests runs these commands in this folder, and .ci/full does, with few faults.
//
//	go test -p 1 ./...                         about ten minutes on two cores
//	go test ./fault -long -timeout 3h          a hundred faults of each kind
//	go test ./fault -seed 42                   the same random choices again
//
// What they want besides is installed from the root of the repository by
//
//	.ci/tools/debian iproute2:ip chromium:chromium qemu-system-x86:qemu-system-x86_64 busybox-static:busybox
//	export BERTH_VM_KERNEL=$(.ci/tools/kernel)
//
// As root, with iproute2, each process has a network namespace of its own; without, all
// is on the loopback, and what needs cut links, full disks or other accounts is left
// out, which the tests say.
package e2e
