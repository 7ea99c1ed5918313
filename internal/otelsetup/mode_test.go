package otelsetup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRoute(t *testing.T) {
	const dir, file = "/run", "/tmp/f.jsonl"
	endpoint := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317"}
	broken := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"}
	named := map[string]string{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"}
	headers := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_HEADERS": "nonsense"}
	lens := map[string]string{"NEMO_LENS_ENABLED": "1"}
	none := map[string]string{"OTEL_TRACES_EXPORTER": "none"}
	disabled := map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317"}
	const atHome, local = "file /run/spans.jsonl", "otlp grpc http://localhost:4317"
	for _, test := range []struct {
		name  string
		o     Options
		want  string // as route.String has it
		fault string // in the error
	}{
		{"nothing", Options{}, "none", ""},
		{"auto", Options{Mode: ModeAuto}, "none", ""},
		{"endpoint", Options{Env: endpoint}, "otlp grpc http://c:4317", ""},
		{"directory", Options{Dir: dir}, atHome, ""},
		{"file", Options{File: file}, "file " + file, ""},
		{"file before directory", Options{File: file, Dir: dir}, "file " + file, ""},
		{"endpoint before directory", Options{Env: endpoint, Dir: dir}, "otlp grpc http://c:4317", ""},
		{"endpoint and file", Options{Env: endpoint, File: file, Dir: dir}, "otlp grpc http://c:4317 and file " + file, ""},
		{"Lens", Options{Env: lens}, local, ""},
		{"Lens and directory", Options{Env: lens, Dir: dir}, atHome, ""},
		{"Lens and file", Options{Env: lens, File: file}, local + " and file " + file, ""},
		{"console and directory", Options{Env: map[string]string{"OTEL_TRACES_EXPORTER": "console"}, Dir: dir}, "console", ""},
		{"otlp and directory", Options{Env: map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, Dir: dir}, local, ""},
		{"none and directory", Options{Env: none, Dir: dir}, "none", ""},
		{"none and file", Options{Env: none, File: file}, "file " + file, ""},
		{"on", Options{Mode: ModeOn}, local, ""},
		{"on and directory", Options{Mode: ModeOn, Dir: dir}, atHome, ""},
		{"on and endpoint", Options{Mode: ModeOn, Env: endpoint}, "otlp grpc http://c:4317", ""},
		{"on and none", Options{Mode: ModeOn, Env: none}, "none", ""},
		{"off", Options{Mode: ModeOff, Env: endpoint, File: file, Dir: dir}, "none", ""},
		{"off and broken", Options{Mode: ModeOff, Env: broken}, "none", ""},
		{"broken", Options{Env: broken}, "none", "no scheme"},
		{"broken and on", Options{Mode: ModeOn, Env: broken}, "none", "no scheme"},
		{"broken and directory", Options{Env: broken, Dir: dir}, atHome, "no scheme"},
		{"broken and file", Options{Env: broken, File: file}, "file " + file, "no scheme"},
		{"named, broken and directory", Options{Env: named, Dir: dir}, atHome, "no scheme"},
		{"broken headers and directory", Options{Env: headers, Dir: dir}, atHome, "no header"},
		{"unknown exporter and directory", Options{Env: map[string]string{"OTEL_TRACES_EXPORTER": "jaeger"}, Dir: dir}, atHome, "jaeger"},
		{"disabled", Options{Env: disabled, Dir: dir}, "none", ""},
		{"disabled and on", Options{Mode: ModeOn, Env: disabled}, "none", "OTEL_SDK_DISABLED"},
		{"disabled and file", Options{Env: disabled, File: file}, "none", "OTEL_SDK_DISABLED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := test.o.route()
			if r.String() != test.want || test.o.Wanted() != (test.want != "none") {
				t.Errorf("%q, wanted: %v; want %q", r, test.o.Wanted(), test.want)
			}
			if (err == nil) != (test.fault == "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("error %v, want %q", err, test.fault)
			}
		})
	}
}

// setup is Setup with what it says.
func setup(t *testing.T, o Options) (*Telemetry, *warnings) {
	t.Helper()
	said := &warnings{}
	o.Warn = said.warn
	if o.Timeout == 0 {
		o.Timeout = longEnough
	}
	return Setup(t.Context(), o), said
}

// one is the only warning, "" for none.
func one(t *testing.T, said *warnings) string {
	t.Helper()
	switch all := said.list(); len(all) {
	case 0:
		return ""
	case 1:
		return all[0]
	default:
		t.Errorf("%d warnings: %q", len(all), all)
		return all[0]
	}
}

// What is wrong with the endpoint costs the endpoint, not the telemetry, and is said once,
// also if metrics would have gone there.
func TestFileStandsIn(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"endpoint": {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317"},
		"headers":  {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:1", "OTEL_EXPORTER_OTLP_HEADERS": "nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			telemetry, said := setup(t, Options{Env: env, Dir: dir})
			telemetry.Tracer.Start(context.Background(), "run")
			count(t, telemetry, "starts", 2)
			telemetry.Shutdown("end")
			if got := one(t, said); !strings.HasPrefix(got, "telemetry goes to a file alone:file"+dir+"/spans.jsonlreason") {
				t.Errorf("warning %q", got)
			}
			if telemetry.Where != "file "+dir+"/spans.jsonl" || len(spansIn(t, dir+"/spans.jsonl")) != 1 {
				t.Errorf("where %q", telemetry.Where)
			}
			if sums, _ := measuredIn(metricsIn(t, dir+"/metrics.jsonl")); sums["starts"] != "2" {
				t.Errorf("metrics %v", sums)
			}
		})
	}
}

// The other way round: a file that cannot be.
func TestFileCannotBeWritten(t *testing.T) {
	r := startGRPC(t)
	file := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("/nowhere", file); err != nil {
		t.Fatal(err)
	}
	telemetry, said := setup(t, Options{Env: map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": r.url, "OTEL_METRICS_EXPORTER": "none"}, File: file})
	telemetry.Tracer.Start(context.Background(), "run")
	telemetry.Shutdown("end")
	if got := one(t, said); !strings.HasPrefix(got, "telemetry is not written to the file:file"+file) || !strings.Contains(got, "symbolic link") {
		t.Errorf("warning %q", got)
	}
	if len(r.spans()) != 1 || telemetry.Where != "otlp grpc "+r.url {
		t.Errorf("%d spans, where %q", len(r.spans()), telemetry.Where)
	}
	telemetry, said = setup(t, Options{File: file})
	if got := one(t, said); telemetry.Enabled || !strings.HasPrefix(got, "telemetry is off:") {
		t.Errorf("enabled %v, warning %q", telemetry.Enabled, got)
	}
}

// Lens alone is no collector on this host, neither for spans nor for metrics.
func TestLensAlone(t *testing.T) {
	dir := t.TempDir()
	telemetry, said := setup(t, Options{Env: map[string]string{"NEMO_LENS_ENABLED": "1"}, Dir: dir})
	if n := len(telemetry.pipeline.meters.readers); n != 1 {
		t.Errorf("metrics go to %d places", n)
	}
	telemetry.Tracer.Start(context.Background(), "run")
	count(t, telemetry, "starts", 1)
	telemetry.Shutdown("end")
	if sums, _ := measuredIn(metricsIn(t, dir+"/metrics.jsonl")); sums["starts"] != "1" || one(t, said) != "" {
		t.Errorf("metrics %v, warnings %q", sums, said.list())
	}
}

func TestDisabledIsSaid(t *testing.T) {
	telemetry, said := setup(t, Options{Mode: ModeOn, Env: map[string]string{"OTEL_SDK_DISABLED": "true"}})
	if got := one(t, said); telemetry.Enabled || !strings.Contains(got, "OTEL_SDK_DISABLED=true turns it off") {
		t.Errorf("enabled %v, warning %q", telemetry.Enabled, got)
	}
}
