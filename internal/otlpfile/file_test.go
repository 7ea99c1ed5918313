package otlpfile

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/testing/protocmp"
)

// client is otlptrace.Client, which only the package with the exporters may import.
type client interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	UploadTraces(ctx context.Context, protoSpans []*tracepb.ResourceSpans) error
}

var _ client = (*File)(nil)

func opened(t *testing.T, path string, o Options) *File {
	t.Helper()
	f, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Stop(context.Background()) })
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

// lines decodes every line; a rest that is no line fails the test.
func lines(t *testing.T, path string) (list []*tracepb.ResourceSpans) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		t.Fatalf("the last line is not whole: %q", text[max(0, len(text)-80):])
	}
	for line := range bytes.Lines(text) {
		list = append(list, decode(t, line).ResourceSpans...)
	}
	return list
}

func TestWriteAndContinue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spans.jsonl")
	old := syscall.Umask(0o777)
	f, err := Open(path, Options{})
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	var want []*tracepb.ResourceSpans
	for n := range 3 {
		if err := f.UploadTraces(t.Context(), request(n+1)); err != nil {
			t.Fatal(err)
		}
		want = append(want, request(n+1)...)
		if n == 1 { // in the middle, as by another launcher
			if err := errors.Join(f.Stop(t.Context()), f.Stop(t.Context()), os.Chmod(path, 0o644)); err != nil {
				t.Fatal(err)
			}
			f = opened(t, path, Options{})
		}
	}
	if err := f.UploadTraces(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, lines(t, path), protocmp.Transform()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := f.Stats(); got != (Stats{Written: 3}) {
		t.Errorf("%+v", got)
	}
}

// What a killed process left of a line goes, wherever it was killed.
func TestRestOfALineIsCutOff(t *testing.T) {
	dir := t.TempDir()
	f := opened(t, dir+"/whole", Options{})
	for _, n := range []int{1, 400} { // the second is longer than what is read at once
		if err := f.UploadTraces(t.Context(), request(n)); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(dir + "/whole")
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for _, n := range []int{0, 1, first - 1, first, first + 1, first + 70_000, len(whole) - 1, len(whole)} {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		f := opened(t, path, Options{})
		if err := f.UploadTraces(t.Context(), request(2)); err != nil {
			t.Fatal(err)
		}
		want := 1 + bytes.Count(whole[:n], []byte{'\n'})
		if got := lines(t, path); len(got) != want {
			t.Errorf("cut at %d: %d lines, want %d", n, len(got), want)
		}
	}
}

func TestLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	const limit = 2000
	f := opened(t, path, Options{Limit: limit})
	var failed int64
	for range 20 {
		if err := f.UploadTraces(t.Context(), request(2)); err != nil {
			failed++
			if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), path) {
				t.Fatal(err)
			}
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > limit || failed == 0 || failed == 20 {
		t.Errorf("%v, %d bytes, %d failed", err, info.Size(), failed)
	}
	if s := f.Stats(); s.Written != 2*(20-failed) || s.Lost != 2*failed || s.Errors != failed || !errors.Is(s.First, ErrFull) {
		t.Errorf("%+v, %d failed", s, failed)
	}
	// It holds for a file that is continued.
	if err := opened(t, path, Options{Limit: 10}).UploadTraces(t.Context(), request(1)); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// fullDisk takes so many bytes and no more.
type fullDisk struct {
	bytes.Buffer
	room int
	cut  error
}

func (d *fullDisk) begin() (int64, error) { return int64(d.Len()), nil }
func (d *fullDisk) end()                  {}

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (d *fullDisk) Truncate(size int64) error {
	if d.cut != nil {
		return d.cut
	}
	d.room += d.Len() - int(size)
	d.Buffer.Truncate(int(size))
	return nil
}

func (d *fullDisk) Close() error { return nil }

// A line that the disk had no room for is taken back whole; there may be room later.
func TestFullDisk(t *testing.T) {
	line := appendLine(request(1))
	for room := range 2*len(line) + 1 {
		disk := &fullDisk{room: room}
		f := &File{out: disk, limit: DefaultLimit}
		var written int
		for range 2 {
			if err := f.UploadTraces(t.Context(), request(1)); err == nil {
				written++
			} else if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
		}
		if written != room/len(line) || disk.Len() != written*len(line) {
			t.Fatalf("room for %d bytes: %d written, %d bytes there", room, written, disk.Len())
		}
		disk.room = len(line)
		if err := f.UploadTraces(t.Context(), request(1)); err != nil {
			t.Fatal(err)
		}
	}
}

// A rest that cannot be taken back is the file's end.
func TestRestThatStays(t *testing.T) {
	disk := &fullDisk{room: 10, cut: errors.New("read-only")}
	f := &File{out: disk, limit: DefaultLimit}
	if err := f.UploadTraces(t.Context(), request(1)); !errors.Is(err, disk.cut) {
		t.Error(err)
	}
	disk.room = 1 << 20
	if err := f.UploadTraces(t.Context(), request(1)); !errors.Is(err, ErrFull) || disk.Len() != 10 {
		t.Errorf("%v, %d bytes", err, disk.Len())
	}
}

func appendLine(spans []*tracepb.ResourceSpans) []byte {
	disk := &fullDisk{room: 1 << 20}
	_ = (&File{out: disk, limit: DefaultLimit}).UploadTraces(context.Background(), spans)
	return disk.Bytes()
}

func TestAfterStopAndCancelled(t *testing.T) {
	f := opened(t, filepath.Join(t.TempDir(), "x"), Options{})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.UploadTraces(cancelled, request(1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := f.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if err := f.UploadTraces(t.Context(), request(2)); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if s := f.Stats(); s.Lost != 3 || s.Errors != 2 || s.Written != 0 || !errors.Is(s.First, context.Canceled) {
		t.Errorf("%+v", s)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Symlink(dir+"/elsewhere", dir+"/link"), syscall.Mkfifo(dir+"/pipe", 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir + "/link": "symbolic link", dir + "/pipe": "no file", dir: "directory", dir + "/missing/x": "no such file", "/dev/null": "no file",
	} {
		f, err := Open(path, Options{})
		if err == nil || !strings.Contains(err.Error(), "cannot write spans to "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v; want %q", path, f, err, want)
		}
	}
	if _, err := os.Lstat(dir + "/elsewhere"); err == nil {
		t.Error("the link was followed")
	}
}

// The launcher, its guard and the next launcher have the file open at the same time: what
// one takes back of its own line is nobody else's.
func TestSeveralProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	files := []*File{opened(t, path, Options{}), opened(t, path, Options{}), opened(t, path, Options{})}
	var all sync.WaitGroup
	for _, f := range files {
		all.Go(func() {
			for range 50 {
				if err := f.UploadTraces(t.Context(), request(2)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := lines(t, path); len(got) != 150 {
		t.Errorf("%d lines", len(got))
	}
	// A limit counts what the others have written.
	size := int64(len(appendLine(request(2))))
	if err := opened(t, path, Options{Limit: 150*size + size - 1}).UploadTraces(t.Context(), request(2)); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

func TestConcurrentUploads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f := opened(t, path, Options{})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 25 {
				if err := f.UploadTraces(t.Context(), request(3)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := lines(t, path); len(got) != 200 || f.Stats().Written != 600 {
		t.Errorf("%d lines, %+v", len(got), f.Stats())
	}
}
