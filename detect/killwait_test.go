package detect

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestParseKillWait(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"KillOnBadExit           = 0\nKillWait                = 30 sec\nLaunchParameters        = (null)\n": 30 * time.Second,
		"KillWait=5 sec":     5 * time.Second,
		"KillWait = 0 sec\n": 0,
	} {
		if got, ok := parseKillWait(text); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "UnkillableStepTimeout = 60 sec", "KillWait = soon", "KillWait = -5 sec", "KillWait = 99999999 sec"} {
		if got, ok := parseKillWait(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzParseKillWait(f *testing.F) {
	f.Add("KillWait = 30 sec\n")
	f.Fuzz(func(t *testing.T, text string) {
		if got, ok := parseKillWait(text); ok && (got < 0 || got > 65535*time.Second) {
			t.Errorf("%v", got)
		}
	})
}

// scontrol puts a program of that name on the PATH.
func scontrol(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if script != "" {
		if err := os.WriteFile(filepath.Join(dir, "scontrol"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

func TestKillWait(t *testing.T) {
	scontrol(t, `[ "$*" = "show config" ] && echo "KillWait                = 45 sec"`)
	if wait, from := KillWait(context.Background()); wait != 45*time.Second || from != "scontrol show config" {
		t.Errorf("%v from %s", wait, from)
	}
	for name, script := range map[string]string{
		"there is none": "", "it fails": "exit 1", "it says nothing": "true",
	} {
		scontrol(t, script)
		if wait, from := KillWait(context.Background()); wait != 30*time.Second || from == "scontrol show config" {
			t.Errorf("%s: %v from %s", name, wait, from)
		}
	}
}
