package otlpfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A mistyped name costs nothing: what is no OTLP/JSON is left as it is, with its mode.
func TestForeignFileIsLeftAlone(t *testing.T) {
	for _, text := range []string{
		"#!/usr/bin/env python3\nimport torch\nmain()", "{}", " ", "\n", `{"resource":1}`, `{"resourceSpan":[]}` + "\n", `x{"resourceSpans":[]}`,
	} {
		path := filepath.Join(t.TempDir(), "train.py")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if f, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "something else than OTLP/JSON") {
			t.Errorf("%q: %v, %v", text, f, err)
		}
		info, err := os.Stat(path)
		if left, _ := os.ReadFile(path); err != nil || string(left) != text || info.Mode() != 0o644 {
			t.Errorf("%q has become %q, %v, %v", text, left, info, err)
		}
	}
}

// What a kill has left of the first line, wherever that was, is continued.
func TestOwnFileIsContinued(t *testing.T) {
	for _, text := range []string{"", "{", `{"resourceS`, `{"resourceSpans":[`, `{"resourceMetrics":[]}` + "\n{", `{"resourceLogs":[]}` + "\n"} {
		path := filepath.Join(t.TempDir(), "spans.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		opened(t, path, Options{})
		whole := text[:strings.LastIndexByte(text, '\n')+1]
		if left, err := os.ReadFile(path); err != nil || string(left) != whole {
			t.Errorf("%q has become %q, %v", text, left, err)
		}
	}
}

// Spans in a file that nobody will find are lost, and counted as such.
func TestRemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	f := opened(t, path, Options{})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := f.UploadTraces(t.Context(), request(2)); !errors.Is(err, errRemoved) || f.Stats().Lost != 2 {
		t.Errorf("%v, %+v", err, f.Stats())
	}
}

// A stopped process that has the lock does not keep a job from starting.
func TestLockIsNotAwaitedForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	opened(t, path, Options{})
	holder, err := os.Open(path)
	if err == nil {
		err = syscall.Flock(int(holder.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close()
	late, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if err := lock(late, time.Millisecond); !errors.Is(err, errLocked) {
		t.Error(err)
	}
	if f, err := Open(path, Options{}); !errors.Is(err, errLocked) {
		t.Error(f, err)
	}
	if err := syscall.Flock(int(holder.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if err := lock(late, lockPatience); err != nil {
		t.Error(err)
	}
}
