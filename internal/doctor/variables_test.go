package doctor

import (
	"testing"
	"time"
)

func TestVariables(t *testing.T) {
	for _, test := range []struct {
		env   map[string]string
		level Level
		found string
	}{
		{map[string]string{}, Good, "nothing contradicts itself"},
		{map[string]string{"SLURM_JOB_ID": "7", "SLURM_JOBID": "8"}, Warning, `SLURM_JOB_ID is "7" and SLURM_JOBID is "8"`},
		{map[string]string{"JOB_COMPLETION_INDEX": "1", "PET_NODE_RANK": "2"}, Warning, `JOB_COMPLETION_INDEX is "1"`},
		{map[string]string{"SLURM_JOB_ID": "7", "PET_NNODES": "2"}, Warning, "are both set: Slurm's count"},
		{map[string]string{"SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "n1"}, Warning, "SLURM_NODEID is not set"},
		{map[string]string{"WORLD_SIZE": "8", "RANK": "3"}, Note, "RANK, WORLD_SIZE inherited"},
	} {
		s := subject()
		s.Env = test.env
		expect(t, variables(t.Context(), s), test.level, test.found)
	}
	s := subject()
	s.Env, s.GPUs, s.GPUsKnown = map[string]string{"SLURM_GPUS_ON_NODE": "8"}, 4, true
	expect(t, variables(t.Context(), s), Warning, "Slurm gives 8 GPUs on this node, and 4 can be used")
}

// One value of LENSLAUNCH_NODE_RANK for all nodes of a step makes them one node.
func TestNodeRankAgainstSlurm(t *testing.T) {
	s := subject()
	s.Nodes, s.NodeRank, s.Hosts = 2, 0, []string{"n1", "n2"}
	s.Env = map[string]string{"SLURM_NODEID": "1"}
	expect(t, variables(t.Context(), s), Warning, `this node is 0 by flag or variable, and SLURM_NODEID is "1"`)
	s.NodeRank = 1
	expect(t, variables(t.Context(), s), Good, "nothing")
	s.NodeRank, s.Unplaced = 0, true
	expect(t, variables(t.Context(), s), Good, "nothing")
}

func TestClock(t *testing.T) {
	s := subject()
	s.Now = func() time.Time { return time.Date(1970, 1, 1, 3, 0, 0, 0, time.UTC) }
	expect(t, clock(t.Context(), s), Problem, "believes that it is 1970-01-01")
	s.Now = time.Now
	if list := clock(t.Context(), s); len(list) != 1 || list[0].Level == Problem {
		t.Errorf("%+v", list)
	}
}
