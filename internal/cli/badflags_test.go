package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nonsense are values that no one can mean, by flag. A switch has none: see
// TestNonsenseSwitches.
func nonsense(t *testing.T) map[string][]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	durations := []string{"x", "5", "-1s", "1h30", "NaN", "1e3s", "9999999999h"}
	codes := []string{"x", "256", "-1", "8-3", "3-", "SIGNONE", "1,,2", "1;2", "9999999999"}
	return map[string][]string{
		"nproc":                {"x", "0", "-1", "1.5", "0x10", "gpus", "99999999999999999999", "2 3", "1000000000000", "gpu"},
		"role":                 {" ", "a\nb", "\x1b[31m", "\xff"},
		"run-id":               {" ", "\t", "a\nb", "a\x00b", "\xff"},
		"state-dir":            {file, file + "/below"},
		"chdir":                {file, "/no/such/place", file + "/below"},
		"stdin":                {"x", "-1", "2", "all", "0,1"},
		"max-restarts":         {"x", "-1", "1.5", "1e3", "99999999999"},
		"restart-delay":        durations,
		"restart-delay-max":    durations,
		"min-uptime":           durations,
		"restart-window":       durations,
		"stop-timeout":         durations,
		"stop-timeout-max":     durations,
		"restart-stop-timeout": durations,
		"failure-grace":        durations,
		"hang-timeout":         durations,
		"on-hang":              {}, // any text is a line for a shell
		"hang-signal":          {"x", "0", "65", "SIGNONE", "QUIT,ABRT"},
		"gpu-release-timeout":  durations,
		"guard":                {"x", "yes", "On", "1"},
		"cgroup":               {"x", "on", "Auto"},
		"restart-on":           codes,
		"no-restart-on":        codes,
		"stop-signal":          {"x", "SIG", "0", "65", "-9", "TERM:", "TERM:x", "TERM:-5s", "TERM,KILL", ",", "TERM:5s,"},
		"forward":              {"x", "KILL", "STOP", "9", "CHLD", "PIPE", "URG", "CONT", "USR1,", "0", "USR1;USR2"},
		"save-signal":          {"x", "TERM", "KILL", "USR2:", "USR2:0s", "USR1,USR2"},
		"on-stop-code":         {"x", "-1", "256", "1.5"},
		"output":               {"x", "Prefix", "prefix,plain", "json"},
		"prefix-template":      {"{", "}", "{nope}", "{rank", "[{ rank }]"},
		"log-dir":              {"/dev/null", "/dev/null/x", "/proc/x", "x/%r", "%a", "%l"},
		"log-max-size":         {"x", "-1", "1.5MiB", "100", "4095", "9XB", "99999999TiB", "MiB"},
		"log-keep":             {"x", "-1", "1.5"},
		"tee":                  {"x", "2", "1-0", "0,", "All"},
		"ranks":                {"x", "2", "0-2", "1-0", "-1", "0,", "0;1", "all"},
		"attr":                 {"k", "=v", " =v", "a,b=c", "k\x01=v", "\xff=v", "k=\xff", "nv.dl.rank=3", "nemo.run.id=x"},
		"attr-default":         {"k", "=v", "a,b=c", "nv.dl.run.uuid=x", "slurm.restart_count=3"},
		"env":                  {"K", "=v", "A B=c", "RANK=3", "MASTER_PORT=1", "OTEL_RESOURCE_ATTRIBUTES=a=b", " K=v"},
		"cpu-bind":             {"x", "core", "none,numa"},
		"telemetry":            {"x", "On", "yes", "1"},
		"journal-slots":        {"x", "0", "-1", "4097", "1.5"},
		"telemetry-file":       {t.TempDir()},
		"telemetry-timeout":    durations,
		"omp-threads":          {"x", "0", "-1", "1.5", "99999999999"},
		"gpu-bind":             {"x", "all", "0"},
		"unset-env":            {"K=v", " ", "A B", "WORLD_SIZE", "OTEL_RESOURCE_ATTRIBUTES"},
		"nnodes":               {"x", "0", "-1", "1.5", "99999999999"},
		"node-rank":            {"x", "-1", "1", "1.5", "99999999999"},
		"master-addr":          {"host:29500", "a b", "a:b:c", "::::", "h\n"},
		"master-port":          {"x", "0", "-1", "65536", "80.5", "http"},
		"port-range":           {"x", "0-5", "9-5", "1-70000", "-5", "5-", "1,2"},
		"iface":                {"nosuch0", "lo", "a b"},
		"scheduler":            {"x", "pbs", "Slurm", "slurm", "kubernetes"},
		"log-format":           {"x", "xml", "JSON"},
	}
}

// Every flag with nonsense: exit code 2, one line that names the flag and says what
// is wrong and what would be right, and nothing is started.
func TestNonsenseInFlags(t *testing.T) {
	values := nonsense(t)
	for _, spec := range runFlags() {
		if spec.kind == isSwitch {
			continue
		}
		if _, ok := values[spec.name]; !ok {
			t.Errorf("--%s has no nonsense in this test", spec.name)
		}
		for i, value := range append(values[spec.name], "") {
			flags := []string{"--" + spec.name + "=" + value}
			if i%2 == 1 {
				flags = []string{"--" + strings.ReplaceAll(spec.name, "-", "_"), value}
			}
			t.Run(spec.name+"="+value, func(t *testing.T) { refused(t, spec.name, nil, flags...) })
		}
	}
}

// The same in the flags' variables. An empty one counts as unset.
func TestNonsenseInVariables(t *testing.T) {
	values := nonsense(t)
	for _, spec := range runFlags() {
		for _, value := range values[spec.name] {
			// A line that is blank is no entry, and no environment holds a NUL byte.
			if strings.ContainsAny(value, "\x00") || spec.kind == takesMany && strings.TrimSpace(value) == "" {
				continue
			}
			t.Run(spec.name+"="+value, func(t *testing.T) {
				refused(t, spec.name, []string{spec.variable() + "=" + value})
			})
		}
	}
}

func TestNonsenseSwitches(t *testing.T) {
	for _, spec := range append(runFlags(), globalFlags()...) {
		if spec.kind != isSwitch {
			continue
		}
		for _, value := range []string{"maybe", "2", "", "yes "} {
			refused(t, spec.name, nil, "--"+spec.name+"="+value)
		}
		if _, global := lookup(globalFlags(), spec.name, true); !global {
			refused(t, spec.name, []string{spec.variable() + "=maybe"})
		}
	}
}

// refused runs a command of two ranks, that would leave a trace, with wrong flags.
func refused(t *testing.T, flag string, environ []string, flags ...string) {
	t.Helper()
	trace := filepath.Join(t.TempDir(), "started")
	args := flags
	// Ranks need a number of them; an unnamed run would keep no ledger.
	for name, value := range map[string]string{"nproc": "2", "run-id": "r"} {
		if flag != name {
			args = append(slices.Clone(args), "--"+name, value)
		}
	}
	got := invoke(t, environ, append(args, "--", "touch", trace)...)
	if got.code != 2 {
		t.Errorf("exit code %d, want 2", got.code)
	}
	spec, _ := lookup(append(runFlags(), globalFlags()...), flag, true)
	if !isOneLine(got.err) || !strings.HasPrefix(got.err, "lenslaunch: ") {
		t.Errorf("stderr is not one line of ours: %q", got.err)
	}
	if !strings.Contains(got.err, "--"+flag) && !strings.Contains(got.err, spec.variable()) {
		t.Errorf("stderr does not name --%s: %q", flag, got.err)
	}
	// "what is wrong: what would be right"
	if strings.Count(got.err, ": ") < 2 {
		t.Errorf("stderr does not say what would be right: %q", got.err)
	}
	if strings.ContainsAny(strings.TrimSuffix(got.err, "\n"), "\x00\x1b\r\n\t") {
		t.Errorf("stderr holds characters that steer a terminal: %q", got.err)
	}
	if got.out != "" {
		t.Errorf("stdout: %q", got.out)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a worker was started")
	}
}

// What takes part in one decision is refused together, and says so.
func TestNonsenseTogether(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"--nnodes", "2", "--node-rank", "2"}, "--node-rank"},
		{[]string{"--nnodes", "2", "--node-rank", "1"}, "--master-addr"},
		{[]string{"--nnodes", "2", "--node-rank", "0", "--master-addr", "h", "--master-port", "1", "--max-restarts", "1", "--run-id", "r"}, "--max-restarts"},
		{[]string{"--nproc", "2", "--stdin", "2"}, "from 0 to 1"},
		{[]string{"--nproc", "1", "--ranks", "1"}, "from 0 to 0"},
		{[]string{"-q", "-v"}, "--quiet and --verbose"},
	}
	for _, tt := range tests {
		got := invoke(t, nil, append(tt.args, "--", "touch", filepath.Join(t.TempDir(), "started"))...)
		if got.code != 2 || !isOneLine(got.err) || !strings.Contains(got.err, tt.want) {
			t.Errorf("%q: exit code %d, stderr %q, want it to name %q", tt.args, got.code, got.err, tt.want)
		}
	}
}
