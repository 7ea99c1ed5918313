package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// writes keeps every Write apart: one message must be one.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestTextLog(t *testing.T) {
	var got writes
	log := newLogger(&got, "text", slog.LevelDebug)
	log.Info("continuing run-7")
	log.Debug("rank started", "rank", 3, "pid", 17)
	log.Warn("the port is taken", "cause", errors.New("address in use"))
	log.Error("two\nlines\r\n", "text", "a\nb", "empty", "", "uptime", 1500*time.Millisecond, "list", []int{1, 2}, "equals", "a=b")
	log.With("attempt", 1).WithGroup("g").With("node", "n 1").Info("with", "k", "v")
	want := writes{
		"lenslaunch: continuing run-7\n",
		"lenslaunch: rank started rank=3 pid=17\n",
		"lenslaunch: warning: the port is taken cause=\"address in use\"\n",
		"lenslaunch: two\\nlines\\r\\n text=\"a\\nb\" empty=\"\" uptime=1.5s list=\"[1 2]\" equals=\"a=b\"\n",
		"lenslaunch: with attempt=1 node=\"n 1\" k=v\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLogLevels(t *testing.T) {
	all := func(log *slog.Logger) {
		log.Debug("d")
		log.Info("i")
		log.Warn("w")
		log.Error("e")
	}
	tests := []struct {
		flags []string
		want  string
	}{
		{nil, "lenslaunch: i\nlenslaunch: warning: w\nlenslaunch: e\n"},
		{[]string{"-q"}, "lenslaunch: e\n"},
		{[]string{"-v"}, "lenslaunch: d\nlenslaunch: i\nlenslaunch: warning: w\nlenslaunch: e\n"},
	}
	for _, tt := range tests {
		level, format, err := readMessages(given(t, nil, tt.flags...))
		if err != nil || format != "text" {
			t.Fatalf("%q: format %q, %v", tt.flags, format, err)
		}
		var got bytes.Buffer
		all(newLogger(&got, format, level))
		if diff := cmp.Diff(tt.want, got.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.flags, diff)
		}
	}
}

// As JSON each message is one object on one line, with level and facts apart.
func TestJSONLog(t *testing.T) {
	var got writes
	newLogger(&got, "json", slog.LevelInfo).Warn("two\nlines", "rank", 3)
	newLogger(&got, "json", slog.LevelInfo).Debug("unseen")
	if len(got) != 1 || strings.Count(got[0], "\n") != 1 {
		t.Fatalf("not one line in one write: %q", got)
	}
	var message map[string]any
	if err := json.Unmarshal([]byte(got[0]), &message); err != nil {
		t.Fatal(err)
	}
	if _, err := time.Parse(time.RFC3339Nano, message["time"].(string)); err != nil {
		t.Error(err)
	}
	delete(message, "time")
	if diff := cmp.Diff(map[string]any{"level": "WARN", "msg": "two\nlines", "rank": 3.0}, message); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
