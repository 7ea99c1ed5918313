// Package notify receives what a worker says of itself by the convention of
// sd_notify(3): datagrams of KEY=VALUE lines to the socket that NOTIFY_SOCKET names.
// Libraries for Python, C and Go speak it, so a training script needs nothing of ours.
//
//	worker --(datagram, the kernel adds pid and uid)--> Socket.Receive --> callback
//
// Promises:
//   - One Socket per rank: who speaks is known by where it arrives, also when a
//     data-loader worker or a shell in between sends it.
//   - The socket is a file with a short path in a directory that only this user can
//     enter, not an abstract name: an abstract name asks for no permission, so anybody
//     on the machine could fill its queue and make a rank block; and it belongs to a
//     network namespace, which a worker may have left.
//   - The kernel attests the sender. What another user sent is ignored, and no
//     descriptor that a sender attaches ever enters the launcher: the kernel closes it,
//     which is what sd_notify_barrier(3) waits for.
//   - A message is at most 4 KiB, as with systemd; longer ones are ignored as a whole.
//   - A waiting Socket holds a goroutine, no thread.
//
// It does not decide what a message is good for, keeps no state of a rank, and does
// not reach workers in another mount namespace unless the directory is mounted there.
// Not supported of the convention: FDSTORE, MAINPIDFD, NOTIFYACCESS.
//
// Source of the rules: issue 3, "Hang detection", and the launch specification
// (--hang-timeout, --stop-timeout-max); sd_notify(3) for the keys.
package notify
