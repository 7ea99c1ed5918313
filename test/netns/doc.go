// Package netns runs launchers on two hosts, each in a network namespace with a hosts
// file of its own: `make test-netns`. It promises that the address of the head which the
// launchers choose is one that its ranks reach: where names lead to loopback, resolve on
// one side only, lead to one of two networks, or to IPv6 alone; and that a port which is
// taken on the head is said with its holder.
//
// It needs root and iproute2, and says so where they are missing. No scheduler runs: the
// step is that of the variables which a real one sets (see test/slurm).
package netns
