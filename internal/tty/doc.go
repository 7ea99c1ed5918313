// Package tty passes the foreground of the controlling terminal between process
// groups, as a shell with job control does.
//
// It promises three things:
//   - no call stops the caller, and while another group has the foreground nothing
//     that the caller prints does, also under `stty tostop`: SIGTTOU is ignored in
//     that time. A process that is started in it inherits that;
//   - the foreground is taken back only from the group that it was given to, or from
//     one that is gone: a shell that has taken it meanwhile keeps it;
//   - the modes that go with it are those of the moment when it was given away.
//
// It does not decide who should have the foreground. Source: the launch
// specification, "At a terminal".
package tty
