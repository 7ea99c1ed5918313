package otelsetup

import (
	"path/filepath"
	"strings"
	"testing"
)

// What doctor asks is what Setup does.
func TestDestinations(t *testing.T) {
	const general, ofTraces, ofMetrics = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"
	dir := t.TempDir()
	for _, test := range []struct {
		o     Options
		want  string // of each: signals, protocol, endpoint
		other string
		fault string
	}{
		{o: Options{Env: map[string]string{}}},
		{o: Options{Env: map[string]string{general: "http://c:4317"}}, want: "traces and metrics grpc http://c:4317"},
		{o: Options{Env: map[string]string{general: "http://me:geheim@c:4318?token=geheim", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}},
			want: "traces and metrics http/protobuf http://c:4318/v1/traces"},
		{o: Options{Env: map[string]string{ofTraces: "http://a:1", ofMetrics: "http://b:2"}}, want: "traces grpc http://a:1, metrics grpc http://b:2"},
		{o: Options{Env: map[string]string{ofMetrics: "http://b:2"}}, want: "metrics grpc http://b:2"},
		{o: Options{Env: map[string]string{ofMetrics: "http://b:2", "OTEL_METRICS_EXPORTER": "otlp"}}, want: "metrics grpc http://b:2"},
		{o: Options{Env: map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}}, want: "traces grpc http://localhost:4317"},
		{o: Options{Env: map[string]string{"NEMO_LENS_ENABLED": "1"}}, want: "traces and metrics grpc http://localhost:4317"},
		{o: Options{Env: map[string]string{"OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none", general: "http://c:4317"}}},
		{o: Options{Env: map[string]string{"OTEL_TRACES_EXPORTER": "console"}}, other: "console"},
		{o: Options{Env: map[string]string{general: "unix:///run/c.sock"}}, want: "traces and metrics grpc unix:///run/c.sock"},
		{o: Options{Env: map[string]string{general: "http://c:4317"}, Mode: ModeOff}},
		{o: Options{Env: map[string]string{general: "http://c:4317", "OTEL_SDK_DISABLED": "true"}}},
		{o: Options{Env: map[string]string{}, Mode: ModeOn}, want: "traces and metrics grpc http://localhost:4317"},
		{o: Options{Env: map[string]string{}, Dir: dir}, other: "file " + filepath.Join(dir, spansFile)},
		{o: Options{Env: map[string]string{general: "c:4317"}}, fault: "is no endpoint"},
		{o: Options{Env: map[string]string{general: "http://c:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}}, fault: `OTEL_EXPORTER_OTLP_PROTOCOL="http/json" is not supported`},
		{o: Options{Env: map[string]string{general: "https://c:4317", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/no/such"}}, fault: "OTEL_EXPORTER_OTLP_CERTIFICATE"},
	} {
		list, other, err := test.o.Destinations()
		var got []string
		for _, d := range list {
			got = append(got, d.Signals+" "+d.Protocol+" "+d.Shown)
			if (d.Endpoint.Scheme == "https") != (d.TLS != nil) {
				t.Errorf("%v: TLS %v", test.o.Env, d.TLS)
			}
		}
		if strings.Join(got, ", ") != test.want || other != test.other || (err != nil) != (test.fault != "") || err != nil && !strings.Contains(err.Error(), test.fault) {
			t.Errorf("%v, mode %q:\n got %q, %q, %v\nwant %q, %q, %q", test.o.Env, test.o.Mode, got, other, err, test.want, test.other, test.fault)
		}
	}
}
