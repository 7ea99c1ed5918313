package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/launcher"
	"lenslaunch/ranks"
)

// Each kind of error has its code; whatever is in it, it is one line.
func TestFail(t *testing.T) {
	tests := []struct {
		err  error
		code int
		want string
	}{
		{misuse("write N", "--nproc %q is wrong", "x"), 2, "lenslaunch: --nproc \"x\" is wrong: write N\n"},
		{misuse("", "--nproc is wrong"), 2, "lenslaunch: --nproc is wrong\n"},
		{fmt.Errorf("wrapped: %w", misuse("", "a")), 2, "lenslaunch: wrapped: a\n"},
		{&ranks.UsageError{Problem: "no node", Hint: "give one"}, 2, "lenslaunch: no node: give one\n"},
		{&launcher.Failure{Code: 127, Problem: "no such file"}, 127, "lenslaunch: no such file\n"},
		{&launcher.Failure{Code: 75, Problem: "taken", Hint: "end it"}, 75, "lenslaunch: taken: end it\n"},
		{errors.New("two\r\nlines"), 70, "lenslaunch: two\\r\\nlines\n"},
	}
	for _, tt := range tests {
		errs := file(t, t.TempDir(), "err")
		c := &call{std: Streams{Err: errs}}
		if code := c.fail(tt.err); code != tt.code {
			t.Errorf("%v: exit code %d, want %d", tt.err, code, tt.code)
		}
		if diff := cmp.Diff(tt.want, content(t, errs)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A bug has an exit code of its own, and shows where it is.
func TestShielded(t *testing.T) {
	for _, value := range []any{"no\nsuch state", launcher.Bug{Value: "no\nsuch state", Stack: []byte("goroutine 7\nTestShielded\n")}} {
		errs := file(t, t.TempDir(), "err")
		c := &call{std: Streams{Err: errs}}
		if code := c.shielded(func() int { panic(value) }); code != 70 {
			t.Errorf("exit code %d, want 70", code)
		}
		text := content(t, errs)
		head, stack, _ := strings.Cut(text, "\n")
		if !strings.HasPrefix(head, "lenslaunch: internal error") || !strings.HasSuffix(head, `no\nsuch state`) || !strings.Contains(stack, "TestShielded") {
			t.Errorf("%s", text)
		}
	}
	if code := new(call).shielded(func() int { return 3 }); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
}

func TestEnvironment(t *testing.T) {
	got := environment([]string{"A=1", "B=x=y", "A=2", "EMPTY=", "no entry", "=C:=x"})
	want := map[string]string{"A": "1", "B": "x=y", "EMPTY": "", "": "C:=x"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A reader that has gone, or a full disk, is told and has a code of its own.
func TestPrintFails(t *testing.T) {
	dir := t.TempDir()
	closed := file(t, dir, "out")
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	std := Streams{In: null(t), Out: closed, Err: file(t, dir, "err")}
	if code := Main([]string{"version"}, nil, std); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if text := content(t, std.Err); !isOneLine(text) {
		t.Errorf("stderr %q", text)
	}
}

// A command line that only shows something reads the environment that it was given,
// and leaves the process's own alone.
func TestMainUsesItsEnvironment(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "from=process")
	got := invoke(t, []string{"OTEL_RESOURCE_ATTRIBUTES=from=argument"}, "carrier", "parse")
	if got.code != 0 || got.out != "{\"from\":\"argument\"}\n" {
		t.Errorf("%+v", got)
	}
	if now := os.Getenv("OTEL_RESOURCE_ATTRIBUTES"); now != "from=process" {
		t.Errorf("the process's own is %q now", now)
	}
}
