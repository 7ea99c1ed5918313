package otelsetup

import (
	"strconv"
	"strings"
	"testing"
)

func TestDecide(t *testing.T) {
	const general, forTraces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	const protocol, tracesProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	for _, test := range []struct {
		name string
		env  map[string]string
		want string // as plan.String has it
	}{
		{"nothing", nil, "none"},
		{"empty variables are unset", map[string]string{general: "", "OTEL_TRACES_EXPORTER": " ", "NEMO_LENS_ENABLED": ""}, "none"},
		{"endpoint", map[string]string{general: "http://c:4317"}, "otlp grpc http://c:4317"},
		{"endpoint for traces", map[string]string{forTraces: "https://c:4317"}, "otlp grpc https://c:4317"},
		{"endpoint for traces first", map[string]string{forTraces: "http://a:1", general: "http://b:2"}, "otlp grpc http://a:1"},
		{"space around", map[string]string{general: " http://c:4317 "}, "otlp grpc http://c:4317"},
		{"socket", map[string]string{general: "unix:///run/otel.sock"}, "otlp grpc unix:///run/otel.sock"},
		{"Lens", map[string]string{"NEMO_LENS_ENABLED": "1"}, "otlp grpc http://localhost:4317"},
		{"Lens is off", map[string]string{"NEMO_LENS_ENABLED": "0"}, "none"},
		{"otlp", map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}, "otlp grpc http://localhost:4317"},
		{"otlp in capitals", map[string]string{"OTEL_TRACES_EXPORTER": "OTLP"}, "otlp grpc http://localhost:4317"},
		{"console", map[string]string{"OTEL_TRACES_EXPORTER": "console"}, "console"},
		{"console beats endpoint", map[string]string{"OTEL_TRACES_EXPORTER": "console", general: "http://c:1"}, "console"},
		{"none beats all", map[string]string{"OTEL_TRACES_EXPORTER": "none", general: "http://c:1", "NEMO_LENS_ENABLED": "1"}, "none"},
		{"disabled beats all", map[string]string{"OTEL_SDK_DISABLED": "True", "OTEL_TRACES_EXPORTER": "console", general: "nonsense"}, "none"},
		{"not disabled", map[string]string{"OTEL_SDK_DISABLED": "1", "OTEL_TRACES_EXPORTER": "console"}, "console"},
		{"http", map[string]string{general: "http://c:4318", protocol: "http/protobuf"}, "otlp http/protobuf http://c:4318/v1/traces"},
		{"http below a path", map[string]string{general: "https://c/otel/", protocol: "http/protobuf"}, "otlp http/protobuf https://c/otel/v1/traces"},
		{"http for traces is taken as it is", map[string]string{forTraces: "https://c/mine", protocol: "http/protobuf"}, "otlp http/protobuf https://c/mine"},
		{"http default", map[string]string{"OTEL_TRACES_EXPORTER": "otlp", protocol: "http/protobuf"}, "otlp http/protobuf http://localhost:4318/v1/traces"},
		{"protocol for traces first", map[string]string{general: "http://c:1", protocol: "http/json", tracesProtocol: "grpc"}, "otlp grpc http://c:1"},
		{"protocol alone is no wish", map[string]string{protocol: "http/json"}, "none"},
		{"no password is shown", map[string]string{general: "https://u:secret@c:1/?k=secret"}, "otlp grpc https://c:1/"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := decide(test.env, traces)
			if err != nil || p.String() != test.want {
				t.Errorf("decide = %q, %v; want %q", p, err, test.want)
			}
		})
	}
}

func TestDecideRefuses(t *testing.T) {
	for _, test := range []struct {
		variable, value string
		more            [2]string
		want            string // what is right
	}{
		{"OTEL_TRACES_EXPORTER", "otlp,console", [2]string{}, "one of otlp, console, none"},
		{"OTEL_TRACES_EXPORTER", "zipkin", [2]string{}, "one of otlp, console, none"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", [2]string{"OTEL_TRACES_EXPORTER", "otlp"}, "grpc or http/protobuf"},
		{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http", [2]string{"OTEL_TRACES_EXPORTER", "otlp"}, "grpc or http/protobuf"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", [2]string{}, "no scheme http:// or https://"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "10.0.0.1:4317", [2]string{}, "http://collector:4317"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector", [2]string{}, "http://collector:4317"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "//collector:4317", [2]string{}, "http://collector:4317"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://", [2]string{}, "no host"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://:4317", [2]string{}, "no host"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "ftp://c", [2]string{}, "no scheme http:// or https://"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:port", [2]string{}, "invalid port"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "unix:///s", [2]string{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"}, "no scheme http:// or https://"},
	} {
		env := map[string]string{test.variable: test.value, test.more[0]: test.more[1]}
		p, err := decide(env, traces)
		if err == nil || p.exporter != exporterNone {
			t.Errorf("%s=%s: %v, %v; want off", test.variable, test.value, p, err)
			continue
		}
		for _, want := range []string{test.variable + "=", test.value, test.want} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s=%s: error %q does not say %q", test.variable, test.value, err, want)
			}
		}
		if strings.Count(err.Error(), strconv.Quote(test.value)) != 1 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s=%s: error repeats itself: %q", test.variable, test.value, err)
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add("otlp", "grpc", "http://c:4317", "k=v")
	f.Add("console", "", "collector:4317", "a=%zz")
	f.Fuzz(func(t *testing.T, exporter, protocol, endpoint, headers string) {
		env := map[string]string{
			"OTEL_TRACES_EXPORTER": exporter, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol,
			"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_HEADERS": headers,
		}
		p, err := decide(env, traces)
		if err != nil && p.exporter != exporterNone {
			t.Fatalf("an error and %v", p)
		}
		if p.exporter == exporterOTLP && (p.endpoint == nil || p.protocol == "") {
			t.Fatalf("incomplete plan %+v", p)
		}
		_, _ = readConfig(env, traces, true)
	})
}

// What is wrong is said on the console, and in logs: without passwords and tokens.
func TestDecideRefusesWithoutSecrets(t *testing.T) {
	for _, endpoint := range []string{"user:s3cret@collector:4317", "//user:s3cret@x?token=s3cret", "ftp://s3cret@x/", "collector?s3cret", "http://a:s3cret@ b"} {
		_, err := decide(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}, traces)
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT=") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}
