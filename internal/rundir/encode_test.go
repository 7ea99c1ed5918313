package rundir

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestEncodeLine(t *testing.T) {
	tests := map[string]string{
		"":               `""`,
		"plain":          `"plain"`,
		"a\nb\tc":        `"a\nb\tc"`,
		"<module> & co":  `"<module> & co"`,
		"\x00\x1b[0m":    `"\u0000\u001b[0m"`,
		"\x7f":           `"\u007f"`,
		"\u0080\u009f":   `"\u0080\u009f"`,
		"\u00a0é":        "\"\u00a0é\"",
		"\xc2":           `"\ufffd"`,
		"\xff\xfe":       `"\ufffd\ufffd"`,
		"\u2028":         `"\u2028"`,
		"日本\u009b31m後":   "\"日本\\u009b31m後\"",
		"\xed\xa0\x80":   `"\ufffd\ufffd\ufffd"`,
		"quote \" \\ \r": `"quote \" \\ \r"`,
	}
	for text, want := range tests {
		got, err := encodeLine(text)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "line", string(got), want+"\n")
	}
}

func FuzzEncodeLine(f *testing.F) {
	f.Add("a\x7f\u0085\xc2\x80\xc2")
	f.Fuzz(func(t *testing.T, text string) {
		line, err := encodeLine(map[string]string{"k": text})
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(line) || strings.Count(string(line), "\n") != 1 {
			t.Errorf("it is no line: %q", line)
		}
		for _, r := range strings.TrimSuffix(string(line), "\n") {
			if r < ' ' || r >= 0x7f && r < 0xa0 {
				t.Errorf("%q has the control character %U", line, r)
			}
		}
		var back map[string]string
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatal(err)
		}
		plain, _ := json.Marshal(text)
		var want string
		_ = json.Unmarshal(plain, &want)
		wantEqual(t, "text", back["k"], want)
	})
}

func TestClip(t *testing.T) {
	tests := []struct {
		text string
		size int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abcd", 3, "abc [cut]"}, {"aéb", 2, "a [cut]"}, {"é", 2, "é"},
		{"日本", 4, "日 [cut]"}, {"日本", 5, "日 [cut]"}, {"\x80\x80\x80\x80\x80\x80", 5, "\x80 [cut]"}, {"😀😀", 7, "😀 [cut]"},
	}
	for _, tt := range tests {
		wantEqual(t, "clip", clip(tt.text, tt.size), tt.want)
	}
	wantEqual(t, "lines", clipLines([]string{"a", "b", "c"}, 2), []string{"b", "c"})
}

// fullRun has everything that can be said.
func fullRun() Run {
	code, count := 3, int64(5)
	return Run{
		Schema: Schema, RunID: "run-7", JobUUID: "j", Command: Command{"python", 2}, Role: "trainer", Nodes: 2, Node: 1, WorldSize: 4, Ranks: 2,
		Started: testTime, Ended: testTime.Add(1), Outcome: OutcomeFailed, ExitCode: &code, Problem: "p", Invocation: 2, Why: []string{"a", "b"}, Dropped: 1,
		Launcher: Launcher{Pid: 1, Start: 2, Host: "h", Version: "v", Boot: "b", PidNS: "n"},
		Attempts: []AttemptRecord{
			{Name: "attempt-0", Began: testTime, Trimmed: true, Ranks: []RankRecord{}},
			{
				Name: "attempt-2-st1", Number: 1, Invocation: 2, RunID: "run-7", UUID: "u", RestartCount: &count, Host: "h", MasterAddr: "m", MasterPort: 29500,
				Began: testTime, Ended: testTime, Outcome: OutcomeFailed, Simultaneous: 2, Failed: []int{3, 2}, Stopped: []int{1}, Signal: "SIGTERM",
				Cause: &CauseRecord{Rank: 3, Local: 1, Node: 1, Pid: 9, At: testTime, ExitCode: &code, Signal: "SIGKILL", Reason: "oom", Why: "w", Message: "m\n", Stderr: []string{"]}", "\x1b"}, Unseen: true},
				Left:  []LeftRecord{{1, "sh", "D"}}, Next: &NextRecord{true, 5, "restart"}, Warnings: []string{"x"}, Env: map[string]string{"MASTER_PORT": "29500"},
				Ranks: []RankRecord{
					{Rank: 2, Local: 0, Node: 1, Pid: 8, Start: 7, Started: testTime, Ended: testTime, ExitCode: &code, Reason: "exit", Env: map[string]string{"RANK": "2"}},
					{Rank: 3, Local: 1, Node: 1, Pid: 9, Signal: "SIGKILL"},
				},
			},
		},
	}
}

func TestRunRoundTrip(t *testing.T) {
	for _, want := range []Run{fullRun(), {Schema: Schema, Attempts: []AttemptRecord{}}} {
		text, err := encodeRun(&want)
		if err != nil {
			t.Fatal(err)
		}
		var got Run
		if err := decodeRun(text, &got); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// One line for every attempt and every rank: what grep and tail find is whole.
func TestRunLayout(t *testing.T) {
	r := fullRun()
	text, err := encodeRun(&r)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, prefix := range []string{`{"schema":1,`, `{"name":"attempt-0",`, `{"name":"attempt-2-st1",`, `{"rank":2,`, `{"rank":3,`, `]}`} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], prefix) {
			t.Errorf("line %d of\n%s\ndoes not begin with %s", i, text, prefix)
		}
	}
	wantEqual(t, "lines", len(lines), 6)
}

func TestOwnVariables(t *testing.T) {
	vars := map[string]string{
		"RANK": "0", "LENSLAUNCH_ATTEMPT": "1", "TORCHELASTIC_RUN_ID": "r", "CUDA_VISIBLE_DEVICES": "0", "OMP_NUM_THREADS": "4",
		"AWS_SECRET_ACCESS_KEY": "s", "OTEL_RESOURCE_ATTRIBUTES": "a=b", "HF_TOKEN": "t", "PATH": "/bin", "rank": "x", "": "",
	}
	want := map[string]string{"RANK": "0", "LENSLAUNCH_ATTEMPT": "1", "TORCHELASTIC_RUN_ID": "r", "CUDA_VISIBLE_DEVICES": "0", "OMP_NUM_THREADS": "4"}
	wantEqual(t, "variables", ownVariables(vars), want)
	wantEqual(t, "none", ownVariables(map[string]string{"A": "b"}), map[string]string(nil))
}
