package runview

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// snapshot is four ranks on one machine, of which one has failed.
func snapshot() Snapshot {
	return Snapshot{
		At: began(), Head: "run-7: running", Restarts: 2, Attempt: "attempt-2", Since: 92 * time.Second, Launcher: "launcher pid 4000 on gpu-01", Live: true,
		Rows: []RankRow{
			{Rank: 0, Pid: 4100, Host: "gpu-01", State: "running", Fate: Running, Up: 90 * time.Second, CPU: 99.6, Memory: 8 << 30, GPU: -1},
			{Rank: 1, Pid: 4101, Host: "gpu-01", State: "in the kernel", Fate: Running, Up: 90 * time.Second, CPU: 0, Memory: 512 << 20, GPU: -1},
			{Rank: 2, Host: "gpu-01", State: "not started yet", Fate: Running, CPU: -1, Memory: -1, GPU: -1},
			{Rank: 3, Pid: 4103, Host: "gpu-01", State: "failed first: exit code 3", Fate: FailedFirst, Up: 80 * time.Second, CPU: -1, Memory: -1, GPU: -1},
		},
		lines: func(rank int) string { return fmt.Sprintf("step %d: 損失 0.%d", 100+rank, rank) },
	}
}

func tableText(s Snapshot, look Look) string { return strings.Join(Table(s, look), "\n") + "\n" }

func TestTable(t *testing.T) {
	golden(t, "table.golden", tableText(snapshot(), Look{}))
}

// A run on several machines with GPUs, in a narrow terminal with little room.
func TestNarrowTable(t *testing.T) {
	s := snapshot()
	s.Hosts, s.GPUs = true, true
	s.Rows[1].Host, s.Rows[1].GPU = "gpu-02", 79<<30
	golden(t, "narrow.golden", tableText(s, Look{Columns: 64, Lines: 6, From: 1, Keys: true}))
}

func TestTableOfNothing(t *testing.T) {
	s := Snapshot{Head: "run-7: running", Live: true}
	if text := tableText(s, Look{}); text != "run-7: running\nup 0ms\n\nno rank has started yet\n" {
		t.Errorf("%q", text)
	}
	s.Problem, s.Live = "stale file handle", false
	if text := tableText(s, Look{}); !strings.Contains(text, "\nlasted 0ms   stale file handle\n") {
		t.Errorf("%q", text)
	}
}

// No line is wider than the terminal, however wide its characters: one that went on in
// the next line would push the head out of sight.
func TestTableFits(t *testing.T) {
	s := snapshot()
	s.lines = func(int) string { return strings.Repeat("損失🙂e\u0301", 50) }
	for columns := 1; columns < 120; columns += 1 + columns/8 {
		for height := 1; height < 10; height++ {
			lines := Table(s, Look{Columns: columns, Lines: height, Keys: true})
			for _, line := range lines {
				if n := cells(line); n > columns {
					t.Fatalf("%d columns in %d: %q", n, columns, line)
				}
			}
			if len(lines) > max(height, aroundRows+1) {
				t.Fatalf("%d lines in %d", len(lines), height)
			}
		}
	}
}

// Style is on a terminal only, and says nothing that the words do not.
func TestTableStyle(t *testing.T) {
	plain, styled := tableText(snapshot(), Look{Columns: 90}), tableText(snapshot(), Look{Columns: 90, Style: true})
	if strings.Contains(plain, "\x1b") || !strings.Contains(styled, "\x1b[1m   3") || !strings.Contains(styled, "\x1b[7mRANK") {
		t.Errorf("%q\n%q", plain, styled)
	}
	var bare []string
	for _, line := range strings.Split(clean(styled), "\n") {
		bare = append(bare, strings.TrimRight(line, " "))
	}
	if strings.Join(bare, "\n") != plain {
		t.Errorf("%q, want %q", strings.Join(bare, "\n"), plain)
	}
}

// Names and output of a hostile worker stay texts on a line.
func TestTableIsPrintable(t *testing.T) {
	d := newDirectory(t)
	d.run.RunID, d.run.Launcher.Host = hostile(), hostile()
	d.begin("attempt-0")
	d.run.Attempts[0].Ranks = hostileRun(1, 1, 1).Attempts[0].Ranks
	d.run.Attempts[0].Host = hostile()
	d.write("attempt-0/rank-0.out", hostile())
	d.save()
	shot, err := NewSampler(d.path, nil).Sample()
	if err != nil {
		t.Fatal(err)
	}
	lines := Table(shot, Look{})
	for _, line := range lines {
		if oneLine(line) != strings.TrimSpace(line) && clean(line) != line {
			t.Errorf("%q", line)
		}
	}
	if !strings.Contains(lines[3], "</pre><script>") {
		t.Errorf("%q", lines[3])
	}
}
