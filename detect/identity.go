package detect

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"lenslaunch/semconv"
)

// firstReservedStep is the lowest of the step ids that Slurm keeps for batch
// scripts, interactive shells and external processes. From 26.05 they are
// negative instead.
const firstReservedStep = 4294967280

// LensJobUUID is what NeMo Lens derives for nv.dl.job.uuid: the effort as it was
// submitted, the same over every restart, requeue and array element. It reads
// the scheduler's raw variables, never the carrier. Outside Slurm the value says
// nothing (cluster "nocluster", job "nojob"): use [JobUUID].
func LensJobUUID(env map[string]string) string {
	return urlUUID("nemo.lens.job/" + strings.Join(slurmJob(env), "/"))
}

// JobUUID is nv.dl.job.uuid as the launcher derives it: Lens's under Slurm,
// elsewhere one of the run id. Without both there is none, and it reports false.
func JobUUID(env map[string]string, runID string) (string, bool) {
	if underSlurm(env) {
		return LensJobUUID(env), true
	}
	if runID == "" {
		return "", false
	}
	return urlUUID("nemo.lens.job/local/" + runID), true
}

// LensRunUUID is what NeMo Lens derives for nv.dl.run.uuid, one attempt. Outside
// Slurm it needs a run id, the argument's or TORCHELASTIC_RUN_ID, and reports
// false without one.
func LensRunUUID(env map[string]string, runID string) (string, bool) {
	elastic, counted := env["TORCHELASTIC_RESTART_COUNT"]
	if !underSlurm(env) {
		if runID = firstOf(runID, env["TORCHELASTIC_RUN_ID"]); runID == "" {
			return "", false
		}
		return urlUUID("nemo.lens.run/local/" + runID + "/te" + firstOf(elastic, "0")), true
	}
	parts := slurmRun(env)
	if counted { // also if it is empty: Lens asks whether it is set
		parts = append(parts, "te"+elastic)
	}
	return urlUUID("nemo.lens.run/" + strings.Join(parts, "/")), true
}

// AttemptUUID is nv.dl.run.uuid as the launcher derives it for its attempt
// number attempt, counted from 0 in each scheduler execution. It is Lens's
// derivation with the te part always there, and appends what keeps two attempts
// from ever sharing one:
//
//   - "st{k}" in a step with id k > 0, since a loop of sruns in one allocation
//     changes nothing else;
//   - "at{task}" and "sr{restarts}" in an array element, since Lens's own value
//     is the same for all elements.
//
// Outside Slurm the run id is the identity and must not be empty.
// (Identity specification, "The launcher owns the attempt".)
func AttemptUUID(env map[string]string, runID string, attempt int) string {
	te := "te" + strconv.Itoa(attempt)
	if !underSlurm(env) {
		return urlUUID("nemo.lens.run/local/" + runID + "/" + te)
	}
	parts := append(slurmRun(env), te)
	if k, ok := stepID(env); ok && k > 0 {
		parts = append(parts, "st"+strconv.FormatInt(k, 10))
	}
	if task, element := env["SLURM_ARRAY_TASK_ID"]; element {
		parts = append(parts, "at"+task, slurmRestarts(env))
	}
	return urlUUID("nemo.lens.run/" + strings.Join(parts, "/"))
}

// Execution names the scheduler execution that a launcher runs in, "" outside Slurm:
// attempts are counted from 0 in each. Two executions of one job (or array element)
// have different names exactly where [AttemptUUID] gives the same attempt number
// different UUIDs, so that number and UUID can never disagree about what is new.
func Execution(env map[string]string) string {
	if !underSlurm(env) {
		return ""
	}
	key := slurmRestarts(env)
	if k, ok := stepID(env); ok && k > 0 {
		key += "/st" + strconv.FormatInt(k, 10)
	}
	return key
}

// underSlurm is Lens's test for an identity of the scheduler's.
func underSlurm(env map[string]string) bool {
	return env["SLURM_JOB_ID"] != "" || env["SLURM_ARRAY_JOB_ID"] != ""
}

// slurmJob returns the two parts that every identity begins with: cluster, job.
// An element's job is that of its array, so that all elements are one effort.
func slurmJob(env map[string]string) []string {
	job := env["SLURM_JOB_ID"]
	if _, element := env["SLURM_ARRAY_TASK_ID"]; element {
		job = env["SLURM_ARRAY_JOB_ID"]
	}
	return []string{firstOf(env["SLURM_CLUSTER_NAME"], "nocluster"), firstOf(job, "nojob")}
}

// slurmRun returns Lens's parts of an attempt up to the te part.
func slurmRun(env map[string]string) []string {
	parts := slurmJob(env)
	if _, element := env["SLURM_ARRAY_TASK_ID"]; !element {
		parts = append(parts, slurmRestarts(env))
	}
	return parts
}

func slurmRestarts(env map[string]string) string {
	return "sr" + firstOf(env["SLURM_RESTART_COUNT"], "0")
}

// stepID returns the id of the real step that the variables describe. (Cluster
// specification, "Slurm: where am I?"; package ranks decides by the same rule.)
func stepID(env map[string]string) (int64, bool) {
	id, ok := semconv.ParseInt(env["SLURM_STEP_ID"])
	return id, ok && 0 <= id && id < firstReservedStep && env["SLURM_STEP_NODELIST"] != ""
}

func urlUUID(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
}
