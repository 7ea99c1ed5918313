package placement

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// NoNode stands for a NUMA node that is not known.
const NoNode = -1

// GPUNodes tells the NUMA node that each PCI device is attached to, NoNode where the
// firmware does not say (many virtual machines; harmless where there is one node). A
// device that sysfs does not have is an error: the address is wrong, or the map is
// missing, and either would lose the binding in silence.
func GPUNodes(root fs.FS, busIDs []string) ([]int, error) {
	nodes := make([]int, len(busIDs))
	for i, id := range busIDs {
		name, err := BusID(id)
		if err == nil {
			nodes[i], err = readInt(root, "sys/bus/pci/devices/"+name+"/numa_node")
		}
		if err != nil {
			return nil, fmt.Errorf("cannot tell the NUMA node of GPU %d: %w", i, err)
		}
		nodes[i] = max(nodes[i], NoNode)
	}
	return nodes, nil
}

// BusID spells a PCI address as sysfs does, "0000:c1:00.0". NVIDIA's tools write the
// domain with 8 digits and capitals, CUDA sometimes leaves it out.
func BusID(text string) (string, error) {
	parts := strings.Split(strings.TrimSpace(text), ":")
	if len(parts) == 2 {
		parts = append([]string{"0"}, parts...)
	}
	fail := fmt.Errorf("%.40q is no PCI address such as 0000:c1:00.0", text)
	if len(parts) != 3 {
		return "", fail
	}
	device, function, ok := strings.Cut(parts[2], ".")
	if !ok {
		return "", fail
	}
	var n [4]uint64
	for i, part := range []string{parts[0], parts[1], device, function} {
		// Widths of the numbers: domain 32 bits, bus 8, device 5, function 3.
		value, err := strconv.ParseUint(part, 16, []int{32, 8, 5, 3}[i])
		if err != nil {
			return "", fail
		}
		n[i] = value
	}
	return fmt.Sprintf("%04x:%02x:%02x.%x", n[0], n[1], n[2], n[3]), nil
}
