package detect

import (
	"fmt"
	"strconv"
	"strings"
)

// pciBusID spells a PCI address as sysfs does. Tools disagree: NVML writes the
// domain with 8 digits and capitals, the kernel with 4 and small letters, and two
// spellings of one device do not compare. A text that is no address stays.
func pciBusID(text string) string {
	domain, rest, ok := strings.Cut(text, ":")
	bus, rest, ok2 := strings.Cut(rest, ":")
	device, function, ok3 := strings.Cut(rest, ".")
	if !ok || !ok2 || !ok3 {
		return text
	}
	parts := make([]uint64, 4)
	for i, part := range []string{domain, bus, device, function} {
		n, err := strconv.ParseUint(part, 16, 32)
		if err != nil {
			return text
		}
		parts[i] = n
	}
	return fmt.Sprintf("%04x:%02x:%02x.%x", parts[0], parts[1], parts[2], parts[3])
}
