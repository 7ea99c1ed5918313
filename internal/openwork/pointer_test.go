package openwork

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func mustWritePointer(t *testing.T, dir, home string) {
	t.Helper()
	if err := writePointer(dir, home); err != nil {
		t.Fatal(err)
	}
}

// writePointerOf writes a pointer as a launcher on that host would have.
func writePointerOf(t *testing.T, dir, host, home string) {
	t.Helper()
	text, err := json.Marshal(pointer{Host: host, Dir: home})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, pointerName), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPointer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, pointerName)
	if home, err := follow(dir); home != dir || err != nil {
		t.Errorf("without: %q, %v", home, err)
	}
	for _, home := range []string{"/tmp/one", "/tmp/of \"quotes\"\nand lines"} { // a second takes the place of the first
		mustWritePointer(t, dir, home)
		if got, err := follow(dir); got != home || err != nil {
			t.Errorf("%q, %v; want %q", got, err, home)
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := writePointer(filepath.Join(dir, "missing"), "/x"); err == nil || !strings.Contains(err.Error(), "cannot say where the journals are") {
		t.Error(err)
	}
}

// A link in its place is not written through, and not followed.
func TestPointerIsNoLink(t *testing.T) {
	dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
	host, _ := os.Hostname()
	text, _ := json.Marshal(pointer{Host: host, Dir: "/elsewhere"})
	link := filepath.Join(dir, pointerName)
	if err := errors.Join(os.WriteFile(victim, text, 0o600), os.Symlink(victim, link)); err != nil {
		t.Fatal(err)
	}
	if home, err := follow(dir); home != dir || err != nil {
		t.Errorf("followed a link to %q, %v", home, err)
	}
	mustWritePointer(t, dir, "/mine")
	if got, err := os.ReadFile(victim); err != nil || string(got) != string(text) {
		t.Errorf("written through the link: %q, %v", got, err)
	}
	if home, err := follow(dir); home != "/mine" || err != nil {
		t.Errorf("%q, %v", home, err)
	}
	full := t.TempDir() // a directory with something in it cannot be put away
	if err := os.MkdirAll(filepath.Join(full, pointerName, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := writePointer(full, "/mine"); err == nil {
		t.Error("no error")
	}
}

// What is no pointer of ours leads nowhere, and holds nobody.
func TestPointerThatIsNone(t *testing.T) {
	host, _ := os.Hostname()
	for name, text := range map[string]string{
		"empty": "", "garbage": "\x00\xff", "no object": `"/x"`, "relative": `{"host":"` + host + `","dir":"x"}`, "no dir": `{"host":"` + host + `"}`,
		"endless": `{"host":"` + host + `","dir":"/` + strings.Repeat("x", maxPointer) + `"}`, "NUL": `{"host":"` + host + `","dir":"/x\u0000"}`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, pointerName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if home, err := follow(dir); home != dir || err != nil {
			t.Errorf("%s: %q, %v", name, home, err)
		}
	}
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, pointerName), 0o600); err != nil {
		t.Fatal(err)
	}
	if home, err := follow(dir); home != dir || err != nil {
		t.Errorf("pipe: %q, %v", home, err)
	}
	if os.Geteuid() == 0 { // another user may send nobody anywhere
		dir := t.TempDir()
		mustWritePointer(t, dir, "/x")
		if err := os.Chown(filepath.Join(dir, pointerName), 1, 1); err != nil {
			t.Fatal(err)
		}
		if home, err := follow(dir); home != dir || err != nil {
			t.Errorf("another user's: %q, %v", home, err)
		}
	}
}

// One node's journals being on another machine does not hide those that are here.
func TestSites(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run [1]*") // no pattern
	for _, node := range []string{"node-0", "node-1", "node-2", "attempt-1", "node"} {
		if err := os.MkdirAll(filepath.Join(dir, node), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "node-9"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustWritePointer(t, filepath.Join(dir, "node-1"), "/moved")
	writePointerOf(t, filepath.Join(dir, "node-2"), "not this host", "/far")
	node := func(k string) string { return filepath.Join(dir, "node-"+k) }
	got, err := Sites(dir)
	if diff := cmp.Diff([]Site{{dir, dir}, {node("0"), node("0")}, {node("1"), "/moved"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err == nil || !strings.Contains(err.Error(), "on host not this host, in /far") {
		t.Error(err)
	}
	if _, err := Sites(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestPrivate(t *testing.T) {
	dir := t.TempDir()
	open, closed, file, link := dir+"/open", dir+"/closed", dir+"/file", dir+"/link"
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.Mkdir(closed, 0o700), os.WriteFile(file, nil, 0o600), os.Symlink(closed, link)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{open: false, closed: true, file: false, link: false, dir + "/missing": false} {
		if private(path) != want {
			t.Errorf("%s: %v", filepath.Base(path), !want)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(closed, 1, 1); err != nil {
			t.Fatal(err)
		}
		if private(closed) {
			t.Error("another user's directory is private")
		}
	}
}

func FuzzPointer(f *testing.F) {
	for _, seed := range []string{"", `{"host":"a","dir":"/b"}`, `{"host":1}`, `[]`, "\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, ok := parsePointer(text)
		if ok && (!filepath.IsAbs(p.Dir) || strings.ContainsRune(p.Dir, 0)) {
			t.Fatalf("%q: %+v", text, p)
		}
	})
}
