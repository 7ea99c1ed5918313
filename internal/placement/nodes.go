package placement

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// readNodes reads the map of NUMA nodes. A kernel that was built without NUMA has none,
// which is for the caller to judge: only some ways of binding need it.
func readNodes(root fs.FS, cpus CPUList, ok allowed) ([]Node, error) {
	online, err := readList(root, nodeDir+"/online")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	nodes := make([]Node, 0, len(online))
	for _, id := range online {
		dir := nodeDir + "/node" + strconv.Itoa(id)
		list, err := readList(root, dir+"/cpulist")
		if err != nil {
			return nil, err
		}
		memory, err := readMemory(root, dir+"/meminfo")
		if err != nil {
			return nil, err
		}
		if !ok.anyNode && !ok.nodes.Has(id) {
			memory = 0
		}
		nodes = append(nodes, Node{ID: id, CPUs: list.and(cpus), Memory: memory})
	}
	return nodes, nil
}

// readMemory reads the line "Node 0 MemTotal:  17918156 kB".
func readMemory(root fs.FS, name string) (int64, error) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || fields[2] != "MemTotal:" {
			continue
		}
		kib, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil || kib < 0 || kib > math.MaxInt64/1024 {
			return 0, fmt.Errorf("%s: MemTotal is %.40q", name, fields[3])
		}
		return kib * 1024, nil
	}
	return 0, fmt.Errorf("%s: no MemTotal", name)
}
