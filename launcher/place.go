package launcher

import (
	"fmt"
	"io/fs"
	"maps"
	"strconv"

	"lenslaunch/detect"
	"lenslaunch/internal/placement"
	"lenslaunch/semconv"
)

// Placement is where ranks run (issue 3, "Placement"). The zero value binds nothing
// and computes OMP_NUM_THREADS.
type Placement struct {
	CPUs    placement.Mode // --cpu-bind, empty: none
	Threads int            // --omp-threads N, 0: auto
	Inherit bool           // --omp-threads inherit: OMP_NUM_THREADS is not touched
	OneGPU  bool           // --gpu-bind single: each rank sees its own GPU only
}

// locate gives every rank its place. root is the root of the file system.
func (p *Plan) locate(root fs.FS, gpus detect.GPUSet) error {
	n := p.World.LocalSize
	p.bindings = make([]placement.Binding, n)
	if mode := p.Placement.CPUs; mode != "" && mode != placement.None {
		if err := p.bindCPUs(root, mode); err != nil {
			return usage(fmt.Sprintf("cannot do --cpu-bind %s: %v", mode, err), "")
		}
	}
	return p.bindGPUs(gpus)
}

// bindCPUs gives every rank its CPUs and memory.
func (p *Plan) bindCPUs(root fs.FS, mode placement.Mode) error {
	topology, err := placement.Read(root)
	if err != nil {
		return err
	}
	nodes, err := p.gpuNodes(root)
	if err != nil && mode == placement.NUMA {
		return err
	}
	if p.bindings, err = placement.Plan(topology, mode, p.World.LocalSize, nodes); err != nil {
		return err
	}
	if mode == placement.NUMA {
		p.checkMemoryPolicy()
	}
	for local, b := range p.bindings {
		p.Why = append(p.Why, fmt.Sprintf("rank %d on CPUs %v: %s", p.World.Rank(local), b.CPUs, b.Why))
	}
	return nil
}

// checkMemoryPolicy does without a memory policy where a container forbids it: the
// CPUs alone already keep most memory near.
func (p *Plan) checkMemoryPolicy() {
	err := placement.CheckMemoryPolicy()
	if err == nil {
		return
	}
	for i := range p.bindings {
		p.bindings[i].Nodes = nil
	}
	p.Warnings = append(p.Warnings, fmt.Sprintf("ranks are bound to CPUs but not to memory: %v", err))
}

// gpuNodes is the NUMA node of each local rank's GPU, where that is to be known.
func (p *Plan) gpuNodes(root fs.FS) ([]int, error) {
	var ids []string
	for local := range p.World.LocalSize {
		id, ok := semconv.Get(p.gpu[local], semconv.NVGPUPCIBusID)
		if !ok {
			return nil, nil // no GPUs, or more ranks than GPUs: spread over the nodes
		}
		ids = append(ids, id.AsString())
	}
	return placement.GPUNodes(root, ids)
}

// bindGPUs narrows what each rank sees to its own GPU.
func (p *Plan) bindGPUs(gpus detect.GPUSet) error {
	p.visible = make([]map[string]string, p.World.LocalSize)
	if !p.Placement.OneGPU {
		return nil
	}
	count, known := gpus.Usable(p.Env)
	if !known {
		count = -1
	}
	for local := range p.visible {
		var err error
		if p.visible[local], err = placement.GPUBind(p.Env, local, count); err != nil {
			return usage(fmt.Sprintf("cannot do --gpu-bind single: %v", err), "start as many ranks as there are GPUs, or use --gpu-bind none")
		}
	}
	p.Why = append(p.Why, "each rank sees one GPU, as device 0, from --gpu-bind single")
	return nil
}

// placed adds the variables that place a rank. OMP_NUM_THREADS is set where the user
// has not set it.
func (p *Plan) placed(set map[string]string, local int) {
	maps.Copy(set, p.visible[local])
	_, chosen := p.Env["OMP_NUM_THREADS"]
	switch {
	case p.Placement.Threads > 0:
		set["OMP_NUM_THREADS"] = strconv.Itoa(p.Placement.Threads)
	case !chosen && !p.Placement.Inherit:
		set["OMP_NUM_THREADS"] = strconv.Itoa(placement.Threads(p.bindings[local], p.cpus, p.World.LocalSize))
	}
}

// threadsWhy says once how OMP_NUM_THREADS was decided.
func (p *Plan) threadsWhy() string {
	switch _, chosen := p.Env["OMP_NUM_THREADS"]; {
	case p.Placement.Threads > 0:
		return fmt.Sprintf("OMP_NUM_THREADS=%d from --omp-threads", p.Placement.Threads)
	case chosen || p.Placement.Inherit:
		return "OMP_NUM_THREADS as inherited"
	}
	return fmt.Sprintf("OMP_NUM_THREADS=%d: %d usable CPUs for %d local ranks",
		placement.Threads(p.bindings[0], p.cpus, p.World.LocalSize), p.cpus, p.World.LocalSize)
}
