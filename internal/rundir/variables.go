package rundir

import (
	"slices"
	"strings"
)

// OwnVariable reports whether a variable of a worker is one whose value the launcher
// decides. Only those are recorded: any other may hold a secret, also one that came by
// --env. (What a worker gets: the launch specification. OTEL_RESOURCE_ATTRIBUTES holds
// what users put there.)
func OwnVariable(name string) bool {
	own := []string{
		"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
		"ROLE_RANK", "ROLE_WORLD_SIZE", "ROLE_NAME", "MASTER_ADDR", "MASTER_PORT",
		"TORCH_NCCL_ASYNC_ERROR_HANDLING", "PYTHONUNBUFFERED", "OMP_NUM_THREADS",
		"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
		"NEMO_LENS_RUN_ID", "TRACEPARENT",
	}
	return slices.Contains(own, name) || strings.HasPrefix(name, "TORCHELASTIC_") || strings.HasPrefix(name, "LENSLAUNCH_")
}

// ownVariables leaves out what is not the launcher's to tell. It does not change vars.
func ownVariables(vars map[string]string) map[string]string {
	var own map[string]string
	for name, value := range vars {
		if !OwnVariable(name) {
			continue
		}
		if own == nil {
			own = map[string]string{}
		}
		own[name] = clip(value, maxLine)
	}
	return own
}
