package detect

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// fakeSMI writes an nvidia-smi of the given shell commands and returns the
// directory that it is in.
func fakeSMI(t *testing.T, commands string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+commands+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestGPUsFromSMI(t *testing.T) {
	dir := fakeSMI(t, `[ "$1" = --query-gpu=index,uuid,name,pci.bus_id,serial,compute_cap,memory.total,driver_version ] || exit 9
[ "$2" = --format=csv,noheader,nounits ] || exit 9
echo "1, GPU-2, NVIDIA GeForce RTX 4090, 00000000:C1:00.0, [N/A], 8.9, 24564, 550.54.15"
echo "0, GPU-1, NVIDIA H100 80GB HBM3, 00000000:19:00.0, 1650123000001, 9.0, 81559, 550.54.15"`)
	want := GPUSet{GPUs: []GPU{
		{
			Index: 0, UUID: "GPU-1", Model: "NVIDIA H100 80GB HBM3", PCIBusID: "0000:19:00.0", Serial: "1650123000001",
			ComputeCapability: "9.0", MemoryTotal: 81559 << 20, DriverVersion: "550.54.15",
		},
		{
			Index: 1, UUID: "GPU-2", Model: "NVIDIA GeForce RTX 4090", PCIBusID: "0000:c1:00.0",
			ComputeCapability: "8.9", MemoryTotal: 24564 << 20, DriverVersion: "550.54.15",
		},
	}}
	// A relative directory of the path is passed over, as is one without it.
	host := Host{Path: "." + string(filepath.ListSeparator) + t.TempDir() + string(filepath.ListSeparator) + dir}
	if diff := cmp.Diff(want, GPUs(t.Context(), host)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestGPUsWithoutAnAnswer(t *testing.T) {
	notAProgram := t.TempDir()
	if err := os.WriteFile(filepath.Join(notAProgram, "nvidia-smi"), []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ what, path, want string }{
		{"no path", "", ""},
		{"no program", t.TempDir(), ""},
		{"a file that is no program", notAProgram, ""},
		{"no GPUs", fakeSMI(t, "echo No devices were found"), ""},
		{"a broken driver", fakeSMI(t, "echo; echo NVIDIA-SMI has failed because it could not talk to the driver.; echo more; exit 9"),
			`cannot ask nvidia-smi for GPUs: exit status 9 ("NVIDIA-SMI has failed because it could not talk to the driver.")`},
		{"a silent failure", fakeSMI(t, "exit 3"), "cannot ask nvidia-smi for GPUs: exit status 3"},
		{"a crash", fakeSMI(t, "kill -SEGV $$"), "cannot ask nvidia-smi for GPUs: signal: segmentation fault"},
	} {
		set := GPUs(t.Context(), Host{Path: test.path})
		message := ""
		if set.Err != nil {
			message = set.Err.Error()
		}
		if len(set.GPUs) != 0 || strings.TrimSuffix(message, " (core dumped)") != test.want {
			t.Errorf("%s: %d GPUs, %q, want %q", test.what, len(set.GPUs), message, test.want)
		}
	}
}

// A program that never stops writing ends by SIGPIPE, and its text is not kept.
func TestGPUsFromASpammer(t *testing.T) {
	set := GPUs(t.Context(), Host{Path: fakeSMI(t, "exec cat /dev/zero"), GPULimit: time.Minute})
	if set.Err == nil || len(set.GPUs) != 0 {
		t.Errorf("%d GPUs, %v", len(set.GPUs), set.Err)
	}
}

// A regression test of the kind "the launcher waits for a program that hangs":
// the program and its children ignore SIGTERM and hold the pipe, the query is
// over when the limit is, and nothing of the group lives on.
func TestGPUsFromAHangingProgram(t *testing.T) {
	held := fifo(t)
	dir := fakeSMI(t, `trap '' TERM INT HUP
exec 3>"`+held+`"
echo "0, GPU-1, half an answer"
cat "`+fifo(t)+`" &
cat "`+fifo(t)+`"`)
	gone := make(chan error, 1)
	go func() { gone <- readToEnd(held) }()
	set := GPUs(t.Context(), Host{Path: dir, GPULimit: 200 * time.Millisecond})
	if set.Err == nil || set.Err.Error() != "cannot ask nvidia-smi for GPUs: no answer within 200ms" || len(set.GPUs) != 0 {
		t.Errorf("%d GPUs, %v", len(set.GPUs), set.Err)
	}
	// Program and children hold the other end: it ends with the last of them.
	if err := <-gone; err != nil {
		t.Error(err)
	}
}

// What left the group by setsid holds the pipe after the program is gone. It is
// not ours to end, and it does not keep us.
func TestGPUsWithAHeldPipe(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid program here")
	}
	release := fifo(t)
	line := "0, GPU-1, NVIDIA H100, 0000:19:00.0, 1, 9.0, 1, 550"
	dir := fakeSMI(t, `echo "`+line+`"
setsid cat "`+release+`" &
exit 0`)
	set := GPUs(t.Context(), Host{Path: dir, GPULimit: time.Minute})
	if set.Err != nil || len(set.GPUs) != 1 {
		t.Errorf("%d GPUs, %v: the program itself had answered", len(set.GPUs), set.Err)
	}
	w, err := os.OpenFile(release, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestGPUsStopsWithItsContext(t *testing.T) {
	cause := errors.New("stopped by SIGTERM")
	ctx, cancel := context.WithCancelCause(t.Context())
	held := fifo(t)
	dir := fakeSMI(t, `exec 3>"`+held+`"; cat "`+fifo(t)+`"`)
	gone := make(chan error, 1)
	go func() {
		r, err := os.Open(held) // opens once the program has it
		cancel(cause)
		if err == nil {
			_, err = io.Copy(io.Discard, r)
		}
		gone <- err
	}()
	if set := GPUs(ctx, Host{Path: dir, GPULimit: time.Minute}); !errors.Is(set.Err, cause) {
		t.Errorf("%v, want %v", set.Err, cause)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
	for range 100 { // two ends come at once, and either may be seen first
		if set := GPUs(ctx, Host{Path: dir}); !errors.Is(set.Err, cause) {
			t.Fatalf("with a context that has ended: %v", set.Err)
		}
	}
}

func TestParseSMI(t *testing.T) {
	const good = "2, GPU-2, H100, 00000000:19:00.0, 16, 9.0, 10, 550.1\n"
	for _, test := range []struct {
		what, text string
		want       []GPU
	}{
		{"nothing", "", nil},
		{"a notice before the table", "Warning: infoROM is corrupted at gpu 0000:19:00.0\n" + good,
			[]GPU{{Index: 2, UUID: "GPU-2", Model: "H100", PCIBusID: "0000:19:00.0", Serial: "16", ComputeCapability: "9.0", MemoryTotal: 10 << 20, DriverVersion: "550.1"}}},
		{"all unknown", "0, [N/A], [Unknown Error], [N/A], N/A, [Not Supported], [GPU requires reset], [N/A]\r\n", []GPU{{Index: 0}}},
		{"too few columns", "0, GPU-1, H100\n", nil},
		{"too many columns", strings.TrimSpace(good) + ", 1\n", nil},
		{"a header", strings.Join(smiFields, ", ") + "\n", nil},
		{"no index", "[N/A], GPU-1, H100, , , , , \n", nil},
		{"a negative index", "-1, GPU-1, H100, , , , , \n", nil},
		{"an index that is none", "99999999999, GPU-1, H100, , , , , \n", nil},
		{"one index twice", "0, a, , , , , , \n0, b, , , , , , \n", []GPU{{Index: 0, UUID: "a"}}},
		{"memory beyond all bounds", "0, , , , , , 9223372036854775807, \n1, , , , , , -5, \n", []GPU{{Index: 0}, {Index: 1}}},
		{"bytes that are no text", "0, GPU-\xff1, , , , , , ", []GPU{{Index: 0, UUID: "GPU-1"}}},
	} {
		if diff := cmp.Diff(test.want, parseSMI(test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

func FuzzParseSMI(f *testing.F) {
	f.Add("0, GPU-1, NVIDIA H100, 00000000:19:00.0, 1650123000001, 9.0, 81559, 550.54.15\n1, [N/A], , , , , , ")
	f.Add("No devices were found\n")
	f.Fuzz(func(t *testing.T, text string) {
		list := parseSMI(text)
		if !sort.SliceIsSorted(list, func(i, j int) bool { return list[i].Index < list[j].Index }) {
			t.Fatal("not in order")
		}
		seen := map[int]bool{}
		for rank, gpu := range list {
			if gpu.Index < 0 || seen[gpu.Index] || gpu.MemoryTotal < 0 {
				t.Fatalf("%+v", gpu)
			}
			seen[gpu.Index] = true
			for _, kv := range (GPUSet{GPUs: list}).Rank(nil, rank) {
				if v := kv.Value.AsString(); strings.ContainsAny(v, "\n,") || v != strings.ToValidUTF8(v, "") {
					t.Fatalf("%s is %q", kv.Key, v)
				}
			}
		}
	})
}

// fifo makes a pipe with a name: opening it for reading waits for a writer, so a
// program that reads one hangs until the test says otherwise.
func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func readToEnd(name string) error {
	r, err := os.Open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.Copy(io.Discard, r)
	return err
}
