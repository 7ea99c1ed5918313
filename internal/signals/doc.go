// Package signals receives signals as the kernel delivers them: each with its sender, in
// the order of arrival.
//
// Go's os/signal passes on neither: its handler notes one bit per signal, so SIGTSTP and
// SIGCONT that come close together are read in the order of their numbers, and who sent
// them is lost. The other way around that costs milliseconds at every start, where this one
// costs some ten microseconds: to read a signalfd, every thread must have the signals
// blocked, so the program would have to execute itself once more.
//
//	kernel ──signal──▶ handler (assembler) ──siginfo──▶ pipe ──▶ Next
//	                      │ the pipe takes nothing
//	                      ▼
//	                   the runtime's handler ──▶ os/signal
//
// The handler makes one system call, a write that does not block, and touches neither
// the runtime nor the C library: no errno, no stack, no g. A signal goes one way or the
// other, never both and never neither: one for which the pipe has no room comes by
// os/signal, without its sender.
//
// Flags, mask and return path are those of the runtime's own handler, whether it is set
// up by the runtime (CGO_ENABLED=0) or through the C library: only the address is another.
// Taken is what that handler has, because signal.Notify asked for it. Hence child
// processes begin with the default, as the runtime resets what it has been asked for, and
// what is ignored stays so.
//
// One Source can be open at a time. It does not decide what a signal means. Elsewhere
// than on Linux on amd64 and arm64, Take says that it is not supported.
//
// Source: the launch specification, "Signals to the launcher".
package signals
