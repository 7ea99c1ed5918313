package runview

import (
	"os"
	"path/filepath"
	"testing"

	"lenslaunch/internal/proc"
)

// stat is a line of /proc/<pid>/stat with these names and numbers.
const stat = "4711 (a) b) S 12 34 34 0 -1 4194560 1 2 3 4 70 30 9 9 20 0 5 0 777 1000 25 18446744073709551615 1 1 0\n"

func TestParseProcess(t *testing.T) {
	p, ok := parseProcess([]byte(stat))
	want := process{pid: 4711, parent: 12, group: 34, start: 777, state: 'S', ticks: 100, memory: 25 * pageSize()}
	if !ok || p != want {
		t.Errorf("%+v, %v, want %+v", p, ok, want)
	}
	for _, text := range []string{"", "4711", "4711 (a", "4711 (a) S 1 2", "x (a) S 1 1 1 0 0 0 1 2 3 4 70 30 9 9 20 0 5 0 777 1000 25 1",
		"1 (a) SS 1 1 1 0 0 0 1 2 3 4 70 30 9 9 20 0 5 0 777 1000 25 1", "1 (a) S 1 1 1 0 0 0 1 2 3 4 -70 30 9 9 20 0 5 0 777 1000 25 1"} {
		if p, ok := parseProcess([]byte(text)); ok {
			t.Errorf("%q: %+v", text, p)
		}
	}
}

func FuzzParseProcess(f *testing.F) {
	f.Add([]byte(stat))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, ok := parseProcess(text); ok && (p.pid < 0 || p.memory < 0) {
			t.Errorf("%q: %+v", text, p)
		}
	})
}

func TestReadProcesses(t *testing.T) {
	list, err := readProcesses("/proc")
	if err != nil {
		t.Fatal(err)
	}
	self, err := proc.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.pid == self.Pid {
			if p.start != self.Start || p.parent != os.Getppid() || p.memory <= 0 {
				t.Errorf("this process is %+v", p)
			}
			return
		}
	}
	t.Error("this process is not among them")
}

// What is no process, or ends while it is looked at, is passed over.
func TestReadOddProcesses(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"4711": stat, "12": "nonsense", "self": stat, "4712": ""} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name, "stat"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := readProcesses(dir)
	if err != nil || len(list) != 1 || list[0].pid != 4711 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := readProcesses(filepath.Join(dir, "none")); err == nil {
		t.Error("no error")
	}
}
