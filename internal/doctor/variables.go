package doctor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// pairs are variables that are the same thing under two names: where they differ, one of
// them is left over from elsewhere.
func pairs() [][2]string {
	return [][2]string{
		{"SLURM_JOB_ID", "SLURM_JOBID"}, {"SLURM_STEP_ID", "SLURM_STEPID"}, {"SLURM_NTASKS", "SLURM_NPROCS"},
		{"JOB_COMPLETION_INDEX", "PET_NODE_RANK"},
	}
}

// variables finds what schedulers and launchers contradict each other in.
func variables(_ context.Context, s Subject) []Finding {
	const check = "variables"
	var list []Finding
	add := func(level Level, do, found string, args ...any) {
		list = append(list, one(check, level, do, found, args...)...)
	}
	for _, p := range pairs() {
		a, b := s.Env[p[0]], s.Env[p[1]]
		if a != "" && b != "" && a != b {
			add(Warning, "unset what is left over from another job, or start in a new shell", "%s is %q and %s is %q", p[0], a, p[1], b)
		}
	}
	if s.Env["SLURM_JOB_ID"] != "" && s.Env["PET_NNODES"] != "" {
		add(Warning, "unset the other one's, or say --scheduler slurm or kubernetes", "Slurm's variables and a training operator's (PET_*) are both set: Slurm's count")
	}
	if id := s.Env["SLURM_STEP_ID"]; id != "" && s.Env["SLURM_STEP_NODELIST"] != "" && s.Env["SLURM_NODEID"] == "" {
		add(Warning, "start it with srun", "there is a Slurm step, and SLURM_NODEID is not set")
	}
	if id := s.Env["SLURM_NODEID"]; !s.Unplaced && s.Nodes > 1 && len(s.Hosts) == s.Nodes && id != "" && id != strconv.Itoa(s.NodeRank) {
		add(Warning, "leave --node-rank and LENSLAUNCH_NODE_RANK out: Slurm gives every node its own", "this node is %d by flag or variable, and SLURM_NODEID is %q", s.NodeRank, id)
	}
	if stale := inherited(s.Env); len(stale) > 0 {
		add(Note, "nothing: they describe another launcher's ranks, and every rank gets its own", "%s inherited", strings.Join(stale, ", "))
	}
	if gpus := s.Env["SLURM_GPUS_ON_NODE"]; gpus != "" && s.GPUsKnown && gpus != fmt.Sprint(s.GPUs) {
		add(Warning, "look at --gpus-per-node and CUDA_VISIBLE_DEVICES", "Slurm gives %s GPUs on this node, and %d can be used", gpus, s.GPUs)
	}
	if len(list) == 0 {
		add(Good, "", "nothing contradicts itself")
	}
	return list
}

// inherited lists what an outer launcher, or pyxis, has left.
func inherited(env map[string]string) []string {
	var list []string
	for _, key := range []string{"RANK", "LOCAL_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} {
		if _, set := env[key]; set {
			list = append(list, key)
		}
	}
	slices.Sort(list)
	return list
}

// earliest is a date before which no clock that was ever set can be.
var earliest = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// clock: spans of several nodes lie side by side only if their clocks agree.
func clock(_ context.Context, s Subject) []Finding {
	now := s.Now()
	if now.Before(earliest) {
		return one("clock", Problem, "set the clock: certificates and traces need it", "this host believes that it is %s", now.UTC().Format(time.DateOnly))
	}
	held, off, known := synchronised()
	switch {
	case !known:
		return one("clock", Note, "nothing", "it cannot be told whether the clock is held by a time service")
	case !held && s.Nodes > 1:
		return one("clock", Warning, "run a time service (chrony, systemd-timesyncd) on every node", "no time service holds the clock: traces of several nodes will not fit together")
	case !held:
		return one("clock", Note, "run a time service (chrony, systemd-timesyncd) if several nodes are compared", "no time service holds the clock")
	}
	return one("clock", Good, "", "held by a time service, within %v", off.Round(time.Millisecond))
}
