package detect

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"lenslaunch/semconv"
)

// smiLimit is how long nvidia-smi may take: with a broken driver it hangs.
const smiLimit = 5 * time.Second

// smiFields are the columns that are asked for; [smiGPU] reads them in this order.
var smiFields = []string{
	"index", "uuid", "name", "pci.bus_id", "serial", "compute_cap", "memory.total", "driver_version",
}

// askSMI runs nvidia-smi once for all GPUs. Where there is none to run, there is
// no error either.
func askSMI(ctx context.Context, host Host) ([]GPU, error) {
	table, ok, err := querySMI(ctx, host, "--query-gpu="+strings.Join(smiFields, ","))
	if !ok {
		return nil, err
	}
	return parseSMI(table), nil
}

// parseSMI reads the program's table. Lines that are not of it are passed over
// (notices, "No devices were found"); the first of two lines with one index holds.
func parseSMI(text string) []GPU {
	seen := map[int]bool{}
	var list []GPU
	for line := range strings.Lines(text) {
		gpu, ok := smiGPU(line)
		if !ok || seen[gpu.Index] {
			continue
		}
		seen[gpu.Index] = true
		list = append(list, gpu)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Index < list[j].Index })
	return list
}

func smiGPU(line string) (GPU, bool) {
	cells := strings.Split(line, ",")
	if len(cells) != len(smiFields) {
		return GPU{}, false
	}
	for i, cell := range cells {
		cells[i] = smiText(cell)
	}
	index, ok := semconv.ParseInt(cells[0])
	if !ok || index < 0 || index > math.MaxInt32 {
		return GPU{}, false
	}
	gpu := GPU{
		Index: int(index), UUID: cells[1], Model: cells[2], PCIBusID: pciBusID(cells[3]),
		Serial: cells[4], ComputeCapability: cells[5], DriverVersion: cells[7],
	}
	// nounits means MiB.
	if mib, ok := semconv.ParseInt(cells[6]); ok && mib > 0 && mib <= math.MaxInt64>>20 {
		gpu.MemoryTotal = mib << 20
	}
	return gpu, true
}

// smiText drops what stands for "unknown": [N/A], [Not Supported], [GPU requires
// reset], N/A.
func smiText(cell string) string {
	text := strings.ToValidUTF8(strings.TrimSpace(cell), "")
	if strings.HasPrefix(text, "[") || strings.EqualFold(text, "N/A") {
		return ""
	}
	return text
}

// lookPath finds a program in the absolute directories of path. Relative ones
// would run whatever lies in the working directory.
func lookPath(path, program string) string {
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, program)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// firstLine is what a failing program said, short enough for a message.
func firstLine(out []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if line == "" {
		return ""
	}
	return fmt.Sprintf(" (%.120q)", strings.TrimSpace(line))
}
