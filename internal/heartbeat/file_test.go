package heartbeat

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func create(t *testing.T) File {
	t.Helper()
	f, err := Create(t.TempDir(), 3)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func touched(t *testing.T, f File) time.Time {
	t.Helper()
	at, err := f.Touched()
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestCreate(t *testing.T) {
	f := create(t)
	info, err := os.Lstat(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 || info.Size() != 0 || filepath.Base(f.Path()) != "heartbeat-3" {
		t.Errorf("%s has mode %v and %d bytes", f.Path(), info.Mode(), info.Size())
	}
	if age := time.Since(touched(t, f)); age < -time.Minute || age > time.Minute {
		t.Errorf("a new file is %v old", age)
	}
}

func TestCreateTakesNothingThatIsThere(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"a file":            func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
		"a link to a file":  func(path string) error { return os.Symlink(os.Args[0], path) },
		"a link to nowhere": func(path string) error { return os.Symlink(path+"-target", path) },
		"a directory":       func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "heartbeat-0")
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			_, err := Create(dir, 0)
			if !errors.Is(err, fs.ErrExist) || !strings.HasPrefix(err.Error(), "cannot create the heartbeat file: ") {
				t.Errorf("error %v", err)
			}
			if _, err := os.Lstat(path + "-target"); err == nil {
				t.Error("a file was made through the link")
			}
		})
	}
	if _, err := Create(filepath.Join(t.TempDir(), "missing"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
}

// However a worker touches the file, it is seen.
func TestTouchedBy(t *testing.T) {
	past := time.Now().Add(-time.Hour)
	for name, touch := range map[string]func(path string) error{
		"utime":   func(path string) error { return os.Chtimes(path, time.Time{}, time.Now()) },
		"writing": func(path string) error { return os.WriteFile(path, []byte("step 7\n"), 0o600) },
		"renaming": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("step 7\n"), 0o600), os.Rename(path+".new", path))
		},
		"removing and making it again": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := create(t)
			if err := os.Chtimes(f.Path(), past, past); err != nil {
				t.Fatal(err)
			}
			before := touched(t, f)
			if err := touch(f.Path()); err != nil {
				t.Fatal(err)
			}
			if after := touched(t, f); !after.After(before) {
				t.Errorf("%v, before %v", after, before)
			}
		})
	}
}

func TestTouchedByNobody(t *testing.T) {
	f := create(t)
	first := touched(t, f)
	if _, err := os.ReadFile(f.Path()); err != nil { // looking is not touching
		t.Fatal(err)
	}
	if second := touched(t, f); !second.Equal(first) {
		t.Errorf("%v, then %v", first, second)
	}
}

func TestTouchedFails(t *testing.T) {
	f := create(t)
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Touched(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
	if err := f.Remove(); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	if err := os.Symlink(os.Args[0], f.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Touched(); err == nil || !strings.Contains(err.Error(), "no regular file any more") {
		t.Errorf("replaced by a link: %v", err)
	}
	if err := os.Remove(f.Path()); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(f.Path(), "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Remove(); err == nil || !strings.HasPrefix(err.Error(), "cannot remove the heartbeat file: ") {
		t.Errorf("replaced by a directory: %v", err)
	}
}
