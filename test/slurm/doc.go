// Package slurm runs the launcher as the steps of a real Slurm: `make test-slurm`
// brings one up on this machine from Debian's packages (up.sh), runs jobs of an
// unprivileged user on its logical nodes, and takes it down again (down.sh).
//
// It promises that what docs/CLUSTERS.md and the cluster specification say of Slurm
// was seen on one: places, identities, addresses and ports; every row of the table of
// signals; propagation, requeues and the loop of examples/slurm; and that nothing of a
// job is left behind under linuxproc, pgid and (where it can be had) cgroup.
//
// It needs root and Debian's packages, and says so where they are missing. Several
// machines it does not have: what names and addresses do between hosts is tested in
// network namespaces (test/netns).
package slurm
