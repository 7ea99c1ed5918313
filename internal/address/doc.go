// Package address finds where the other hosts of a job reach its head: a name that
// a scheduler has given becomes an address that is no loopback.
//
//	name --lookup--> addresses --no loopback, no link-local, a route here--> one
//	                     |
//	                     +-- only loopback: right if all hosts of the job are this
//	                         one, else an error that says what was found
//
// It promises that an address which it returns is of a form that leads to the head
// from here. It sends nothing: whether anybody answers is seen by who connects. A
// name is looked up as programs of this host would: by Go's resolver, and where that
// finds nothing by getent, which knows the plug-ins of the C library (nss_slurm).
//
// What it does not do: it decides no rank and no port, and asks no scheduler.
//
// Source: the cluster specification, "Slurm: where am I?" (Address).
package address
