// Package cgroup gives an attempt a control group (version 2) of its own, so that
// its whole process tree can be counted, signalled and ended: children,
// grandchildren and daemons that called setsid.
//
//	Find -> *Parent        our own group, if groups can really be made below it
//	  Create -> *Group     one per attempt: lenslaunch-<pid>-<start>-<n>
//	    Sub -> *Group      one per rank; its FD goes to SysProcAttr.CgroupFD
//
// Promises:
//   - What Find returns has been tried, not guessed: a group was made, a process
//     was cloned into it, and the group was removed again. Pure version 2, hybrid
//     hierarchies, delegated subtrees and containers are told apart from
//     /proc/self/mountinfo and /proc/self/cgroup alone; the error says in one line
//     why there is none.
//   - A process is signalled only while it is in the group (a pidfd, then a second
//     look at the membership): never one that got a recycled pid.
//   - Waiting goes by the kernel's events and holds no thread.
//
// It never enables a controller (so nothing is accounted or limited anew), never
// moves a process that exists, and ends nothing outside the group. A process that
// has the right to leave the group (root may write to another cgroup.procs) and
// does so is no longer ours. Kernel: 5.7 for the clone into a group; cgroup.kill
// (5.14) is used where it is.
//
// The parsers (Places, Field) are exported for other readers of the hierarchy and
// work on every system. Source of the rules: the launch specification, "The
// tree"; formats: proc_pid_mountinfo(5), cgroups(7) and the kernel's admin guide.
package cgroup
