package placement

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Megatron-Bridge#4630: NVIDIA's tools write 8 digits where sysfs has 4.
func TestGPUNodes(t *testing.T) {
	m := twoSockets
	m.gpus = map[string]int{"0000:19:00.0": 0, "0000:c1:00.0": 1, "0001:00:00.0": -1, "10000:e1:00.0": 1}
	got, err := GPUNodes(m.tree(t), []string{"00000000:C1:00.0", "0000:19:00.0", "19:00.0", "00000001:00:00.0", "10000:E1:00.0"})
	if diff := cmp.Diff([]int{1, 0, 0, NoNode, 1}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := GPUNodes(m.tree(t), nil); err != nil || len(got) != 0 {
		t.Errorf("no GPUs: %v, %v", got, err)
	}
}

func TestGPUNodesFails(t *testing.T) {
	tests := []struct {
		name, id string
		root     fstest.MapFS
		want     string
	}{
		{"no such device", "0000:c1:00.0", fstest.MapFS{}, "GPU 1: open sys/bus/pci/devices/0000:c1:00.0/numa_node: file does not exist"},
		{"no address", "GPU-1", fstest.MapFS{}, `GPU 1: "GPU-1" is no PCI address such as 0000:c1:00.0`},
		{"no number", "0000:c1:00.0", fstest.MapFS{"sys/bus/pci/devices/0000:c1:00.0/numa_node": file("x")}, `numa_node: "x\n" is no number`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.root["sys/bus/pci/devices/0000:19:00.0/numa_node"] = file("0")
			got, err := GPUNodes(tt.root, []string{"0000:19:00.0", tt.id})
			if err == nil || got != nil {
				t.Fatalf("no error, but %v", got)
			}
			if s := err.Error(); !strings.HasPrefix(s, "cannot tell the NUMA node of ") || !strings.Contains(s, tt.want) {
				t.Errorf("error %q, want %q in it", s, tt.want)
			}
		})
	}
}

func TestBusID(t *testing.T) {
	for text, want := range map[string]string{
		"0000:c1:00.0": "0000:c1:00.0", "00000000:C1:00.0": "0000:c1:00.0", " c1:0.0\n": "0000:c1:00.0",
		"0000000a:0b:1f.7": "000a:0b:1f.7", "10000:e1:00.0": "10000:e1:00.0",
	} {
		if got, err := BusID(text); got != want || err != nil {
			t.Errorf("BusID(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "c1", "0:0:0:0.0", "0000:c1:00", "0000:c1:00.8", "0000:c1:20.0", "0000:100:00.0", "100000000:c1:00.0",
		"../../etc:c1:00.0", "0000:c1:00.0.0", "0000:-1:00.0",
	} {
		if got, err := BusID(text); err == nil {
			t.Errorf("BusID(%q) = %q, no error", text, got)
		}
	}
}

func FuzzBusID(f *testing.F) {
	for _, seed := range []string{"0000:c1:00.0", "00000000:C1:00.0", "c1:0.0", "../x:0:0.0", "[N/A]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := BusID(text)
		if err != nil {
			return
		}
		if again, err := BusID(id); again != id || err != nil {
			t.Errorf("%q is %q, which is %q, %v", text, id, again, err)
		}
		// It becomes part of a path.
		if strings.Trim(id, "0123456789abcdef:.") != "" || strings.Contains(id, "..") || len(id) > len("ffffffff:ff:1f.7") {
			t.Errorf("%q is %q", text, id)
		}
	})
}

// slide2vec PR#327: every rank opens a context on all GPUs.
func TestGPUBind(t *testing.T) {
	set := func(value string) map[string]string { return map[string]string{visibleDevices: value} }
	tests := []struct {
		name       string
		env        map[string]string
		rank, gpus int
		want, err  string
	}{
		{"unset", nil, 3, 8, "3", ""},
		{"unset, nobody knows how many", nil, 3, -1, "3", ""},
		{"unset, too few", nil, 8, 8, "", "this machine has 8"},
		{"no GPU", nil, 0, 0, "", "this machine has 0"},
		{"numbers", set("4,5,6,7"), 2, 4, "6", ""},
		{"UUIDs", set("GPU-a, GPU-b"), 1, 2, "GPU-b", ""},
		{"MIG", set("MIG-GPU-a/1/0,MIG-GPU-a/2/0"), 0, 2, "MIG-GPU-a/1/0", ""},
		{"a list, nobody knows how many", set("4,5"), 1, -1, "5", ""},
		{"too short", set("4,5"), 2, 2, "", "CUDA_VISIBLE_DEVICES=4,5 shows 2"},
		{"fewer than the list says", set("0,1,9"), 2, 2, "", "CUDA_VISIBLE_DEVICES=0,1,9 shows 2"},
		{"hidden on purpose", set(""), 0, 0, "", "CUDA_VISIBLE_DEVICES= shows 0"},
		{"hidden by -1", set("-1"), 0, -1, "", "CUDA_VISIBLE_DEVICES=-1 shows 0"},
		{"hidden by Slurm", set("NoDevFiles"), 0, -1, "", "CUDA_VISIBLE_DEVICES=NoDevFiles shows 0"},
		{"the list ends at what is none", set("3,-1,4"), 1, 3, "", "CUDA_VISIBLE_DEVICES=3,-1,4 shows 1"},
		{"two ranks on one GPU", set("0,1,0"), 0, 3, "", "CUDA_VISIBLE_DEVICES=0,1,0 names 0 twice"},
		{"no rank", nil, -1, 8, "", "there is no such rank"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := GPUBind(tt.env, tt.rank, tt.gpus)
			if tt.err != "" {
				if err == nil || !strings.HasSuffix(err.Error(), " a GPU of its own: "+tt.err) || got != nil {
					t.Errorf("GPUBind = %v, %v, want the error %q", got, err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(set(tt.want), got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
