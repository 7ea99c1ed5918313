// Package oom tells whether the kernel killed a process for memory, which a
// SIGKILL does not say by itself.
//
// Watch notes the kernel's counters before an attempt; Explain compares them after
// a rank has died of a SIGKILL that nobody of us sent:
//
//	oom_kill of the nearest memory group at or above ours grew  -> sure
//	only oom_kill of /proc/vmstat grew                          -> probably
//	neither                                                     -> something else killed it
//
// The nearest group is enough: ranks live in our group or in groups below it for
// which no controller is enabled, so their memory is charged to it. (For the same
// reason memory.events and memory.events.local agree there, and the former exists
// on older kernels too.) The limit is the one that was hit: of the nearest group,
// from ours upwards, whose counter of hits grew or, with version 1, whose peak came
// near it; with no such group in sight (a limit outside of a container, or the
// whole machine) none is named.
//
// It reads files only, starts nothing and holds nothing open. A rank that was moved
// to a memory group of its own, and a launcher in the root group, are seen by the
// counter of the machine alone. Source: the launch specification, "Why SIGKILL";
// the kernel's admin guide to cgroup-v1 memory and cgroup-v2.
package oom
