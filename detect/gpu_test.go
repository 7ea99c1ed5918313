package detect

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var hopper = GPUSet{GPUs: []GPU{
	{
		Index: 0, UUID: "GPU-11111111-aaaa-4000-8000-000000000000", Model: "NVIDIA H100 80GB HBM3", PCIBusID: "0000:19:00.0",
		Serial: "1650123000001", ComputeCapability: "9.0", MemoryTotal: 85520809984, DriverVersion: "550.54.15",
	},
	{Index: 1, UUID: "GPU-11112222-bbbb-4000-8000-000000000000"},
	{Index: 3, UUID: "GPU-33333333-cccc-4000-8000-000000000000"}, // 2 has fallen off the bus
}}

func TestRankAttributes(t *testing.T) {
	want := []string{
		"nv.gpu.index=INT64:0", "nv.gpu.uuid=STRING:GPU-11111111-aaaa-4000-8000-000000000000", "nv.gpu.model=STRING:NVIDIA H100 80GB HBM3",
		"nv.gpu.pci_bus_id=STRING:0000:19:00.0", "nv.gpu.serial=STRING:1650123000001", "nv.gpu.compute_capability=STRING:9.0",
		"nv.gpu.memory_total=INT64:85520809984", "nv.gpu.driver_version=STRING:550.54.15",
	}
	if diff := cmp.Diff(want, show(hopper.Rank(nil, 0))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRankFindsItsGPU(t *testing.T) {
	const none = -1
	for _, test := range []struct {
		visible string // "unset" for no variable
		rank    int
		want    int // index
	}{
		{"unset", 0, 0}, {"unset", 1, 1}, {"unset", 2, none}, {"unset", 3, 3}, {"unset", -1, none},
		{"", 1, 1}, {"  ", 1, 1},
		{"3,1", 0, 3}, {"3,1", 1, 1}, {"3,1", 2, none}, {"3,1", -1, none}, {" 3 , 1 ", 1, 1},
		{"2", 0, none}, {"-1", 0, none}, {"9223372036854775807", 0, none}, {"0,,1", 1, none}, {"0,,1", 2, 1},
		{"GPU-33333333-cccc-4000-8000-000000000000,0", 0, 3},
		{"gpu-33333333-CCCC-4000-8000-000000000000", 0, 3},
		{"GPU-333", 0, 3}, {"GPU-1111", 0, none}, {"GPU-11112", 0, 1}, {"GPU-", 0, none},
		{"GPU-33333333-cccc-4000-8000-000000000000x", 0, none},
		{"MIG-5c8f3a7e-0000-4000-8000-000000000000", 0, none}, {"NoDevFiles", 0, none},
	} {
		env := map[string]string{"CUDA_VISIBLE_DEVICES": test.visible}
		if test.visible == "unset" {
			env = nil
		}
		got := hopper.Rank(env, test.rank)
		if test.want == none {
			if len(got) != 0 {
				t.Errorf("%q, rank %d: %q, want none", test.visible, test.rank, show(got))
			}
			continue
		}
		if index := must(t, got, "nv.gpu.index").AsInt64(); index != int64(test.want) {
			t.Errorf("%q, rank %d: index %d, want %d", test.visible, test.rank, index, test.want)
		}
	}
}

// With a variable and no driver to ask, the number is all that is known.
func TestRankWithoutAQuery(t *testing.T) {
	env := map[string]string{"CUDA_VISIBLE_DEVICES": "4,5,-1,GPU-1"}
	for rank, want := range []([]string){{"nv.gpu.index=INT64:4"}, {"nv.gpu.index=INT64:5"}, {}, {}, {}} {
		if diff := cmp.Diff(want, show(GPUSet{}.Rank(env, rank))); diff != "" {
			t.Errorf("rank %d (-want +got):\n%s", rank, diff)
		}
	}
	if got := (GPUSet{}).Rank(nil, 0); len(got) != 0 {
		t.Errorf("without a variable either: %q", show(got))
	}
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		env   map[string]string
		set   GPUSet
		n     int
		known bool
	}{
		{nil, GPUSet{}, 0, false},
		{nil, hopper, 3, true},
		{map[string]string{"CUDA_VISIBLE_DEVICES": ""}, hopper, 0, true},
		{map[string]string{"CUDA_VISIBLE_DEVICES": "\t"}, hopper, 0, true},
		{map[string]string{"CUDA_VISIBLE_DEVICES": "0"}, hopper, 1, true},
		{map[string]string{"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"}, GPUSet{}, 8, true},
	} {
		if n, known := test.set.Count(test.env); n != test.n || known != test.known {
			t.Errorf("%v of %d: %d, %v, want %d, %v", test.env, len(test.set.GPUs), n, known, test.n, test.known)
		}
	}
}

// How many ranks --nproc gpu means: CUDA's reading, not Lens's count of entries.
func TestUsable(t *testing.T) {
	for value, want := range map[string]int{
		"": 0, " ": 0, "-1": 0, "NoDevFiles": 0, "0": 1, "0,1": 2, "0,1,": 2, " 2 , 3": 2, "0,-1,1": 1, ",0": 0,
		"GPU-8932f937,GPU-a": 2, "MIG-GPU-a/1/0": 1, "MIG-5c8f3a7e": 1, "0,x,1": 1, "1,0,7,6": 4,
	} {
		if n, known := hopper.Usable(map[string]string{"CUDA_VISIBLE_DEVICES": value}); n != want || !known {
			t.Errorf("%q: %d, %v, want %d", value, n, known, want)
		}
	}
	if n, known := hopper.Usable(nil); n != 3 || !known {
		t.Errorf("all of the host: %d, %v", n, known)
	}
	if n, known := (GPUSet{}).Usable(nil); n != 0 || known {
		t.Errorf("nobody knows: %d, %v", n, known)
	}
}

func TestPCIBusID(t *testing.T) {
	for text, want := range map[string]string{
		"00000000:3B:00.0": "0000:3b:00.0", "0000:3b:00.0": "0000:3b:00.0", "00010000:E1:00.7": "10000:e1:00.7",
		"0000:AF:1F.0": "0000:af:1f.0", "": "", "3B:00.0": "3B:00.0", "x:3B:00.0": "x:3B:00.0", "0000:3B:00": "0000:3B:00",
		"0:1:2.3": "0000:01:02.3", "FFFFFFFFF:3B:00.0": "FFFFFFFFF:3B:00.0", "0000:3B:00.0.1": "0000:3B:00.0.1",
	} {
		if got := pciBusID(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if got := pciBusID(pciBusID(text)); got != want {
			t.Errorf("%q, twice: %q, want %q", text, got, want)
		}
	}
}

// As the driver writes them, in two generations of its wording.
func driverFiles() fstest.MapFS {
	information := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"proc/driver/nvidia/version": information("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\nGCC version:  gcc version 11.3.0\n"),
		"proc/driver/nvidia/gpus/0000:c1:00.0/information": information("Model: \t\t NVIDIA A100-SXM4-80GB\nIRQ:   \t\t 287\n" +
			"GPU UUID: \t GPU-22222222-0000-4000-8000-000000000000\nVideo BIOS: \t 92.00.36.00.02\nBus Type: \t PCIe\n" +
			"Bus Location: \t 0000:c1:00.0\nDevice Minor: \t 1\nGPU Excluded:\t No\n"),
		"proc/driver/nvidia/gpus/0000:41:00.0/information": information("Model: \t\t NVIDIA A100-SXM4-80GB\n" +
			"GPU UUID: \t GPU-????????-????-????-????-????????????\nDevice Minor: \t 0\n"),
		"proc/driver/nvidia/gpus/0000:81:00.0/information": information("Model: \t\t NVIDIA A100-SXM4-80GB\nGPU Excluded:\t Yes\n"),
		"proc/driver/nvidia/gpus/0000:f1:00.0/power":       information(""),
	}
}

func TestGPUsFromTheDriver(t *testing.T) {
	want := GPUSet{GPUs: []GPU{
		{Index: 0, Model: "NVIDIA A100-SXM4-80GB", PCIBusID: "0000:41:00.0", DriverVersion: "535.54.03"},
		{Index: 1, UUID: "GPU-22222222-0000-4000-8000-000000000000", Model: "NVIDIA A100-SXM4-80GB", PCIBusID: "0000:c1:00.0", DriverVersion: "535.54.03"},
	}}
	// The program would fail this test if it were run: it prints another GPU.
	host := Host{FS: driverFiles(), Path: fakeSMI(t, "echo 7,GPU-7,x,0:1:0.0,1,9.0,1,1")}
	if diff := cmp.Diff(want, GPUs(t.Context(), host)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDriverVersion(t *testing.T) {
	for line, want := range map[string]string{
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (dvs-builder@U16)": "550.54.15",
		"NVRM version: NVIDIA UNIX aarch64 Kernel Module  470.82  Mon":                                         "470.82",
		"NVRM version: unknown": "", "": "",
	} {
		root := fstest.MapFS{"proc/driver/nvidia/version": {Data: []byte(line)}}
		if got := driverVersion(root); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// The answer that was put in is the answer; nothing is asked again.
func TestWithGPUs(t *testing.T) {
	host := Host{FS: driverFiles()}.WithGPUs(hopper)
	if diff := cmp.Diff(hopper, GPUs(t.Context(), host)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
