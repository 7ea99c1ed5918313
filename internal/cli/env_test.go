package cli

import (
	"encoding/json"
	"maps"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lenslaunch/carrier"
)

// ranksOf decodes `env --format json`.
func ranksOf(t *testing.T, environ []string, args ...string) []shownRank {
	t.Helper()
	got := invoke(t, environ, append([]string{"env", "--format", "json"}, args...)...)
	if got.code != 0 || got.err != "" {
		t.Fatalf("exit code %d, stderr %q", got.code, got.err)
	}
	var shown []shownRank
	if err := json.Unmarshal([]byte(got.out), &shown); err != nil {
		t.Fatal(err)
	}
	return shown
}

func TestEnvJSON(t *testing.T) {
	shown := ranksOf(t, []string{
		"OTEL_RESOURCE_ATTRIBUTES=team=blue,nv.dl.rank=9", "RANK=9", "TORCHELASTIC_ERROR_FILE=/stale", "SECRET=x",
		"OMP_NUM_THREADS=7", "PYTHONUNBUFFERED=0", "TORCH_NCCL_ASYNC_ERROR_HANDLING=3",
	}, "--nproc", "2", "--run-id", "run-7", "--role", "actor", "--env", "OUT=%r-%l-%n-%a-%i-%%", "--unset-env", "SECRET",
		"--attr", "k=v", "--attr-default", "team=red", "--max-restarts", "3", "--", "python", "train.py", "--lr", "1")
	if len(shown) != 2 {
		t.Fatalf("%d ranks, want 2", len(shown))
	}
	for i, r := range shown {
		n := strconv.Itoa(i)
		entries := map[string]string{}
		for _, kv := range carrier.Parse(r.Env[carrier.Variable]) {
			entries[string(kv.Key)] = kv.Value.AsString()
		}
		delete(r.Env, carrier.Variable)
		want := map[string]string{
			"RANK": n, "LOCAL_RANK": n, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1",
			"ROLE_RANK": n, "ROLE_WORLD_SIZE": "2", "ROLE_NAME": "actor", "MASTER_ADDR": "127.0.0.1",
			"TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_MAX_RESTARTS": "3", "TORCHELASTIC_RUN_ID": "run-7",
			"TORCHELASTIC_USE_AGENT_STORE": "False", "NEMO_LENS_RUN_ID": "run-7", "LENSLAUNCH_ATTEMPT": "0",
			"OUT": n + "-" + n + "-0-0-run-7-%",
		}
		if diff := cmp.Diff(want, r.Env); diff != "" {
			t.Errorf("rank %d: environment (-want +got):\n%s", i, diff)
		}
		for key, value := range map[string]string{
			"team": "blue", "k": "v", "nv.dl.rank": n, "nv.dl.world_size": "2", "nv.dl.role": "actor", "nemo.run.id": "run-7",
			"service.instance.id": "run-7-rank" + n, "lenslaunch.attempt": "0",
		} {
			if entries[key] != value {
				t.Errorf("rank %d: %s is %q in the carrier, want %q", i, key, entries[key], value)
			}
		}
		if diff := cmp.Diff([]string{"SECRET", "TORCHELASTIC_ERROR_FILE"}, slices.Sorted(slices.Values(r.Unset))); diff != "" {
			t.Errorf("rank %d: taken away (-want +got):\n%s", i, diff)
		}
		if r.Rank != i || !slices.Equal(r.Command, []string{"python", "train.py", "--lr", "1"}) {
			t.Errorf("rank %d: rank %d, command %q", i, r.Rank, r.Command)
		}
		if !slices.Contains(r.Why, "2 local ranks from --nproc") || !slices.Contains(r.Why, "run id run-7 from --run-id") {
			t.Errorf("rank %d: why %q", i, r.Why)
		}
	}
}

// Without a command it is an empty list, not null: scripts take its length.
func TestEnvJSONWithoutCommand(t *testing.T) {
	got := invoke(t, nil, "env", "--format", "json")
	if !strings.Contains(got.out, `"command": [],`) {
		t.Errorf("%s", got.out)
	}
}

// A port is there if somebody named it, and absent if only a reservation decides it.
func TestEnvReservesNothing(t *testing.T) {
	if port, ok := ranksOf(t, nil)[0].Env["MASTER_PORT"]; ok {
		t.Errorf("MASTER_PORT is %s, and nobody has reserved it", port)
	}
	if port := ranksOf(t, nil, "--master-port", "1234")[0].Env["MASTER_PORT"]; port != "1234" {
		t.Errorf("MASTER_PORT is %q, want 1234", port)
	}
}

// Ten thousand ranks are shown in a moment: nothing in a plan grows with the square
// of its ranks.
func TestEnvOfTenThousandRanks(t *testing.T) {
	n := 10000
	if raceDetector {
		n = 2000 // the detector makes it ten times as slow
	}
	began := time.Now()
	shown := ranksOf(t, nil, "--nproc", strconv.Itoa(n))
	if len(shown) != n || shown[n-1].Env["RANK"] != strconv.Itoa(n-1) {
		t.Errorf("%d ranks", len(shown))
	}
	// It takes a second or two; a square would take minutes.
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

// A shell reads the exports back to what the worker would get.
func TestShellTextReadsBack(t *testing.T) {
	values := map[string]string{
		"PLAIN": "x", "QUOTES": `it's "so"`, "DOLLAR": "$HOME `id` $(id)", "LINES": "a\nb\n", "BACK": `\n\\`, "EMPTY": "",
		"GLOB": "*?[a]~", "UTF8": "ü", "BYTES": "\xff\x01", "TRAIL": "x ",
	}
	text := shellText([]shownRank{{Rank: 0, Env: values, Unset: []string{"GONE"}}})
	script := "GONE=1\nexport GONE\n" + text + "env -0\n"
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := environment(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"))
	maps.DeleteFunc(got, func(key, _ string) bool { _, ours := values[key]; return !ours && key != "GONE" })
	if diff := cmp.Diff(values, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestShellName(t *testing.T) {
	for name, want := range map[string]bool{
		"A": true, "_": true, "a1_B": true, "": false, "1A": false, "a.b": false, "a-b": false, "ü": false, "BASH_FUNC_x%%": false,
	} {
		if got := shellName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
