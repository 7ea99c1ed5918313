// Package port reserves TCP ports for rank 0's rendezvous store, so that no
// other program on the machine is handed the port between the moment it is
// chosen and the moment the store listens on it, and for as long as the
// reservation lives.
//
// How it holds a port:
//
//	bind(2) on [::]:port, dual stack, WITHOUT SO_REUSEADDR
//	        any other holder, also another reservation, gives EADDRINUSE
//	setsockopt(SO_REUSEADDR) on the socket that is bound
//	        now a store that sets SO_REUSEADDR may bind and listen here
//	never listen(2)
//	        a holder that listens would swallow the ranks' connections
//
// The order is the point. A socket that sets SO_REUSEADDR before it binds lets
// a second reservation in; one that never sets it keeps the store out.
// The kernel gives a bound port to nobody who asks for "any port".
//
// What it does not do: it knows nothing of ranks or attempts, it does not
// protect against a program that sets SO_REUSEADDR and asks for exactly this
// port (rank 0's store is such a program), and it works on Linux only.
//
// Source: the launch specification, "Port", which has the measurements.
package port
