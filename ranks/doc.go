// Package ranks decides who is who: how many ranks this node runs, how many
// nodes there are and which one this is, and where rank 0 is reached. It also
// reads the two compact notations that Slurm writes such facts in, host lists
// and tasks per node.
//
// The promise: a world is either right or refused. Whatever is unclear (a node
// without its number, an allocation of several nodes with a launcher on one of
// them, variables left over from another shell) ends in a [UsageError] before
// anything is started, one line that says what is wrong and what would be
// right, and every decision that was taken has a line in [World.Why].
//
//	flags, scheduler's variables, facts of this host
//	        |
//	     Resolve ----> World (nodes, node rank, local ranks, master address)
//	        |
//	        +--------> *UsageError (exit 2)
//
// What it does not do: it reserves no port, asks no scheduler, resolves no name
// and reads no environment but the map it is given. In a Slurm step of several nodes
// it names the head and leaves its address to who can look names up. RANK,
// WORLD_SIZE, MASTER_ADDR and their kind are never read: inherited ones describe
// another launcher. Whatever would need the nodes to talk to each other is refused.
//
// Sources: the cluster specification ("Slurm: where am I?", "Kubernetes",
// "Without a scheduler") and the launch specification (flags); the notations and real
// environments in testdata were taken from Slurm 22.05.8 and 26.05.3.
package ranks
