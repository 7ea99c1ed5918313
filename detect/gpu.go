package detect

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"lenslaunch/semconv"
)

// visibleDevices is how CUDA is told which GPUs a process may use.
const visibleDevices = "CUDA_VISIBLE_DEVICES"

// A GPU is one GPU of the host. Texts are empty and MemoryTotal is 0 where they
// are unknown.
type GPU struct {
	Index             int // physical: NVML's order, which is the order on the PCI bus
	UUID              string
	Model             string
	PCIBusID          string // as sysfs spells it: lower case, domain of 4 digits
	Serial            string
	ComputeCapability string // "9.0"
	MemoryTotal       int64  // bytes
	DriverVersion     string
}

// A GPUSet is the answer of one query for all GPUs of a host. The zero value is
// that of a host without any, or without an answer.
type GPUSet struct {
	GPUs []GPU // by index
	Err  error // why nvidia-smi gave no answer; nil also where there is none to ask
}

// GPUs asks once which GPUs the host has: the NVIDIA driver's files under /proc,
// else nvidia-smi with a limit (see [Host.GPULimit]). It never fails; a program
// that hangs costs the limit and nothing more. (Resource detection
// specification, "Local".)
func GPUs(ctx context.Context, host Host) GPUSet {
	if host.gpus != nil {
		return *host.gpus
	}
	if list := driverGPUs(host.files()); len(list) > 0 {
		return GPUSet{GPUs: list}
	}
	list, err := askSMI(ctx, host)
	if err != nil {
		err = fmt.Errorf("cannot ask nvidia-smi for GPUs: %w", err)
		host.log().Debug("no GPUs known", "error", err)
	}
	return GPUSet{GPUs: list, Err: err}
}

// Count is host.gpu.count, and whether it is known: as many as CUDA_VISIBLE_DEVICES has entries if it is
// set (0 if it is blank), else all that were found.
func (s GPUSet) Count(env map[string]string) (n int, known bool) {
	if value, set := env[visibleDevices]; set {
		if semconv.TrimSpace(value) == "" {
			return 0, true
		}
		return strings.Count(value, ",") + 1, true
	}
	return len(s.GPUs), len(s.GPUs) > 0
}

// Usable returns how many GPUs CUDA would give to a process with this environment, and
// whether that is known. It reads CUDA_VISIBLE_DEVICES as CUDA does: what follows an entry
// that names no GPU is not visible, which is how "-1", and Slurm's "NoDevFiles" for a job
// that has asked for none, hide all. [GPUSet.Count] is Lens's plain rule instead.
func (s GPUSet) Usable(env map[string]string) (n int, known bool) {
	value, set := env[visibleDevices]
	if !set {
		return s.Count(env)
	}
	for entry := range strings.SplitSeq(value, ",") {
		if !namesGPU(semconv.TrimSpace(entry)) {
			break
		}
		n++
	}
	return n, true
}

// namesGPU: a number, or the UUID of a GPU or of a part of one.
func namesGPU(entry string) bool {
	return entry != "" && '0' <= entry[0] && entry[0] <= '9' || strings.HasPrefix(entry, "GPU-") || strings.HasPrefix(entry, "MIG-")
}

// Rank returns the nv.gpu.* attributes of the GPU that local rank localRank uses
// by convention, the one at that place of CUDA_VISIBLE_DEVICES, or of the host if
// the variable is unset or blank. Each is optional; none is there if the place is
// out of range or names no GPU of the host.
func (s GPUSet) Rank(env map[string]string, localRank int) []attribute.KeyValue {
	value := env[visibleDevices]
	if semconv.TrimSpace(value) == "" {
		return s.at(localRank)
	}
	entries := strings.Split(value, ",")
	if localRank < 0 || localRank >= len(entries) {
		return nil
	}
	entry := semconv.TrimSpace(entries[localRank])
	if index, ok := semconv.ParseInt(entry); ok {
		if len(s.GPUs) == 0 && index >= 0 {
			// Nobody could be asked about it, but its number is known.
			return []attribute.KeyValue{attribute.Int64(semconv.NVGPUIndex, index)}
		}
		return s.at(int(index))
	}
	return s.named(entry)
}

// at returns the attributes of the GPU with this index.
func (s GPUSet) at(index int) []attribute.KeyValue {
	for _, gpu := range s.GPUs {
		if gpu.Index == index {
			return gpu.attributes()
		}
	}
	return nil
}

// named finds a GPU by its UUID or, as CUDA allows, by enough of the beginning
// of one to tell it from the others. Parts of a GPU (MIG-...) are no GPU.
func (s GPUSet) named(text string) []attribute.KeyValue {
	var found []GPU
	for _, gpu := range s.GPUs {
		if strings.EqualFold(gpu.UUID, text) {
			return gpu.attributes()
		}
		if len(text) > len("GPU-") && len(text) < len(gpu.UUID) && strings.EqualFold(gpu.UUID[:len(text)], text) {
			found = append(found, gpu)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0].attributes()
}

func (g GPU) attributes() []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.Int(semconv.NVGPUIndex, g.Index)}
	add := func(key, value string) {
		if value != "" {
			list = append(list, attribute.String(key, value))
		}
	}
	add(semconv.NVGPUUUID, g.UUID)
	add(semconv.NVGPUModel, g.Model)
	add(semconv.NVGPUPCIBusID, g.PCIBusID)
	add(semconv.NVGPUSerial, g.Serial)
	add(semconv.NVGPUComputeCapability, g.ComputeCapability)
	if g.MemoryTotal > 0 {
		list = append(list, attribute.Int64(semconv.NVGPUMemoryTotal, g.MemoryTotal))
	}
	add(semconv.NVGPUDriverVersion, g.DriverVersion)
	return list
}
