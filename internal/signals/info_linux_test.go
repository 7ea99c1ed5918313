//go:build amd64 || arm64

package signals

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// info is a siginfo_t as the kernel writes it.
func info(signo, code, pid int32, uid uint32) []byte {
	b := make([]byte, infoSize)
	for at, v := range map[int]uint32{0: uint32(signo), 4: 0, 8: uint32(code), 16: uint32(pid), 20: uid} {
		binary.NativeEndian.PutUint32(b[at:], v)
	}
	return b
}

func TestDecode(t *testing.T) {
	for name, test := range map[string]struct {
		info []byte
		want Signal
	}{
		"kill":                 {info(15, 0, 7, 1000), Signal{15, Sender{Pid: 7, UID: 1000}}},
		"kill, nobody":         {info(15, 0, 7, 4294967294), Signal{15, Sender{Pid: 7, UID: 4294967294}}},
		"tgkill":               {info(15, -6, 7, 0), Signal{15, Sender{Pid: 7}}},
		"sigqueue":             {info(10, -1, 7, 0), Signal{10, Sender{Pid: 7}}},
		"from outside":         {info(15, 0, 0, 0), Signal{15, Sender{}}},
		"a key, a hang-up":     {info(2, 0x80, 0, 0), Signal{2, Sender{Kernel: true}}},
		"timer: a number":      {info(14, -2, 7, 3), Signal{14, Sender{Kernel: true}}},
		"asynchronous input":   {info(29, -5, 7, 3), Signal{29, Sender{Kernel: true}}},
		"a file is ready":      {info(29, 1, 7, 3), Signal{29, Sender{Kernel: true}}},
		"a child, not sent by": {info(17, 1, 7, 3), Signal{17, Sender{Kernel: true}}},
	} {
		if diff := cmp.Diff(test.want, decode(test.info)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}
