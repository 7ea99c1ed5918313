package signals

import "testing"

func TestSenderString(t *testing.T) {
	for want, s := range map[string]Sender{
		"the kernel": {Kernel: true},
		"a process outside of this container (uid 0)": {},
		"a process outside of this container (uid 7)": {Pid: -1, UID: 7},
		"pid 7 (uid 1000)":                            {Pid: 7, UID: 1000},
		"pid 7 (slurmstepd, uid 0)":                   {Pid: 7, Command: "slurmstepd"},
		`pid 7 (\x1b[2J\n\xff, uid 0)`:                {Pid: 7, Command: "\x1b[2J\n\xff"},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
