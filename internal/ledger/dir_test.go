package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	for _, task := range []string{"", "0", "17"} {
		got, err := parseName(Name(testJob, task))
		if err != nil || got != (name{job: testJob, task: task}) {
			t.Errorf("task %q: %+v, %v", task, got, err)
		}
	}
	for _, bad := range []string{
		"", ".json", "x.json", testJob, testJob + ".", testJob + "..json", testJob + ".a.json", testJob + ".1.2.json", testJob + ".-1.json",
		"../" + testFile, "/" + testFile, testFile + "/", strings.ToUpper(testJob) + ".json", "{" + testJob + "}.json", testFile + ".lock", testFile + "\x00",
	} {
		if _, err := Open(t.TempDir(), bad); err == nil || !strings.Contains(err.Error(), "cannot open ledger") {
			t.Errorf("Open(%q) = %v", bad, err)
		}
	}
}

func TestPath(t *testing.T) {
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		env      map[string]string
		explicit string
		want     string
	}{
		{nil, "", "/tmp/lenslaunch-1000"},
		{map[string]string{"TMPDIR": ""}, "", "/tmp/lenslaunch-1000"},
		{map[string]string{"TMPDIR": "/scratch/u/"}, "", "/scratch/u/lenslaunch-1000"},
		{map[string]string{"TMPDIR": "rel"}, "", filepath.Join(work, "rel", "lenslaunch-1000")},
		{map[string]string{"TMPDIR": "/scratch"}, "/nowhere/run", "/nowhere/run"},
		{nil, "run", filepath.Join(work, "run")},
	} {
		got, isExplicit := Path(test.env, test.explicit, 1000)
		if got != test.want || isExplicit != (test.explicit != "") {
			t.Errorf("Path(%v, %q) = %q, %v; want %q", test.env, test.explicit, got, isExplicit, test.want)
		}
	}
}

func TestDefaultDirIsMadePrivate(t *testing.T) {
	env := map[string]string{"TMPDIR": t.TempDir()}
	for range 2 { // made, then found
		dir, isExplicit, err := Dir(env, "", os.Getuid())
		if err != nil || isExplicit {
			t.Fatal(dir, isExplicit, err)
		}
		info, err := os.Lstat(dir)
		if err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Fatalf("%v, %v", info.Mode(), err)
		}
		// One that was opened to others is closed to them again.
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDefaultDirThatIsNotOurs(t *testing.T) {
	for name, test := range map[string]struct {
		make func(t *testing.T, dir string)
		uid  int
		want string
	}{
		"a link": {func(t *testing.T, dir string) {
			if err := os.Symlink(t.TempDir(), dir); err != nil {
				t.Fatal(err)
			}
		}, os.Getuid(), "symbolic link"},
		"a file": {func(t *testing.T, dir string) {
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, os.Getuid(), "not a directory"},
		"another user's": {func(t *testing.T, dir string) {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}, os.Getuid() + 1, "belongs to user"},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"TMPDIR": t.TempDir()}
			want, _ := Path(env, "", test.uid)
			test.make(t, want)
			dir, isExplicit, err := Dir(env, "", test.uid)
			if err == nil || isExplicit || dir != want {
				t.Fatalf("%q, %v, %v", dir, isExplicit, err)
			}
			for _, part := range []string{"cannot use state directory " + want, test.want} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

func TestDefaultDirWithoutATempDirectory(t *testing.T) {
	_, isExplicit, err := Dir(map[string]string{"TMPDIR": "/nowhere"}, "", os.Getuid())
	if err == nil || isExplicit {
		t.Errorf("%v, %v", isExplicit, err)
	}
}

func TestExplicitDir(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(root, "a", "b")
	if dir, isExplicit, err := Dir(nil, made, os.Getuid()); err != nil || !isExplicit || dir != made {
		t.Fatal(dir, isExplicit, err)
	}
	// The user's own link is followed once, and the ledger works behind it.
	link := filepath.Join(root, "latest")
	if err := os.Symlink(made, link); err != nil {
		t.Fatal(err)
	}
	dir, _, err := Dir(nil, link, os.Getuid())
	if err != nil || dir != made {
		t.Fatal(dir, err)
	}
	mustBegin(t, mustOpen(t, dir))

	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, isExplicit, err := Dir(nil, filepath.Join(file, "x"), os.Getuid()); err == nil || !isExplicit {
		t.Errorf("below a file: %v, %v", isExplicit, err)
	}
}
