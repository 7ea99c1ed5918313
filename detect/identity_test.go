package detect

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
)

func TestUUIDVectors(t *testing.T) {
	for i, v := range readVectors(t).UUID {
		runID, want := "", ""
		if v.RunID != nil {
			runID = *v.RunID
		}
		if v.Run != nil {
			want = *v.Run
		}
		if got := LensJobUUID(v.Env); got != v.Job {
			t.Errorf("vector %d, %v: job %s, want %s", i, v.Env, got, v.Job)
		}
		if got, ok := LensRunUUID(v.Env, runID); got != want || ok != (v.Run != nil) {
			t.Errorf("vector %d, %v: run %q, %v, want %q", i, v.Env, got, ok, want)
		}
	}
}

func TestJobUUID(t *testing.T) {
	slurm := map[string]string{"SLURM_JOB_ID": "12345", "SLURM_CLUSTER_NAME": "cluster-a"}
	for _, test := range []struct {
		what  string
		env   map[string]string
		runID string
		want  string // the name that the UUID is of; "" for none
	}{
		{"Slurm", slurm, "", "nemo.lens.job/cluster-a/12345"},
		{"Slurm, whatever the run is called", slurm, "run-7", "nemo.lens.job/cluster-a/12345"},
		{"Slurm, requeued", with(slurm, "SLURM_RESTART_COUNT", "3"), "", "nemo.lens.job/cluster-a/12345"},
		{"an array element", with(slurm, "SLURM_ARRAY_JOB_ID", "12000", "SLURM_ARRAY_TASK_ID", "7"), "", "nemo.lens.job/cluster-a/12000"},
		{"the carrier has no part in it", with(slurm, "OTEL_RESOURCE_ATTRIBUTES", "slurm.cluster.name=other"), "", "nemo.lens.job/cluster-a/12345"},
		{"only the array's id", map[string]string{"SLURM_ARRAY_JOB_ID": "9"}, "r", "nemo.lens.job/nocluster/nojob"},
		{"elsewhere", nil, "run-7", "nemo.lens.job/local/run-7"},
		{"elsewhere, without a name", map[string]string{"SLURM_JOB_ID": ""}, "", ""},
	} {
		got, ok := JobUUID(test.env, test.runID)
		if want := named(test.want); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want that of %q", test.what, got, ok, test.want)
		}
	}
}

func TestAttemptUUID(t *testing.T) {
	job := map[string]string{"SLURM_JOB_ID": "12345", "SLURM_CLUSTER_NAME": "c"}
	step := with(job, "SLURM_STEP_ID", "4", "SLURM_STEP_NODELIST", "n1")
	element := with(job, "SLURM_ARRAY_JOB_ID", "12000", "SLURM_ARRAY_TASK_ID", "7")
	for _, test := range []struct {
		what    string
		env     map[string]string
		attempt int
		want    string
	}{
		{"elsewhere", nil, 0, "local/run-7/te0"},
		{"elsewhere, restarted", map[string]string{"TORCHELASTIC_RESTART_COUNT": "9"}, 2, "local/run-7/te2"},
		{"a job", job, 0, "c/12345/sr0/te0"},
		{"an inherited count is another launcher's", with(job, "TORCHELASTIC_RESTART_COUNT", "9"), 1, "c/12345/sr0/te1"},
		{"requeued", with(job, "SLURM_RESTART_COUNT", "2"), 1, "c/12345/sr2/te1"},
		{"a later step", step, 1, "c/12345/sr0/te1/st4"},
		{"the first step", with(step, "SLURM_STEP_ID", "0"), 1, "c/12345/sr0/te1"},
		{"a batch script", with(step, "SLURM_STEP_ID", "-5"), 1, "c/12345/sr0/te1"},
		{"an interactive step", with(step, "SLURM_STEP_ID", "4294967290"), 1, "c/12345/sr0/te1"},
		{"the highest step", with(step, "SLURM_STEP_ID", "4294967279"), 1, "c/12345/sr0/te1/st4294967279"},
		{"a step id without a node list", with(step, "SLURM_STEP_NODELIST", ""), 1, "c/12345/sr0/te1"},
		{"an element", element, 0, "c/12000/te0/at7/sr0"},
		{"an element, requeued", with(element, "SLURM_RESTART_COUNT", "1"), 0, "c/12000/te0/at7/sr1"},
		{"a later step of an element", with(element, "SLURM_STEP_ID", "2", "SLURM_STEP_NODELIST", "n1", "SLURM_RESTART_COUNT", "1"), 3, "c/12000/te3/st2/at7/sr1"},
	} {
		if got := AttemptUUID(test.env, "run-7", test.attempt); got != named("nemo.lens.run/"+test.want) {
			t.Errorf("%s: %s is not that of %s", test.what, got, test.want)
		}
	}
}

// What the launcher tells its workers by variables leads Lens to the same UUID,
// wherever nothing had to be appended.
func TestAttemptUUIDAgreesWithLens(t *testing.T) {
	for _, env := range []map[string]string{
		{}, {"SLURM_JOB_ID": "1"}, {"SLURM_JOB_ID": "1", "SLURM_RESTART_COUNT": "2"},
		captured(t, "22.05.8-sbatch-batch"), captured(t, "26.05.3-requeue1-step-rank0"),
	} {
		for attempt := range 3 {
			worker := with(env, "TORCHELASTIC_RESTART_COUNT", fmt.Sprint(attempt), "TORCHELASTIC_RUN_ID", "run-7")
			if lens, _ := LensRunUUID(worker, ""); lens != AttemptUUID(env, "run-7", attempt) {
				t.Errorf("job %q, attempt %d: a worker would derive %s", env["SLURM_JOB_ID"], attempt, lens)
			}
		}
	}
}

// No two attempts share a UUID: not over restarts, requeues, steps, elements,
// jobs, clusters, or runs outside Slurm.
func TestAttemptUUIDsNeverMeet(t *testing.T) {
	seen := map[string]string{}
	add := func(env map[string]string, runID string, attempt int) {
		what := fmt.Sprint(env, runID, attempt)
		id := AttemptUUID(env, runID, attempt)
		if other, met := seen[id]; met {
			t.Errorf("%s and %s share %s", what, other, id)
		}
		seen[id] = what
	}
	for attempt := range 4 {
		for _, runID := range []string{"run-7", "run-8", "7"} {
			add(nil, runID, attempt)
		}
		for _, cluster := range []string{"", "a"} {
			for restarts := range 3 {
				for step := range 3 {
					env := map[string]string{
						"SLURM_JOB_ID": "7", "SLURM_CLUSTER_NAME": cluster, "SLURM_RESTART_COUNT": fmt.Sprint(restarts),
						"SLURM_STEP_ID": fmt.Sprint(step), "SLURM_STEP_NODELIST": "n1",
					}
					add(env, "7", attempt)
					for task := range 3 {
						add(with(env, "SLURM_JOB_ID", fmt.Sprint(70+task), "SLURM_ARRAY_JOB_ID", "70", "SLURM_ARRAY_TASK_ID", fmt.Sprint(task)), "7", attempt)
					}
				}
			}
		}
	}
	if want := 4 * (3 + 2*3*3*4); len(seen) != want {
		t.Errorf("%d attempts, want %d", len(seen), want)
	}
}

// named is the UUID of a name, by the library itself.
func named(name string) string {
	if name == "" {
		return ""
	}
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
}
