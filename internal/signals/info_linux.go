//go:build amd64 || arm64

package signals

import (
	"encoding/binary"
	"syscall"
)

// infoSize is the size of the kernel's siginfo_t. A pipe takes and gives as much as a
// whole.
const infoSize = 128

// Codes of a siginfo_t whose pid and uid say who sent the signal (sigaction(2)). Those of
// kill and tgkill are the kernel's word, those of sigqueue the sender's.
const (
	byKill     = 0
	bySigqueue = -1
	byTgkill   = -6
)

// decode reads a siginfo_t of a signal that a process may send: si_signo, si_errno,
// si_code, then aligned to 8 bytes si_pid and si_uid. With other codes, where there are
// other things in place of a pid, it was the kernel: those above 0 are keys, hang-ups and
// limits, those below are timers and input that a program has asked for.
func decode(info []byte) Signal {
	field := func(at int) int { return int(int32(binary.NativeEndian.Uint32(info[at:]))) }
	sig := Signal{Number: syscall.Signal(field(0))}
	switch field(8) {
	case byKill, bySigqueue, byTgkill:
		sig.Sender.Pid, sig.Sender.UID = field(16), int(uint32(field(20)))
	default:
		sig.Sender.Kernel = true
	}
	return sig
}
