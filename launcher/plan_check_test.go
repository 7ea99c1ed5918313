package launcher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/carrier"
)

// What no exec would take is found before the first process, and named.
func TestSizeChecks(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	tests := []struct {
		name   string
		change func(*draft)
		want   []string
	}{
		{
			"a carrier of 200 KB", func(d *draft) { d.with(carrier.Variable + "=a=1,team.notes=" + long(200_000) + ",z=2") },
			[]string{carrier.Variable, "team.notes", "131072"},
		},
		{
			"an attribute of 200 KB", func(d *draft) { d.Attrs = []attribute.KeyValue{attribute.String("note", long(200_000))} },
			[]string{carrier.Variable, "note with 200005 bytes"},
		},
		{
			"only encoded is it too long", func(d *draft) { d.Attrs = []attribute.KeyValue{attribute.String("path", strings.Repeat("/", 50_000))} },
			[]string{carrier.Variable, "path"},
		},
		{
			"many small ones", func(d *draft) {
				var keys []string
				for i := range 10_000 {
					keys = append(keys, "key."+itoa(i)+"=some value")
				}
				d.with(carrier.Variable + "=" + strings.Join(keys, ","))
			},
			[]string{carrier.Variable, "131072"},
		},
		{"--env", func(d *draft) { d.SetEnv = []EnvVar{{"NOTES", long(131_072)}} }, []string{"NOTES", "131072"}},
		{"--env for the last rank only", func(d *draft) { d.SetEnv = []EnvVar{{"LAST", long(131_065) + "%r"}} }, []string{"LAST"}},
		{"--role", func(d *draft) { d.Role = long(140_000) }, []string{"ROLE_NAME"}},
		{"--run-id", func(d *draft) { d.RunID = long(140_000) }, []string{"RUN_ID"}},
		{"an argument", func(d *draft) { d.Command = append(d.Command, "-c", long(131_072)) }, []string{"argument", "131072", "file"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 11) // ranks 0 to 10: the last number is the longest
			tt.change(d)
			failure := d.refused(t)
			if failure.Code != ExitUsage {
				t.Errorf("code %d", failure.Code)
			}
			for _, word := range tt.want {
				if !strings.Contains(failure.Error(), word) {
					t.Errorf("%.300q does not say %q", failure.Error(), word)
				}
			}
			if len(failure.Error()) > 1000 {
				t.Errorf("the message has %d bytes", len(failure.Error()))
			}
		})
	}
}

// The longest that fits is not refused.
func TestSizeLimitIsExact(t *testing.T) {
	fits := strings.Repeat("x", maxString-len("NOTES=")-1)
	d := newDraft(t, 1)
	d.SetEnv = []EnvVar{{"NOTES", fits}}
	d.plan(t)
	d.SetEnv = []EnvVar{{"NOTES", fits + "x"}}
	if failure := d.refused(t); failure.Code != ExitUsage {
		t.Errorf("code %d", failure.Code)
	}
	d.SetEnv = nil
	d.Command = append(d.Command, strings.Repeat("x", maxString-1))
	d.plan(t)
}

// COMMAND is looked for as the workers would: along their PATH, from their directory.
func TestCommandIsFoundAsTheWorkersWould(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tool", "data"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		command string
		change  func(*draft)
		want    string // resolved, "" for a failure
		code    int
	}{
		{"--env PATH", "tool", func(d *draft) { d.SetEnv = []EnvVar{{"PATH", dir}} }, filepath.Join(dir, "tool"), 0},
		{"the launcher's PATH", "tool", func(d *draft) { d.Env["PATH"] = dir }, filepath.Join(dir, "tool"), 0},
		{"--unset-env PATH", "tool", func(d *draft) { d.Env["PATH"] = dir; d.UnsetEnv = []string{"PATH"} }, "", ExitNotFound},
		{"--chdir", "./tool", func(d *draft) { d.Dir = dir }, "./tool", 0},
		{"--chdir with a placeholder", "./tool", func(d *draft) { d.Dir = filepath.Dir(dir) + "/%i"; d.RunID = filepath.Base(dir) }, "./tool", 0},
		{"not executable", "./data", func(d *draft) { d.Dir = dir }, "", ExitNotExecutable},
		{"a directory", dir, func(*draft) {}, "", ExitNotExecutable},
		{"nothing", "no-such-program", func(*draft) {}, "", ExitNotFound},
		{"empty", "", func(*draft) {}, "", ExitUsage},
		{"--chdir to nowhere", "./tool", func(d *draft) { d.Dir = dir + "/none" }, "", ExitUsage},
		{"--chdir to a file", "./tool", func(d *draft) { d.Dir = dir + "/tool" }, "", ExitUsage},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDraft(t, 2)
			d.Command = []string{tt.command}
			tt.change(d)
			if tt.code != 0 {
				if failure := d.refused(t); failure.Code != tt.code {
					t.Errorf("code %d, want %d: %v", failure.Code, tt.code, failure)
				}
				return
			}
			if p := d.plan(t); p.program != tt.want {
				t.Errorf("program %q, want %q", p.program, tt.want)
			}
		})
	}
}

// `lenslaunch env` may come without a command.
func TestPlanWithoutCommand(t *testing.T) {
	d := newDraft(t, 2)
	d.Command = nil
	if p := d.plan(t); p.program != "" {
		t.Errorf("program %q", p.program)
	}
}

// A directory that only some ranks have is as wrong as one that none has.
func TestDirectoryOfEveryRankIsChecked(t *testing.T) {
	base := t.TempDir()
	if err := os.Mkdir(filepath.Join(base, "rank-0"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := newDraft(t, 2)
	d.Dir = base + "/rank-%r"
	failure := d.refused(t)
	if failure.Code != ExitUsage || !strings.Contains(failure.Error(), "rank-1") {
		t.Errorf("%d: %v", failure.Code, failure)
	}
}
