package detect

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// driverGPUs reads the files that the NVIDIA driver keeps under /proc, one per
// GPU, in the order of their PCI addresses, which is the order of the indexes.
// They say less than nvidia-smi, but at once and without starting a process.
func driverGPUs(root fs.FS) []GPU {
	files, err := fs.Glob(root, "proc/driver/nvidia/gpus/*/information")
	if err != nil {
		return nil
	}
	version := driverVersion(root)
	var list []GPU
	for _, file := range files { // Glob sorts
		text, err := fs.ReadFile(root, file)
		if err != nil {
			continue
		}
		facts := colonLines(string(text))
		if strings.EqualFold(facts["GPU Excluded"], "yes") {
			continue // kept from NVML and CUDA: it has no index
		}
		bus := facts["Bus Location"]
		if bus == "" {
			bus = path.Base(path.Dir(file))
		}
		list = append(list, GPU{
			Index: len(list), UUID: driverUUID(facts["GPU UUID"]), Model: facts["Model"],
			PCIBusID: pciBusID(bus), DriverVersion: version,
		})
	}
	return list
}

// driverUUID drops the placeholder of a GPU that nobody has opened yet:
// "GPU-????????-????-...".
func driverUUID(text string) string {
	if strings.Contains(text, "?") {
		return ""
	}
	return text
}

// colonLines reads lines such as "Model: \t NVIDIA H100".
func colonLines(text string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			facts[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return facts
}

// driverVersion finds the version in a line such as "NVRM version: NVIDIA UNIX
// x86_64 Kernel Module  535.54.03  Tue Jun ...", whose other words vary.
func driverVersion(root fs.FS) string {
	text, err := fs.ReadFile(root, "proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return versionNumber.FindString(line)
}

var versionNumber = regexp.MustCompile(`\b\d+\.\d+(\.\d+)?\b`)
