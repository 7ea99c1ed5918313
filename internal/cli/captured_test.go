package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lenslaunch/carrier"
	"lenslaunch/launcher"
)

// captured are the environments that real versions of Slurm gave, as package ranks has
// them, by name: "26.05.3-sbatch-step-rank1".
func captured(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("../../ranks/testdata/slurm-env/*.txt")
	if err != nil || len(files) != 40 {
		t.Fatalf("%d captured environments, %v", len(files), err)
	}
	envs := map[string][]string{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// Its task is one of another machine; here the number could be anybody's.
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(text)), "\n"), func(line string) bool {
			return strings.HasPrefix(line, "SLURM_TASK_PID=") || strings.HasPrefix(line, "TMPDIR=")
		})
		envs[strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "slurm-env-"), ".txt")] = lines
	}
	return envs
}

// `lenslaunch env` in each of them: steps have their place, and both nodes one attempt;
// everything else is refused with the line to use.
func TestEnvInEveryCapturedEnvironment(t *testing.T) {
	attempts, ports := map[string]string{}, map[string]string{}
	for name, environ := range captured(t) {
		args := []string{"env", "--format", "json", "--nproc", "2", "--master-addr", "10.0.0.1", "--", "python", "train.py"}
		if !strings.Contains(name, "-step-rank") && !strings.Contains(name, "-srun-rank") || strings.Contains(name, "het-") {
			got := invoke(t, environ, args...)
			if got.code != launcher.ExitUsage || !strings.Contains(got.err, "srun ") || strings.Count(got.err, "\n") != 1 {
				t.Errorf("%s: exit code %d, %s", name, got.code, got.err)
			}
			continue
		}
		rank := name[len(name)-1:]
		shown := ranksOf(t, environ, args[3:]...)
		// Of an array, two elements were captured.
		step := name[:len(name)-len("-rank0")] + " of job " + attributeOf(shown[0], "slurm.job.id.raw")
		for _, want := range []string{"node rank " + rank + " of 2 from SLURM_NODEID", "head n1 from SLURM_STEP_NODELIST", "master address 10.0.0.1 from --master-addr"} {
			if !slices.Contains(shown[0].Why, want) {
				t.Errorf("%s: why has no %q:\n%s", name, want, strings.Join(shown[0].Why, "\n"))
			}
		}
		for _, r := range shown {
			uuid := attributeOf(r, "nv.dl.run.uuid")
			if attempts[step] == "" {
				attempts[step], ports[step] = uuid, r.Env["MASTER_PORT"]
			}
			if uuid != attempts[step] || r.Env["MASTER_PORT"] != ports[step] || r.Env["MASTER_PORT"] == "" {
				t.Errorf("%s: attempt %s on port %s, the other node has %s on %s", name, uuid, r.Env["MASTER_PORT"], attempts[step], ports[step])
			}
			if want := map[bool]string{true: "1", false: "0"}[strings.Contains(name, "requeue1")]; attributeOf(r, "slurm.restart_count") != want {
				t.Errorf("%s: restart count %s, want %s", name, attributeOf(r, "slurm.restart_count"), want)
			}
		}
	}
	if len(attempts) < 10 { // two versions of direct, sbatch, array, requeue0, requeue1
		t.Errorf("%d steps: %v", len(attempts), attempts)
	}
}

func attributeOf(r shownRank, key string) string {
	for _, kv := range carrier.Parse(r.Env[carrier.Variable]) {
		if string(kv.Key) == key {
			return kv.Value.AsString()
		}
	}
	return ""
}
