package otelsetup

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// The exporters, under the names of OTEL_TRACES_EXPORTER.
const (
	exporterNone    = "none"
	exporterOTLP    = "otlp"
	exporterConsole = "console"
)

// The protocols, under the names of OTEL_EXPORTER_OTLP_PROTOCOL.
const (
	protocolGRPC = "grpc"
	protocolHTTP = "http/protobuf"
)

// signal is a kind of telemetry, as it stands in the names of variables.
type signal string

const (
	traces  signal = "TRACES"
	metrics signal = "METRICS"
)

// plan is what the environment asks for, for one signal.
type plan struct {
	signal   signal
	exporter string
	protocol string   // OTLP only
	endpoint *url.URL // OTLP only
	named    bool     // the exporter was: nothing else may be guessed
}

// decide reads the environment. An error says which variable is wrong and what
// would be right; telemetry is off then.
func decide(env map[string]string, sig signal) (plan, error) {
	off := plan{signal: sig, exporter: exporterNone}
	if disabled(env) {
		off.named = true
		return off, nil
	}
	variable := "OTEL_" + string(sig) + "_EXPORTER"
	exporter := strings.ToLower(value(env, variable))
	named := exporter != ""
	if !named {
		exporter = exporterNone
		_, endpoint := otlp(env, sig, "ENDPOINT")
		if endpoint != "" || value(env, "NEMO_LENS_ENABLED") == "1" {
			exporter = exporterOTLP
		}
	}
	switch exporter {
	case exporterOTLP:
		p, err := decideOTLP(env, sig)
		p.named = named && err == nil // with a fault a file may stand in
		return p, err
	case exporterConsole, exporterNone:
		return plan{signal: sig, exporter: exporter, named: named}, nil
	}
	problem := "is not supported"
	if strings.Contains(exporter, ",") {
		problem = "is a list"
	}
	return off, fmt.Errorf("%s=%q %s: use one of otlp, console, none", variable, exporter, problem)
}

// disabled reports whether the environment turns all telemetry off.
func disabled(env map[string]string) bool {
	return strings.EqualFold(value(env, "OTEL_SDK_DISABLED"), "true")
}

func decideOTLP(env map[string]string, sig signal) (plan, error) {
	off := plan{signal: sig, exporter: exporterNone}
	p := plan{signal: sig, exporter: exporterOTLP, protocol: protocolGRPC}
	name, protocol := otlp(env, sig, "PROTOCOL")
	switch protocol {
	case "", protocolGRPC:
	case protocolHTTP:
		p.protocol = protocolHTTP
	default:
		return off, fmt.Errorf("%s=%q is not supported: use grpc or http/protobuf", name, protocol)
	}
	endpoint, err := endpointFor(env, sig, p.protocol)
	if err == nil { // now, while there still is a choice of another place
		_, err = readConfig(env, sig, endpoint.Scheme == "https")
	}
	if err != nil {
		return off, err
	}
	p.endpoint = endpoint
	return p, nil
}

// endpointFor returns where to send. The general endpoint of the HTTP protocol
// is a base to which the path of the signal is added; that of the signal is
// taken as it is. Without either it is the collector on this host, unencrypted,
// as the OTLP specification says and the Go exporter does not.
func endpointFor(env map[string]string, sig signal, protocol string) (*url.URL, error) {
	name, text := otlp(env, sig, "ENDPOINT")
	if text == "" {
		text = "http://localhost:4317"
		if protocol == protocolHTTP {
			text = "http://localhost:4318"
		}
	}
	u, err := url.Parse(text)
	if err == nil {
		err = checkEndpoint(u, protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("%s=%q is no endpoint: %w: use a URL such as http://collector:4317 (grpc) or http://collector:4318 (http/protobuf)", name, withoutSecrets(text), parseProblem(err))
	}
	if protocol == protocolHTTP && name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath("v1", strings.ToLower(string(sig)))
	}
	return u, nil
}

// withoutSecrets leaves out of what should have been a URL where a password or a token may
// stand in one.
func withoutSecrets(text string) string {
	text, _, _ = strings.Cut(text, "?")
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		return "***" + text[i:]
	}
	return text
}

// checkEndpoint insists on a scheme. The exporter takes "collector:4317" for a
// URL of the scheme "collector" and then talks to https://localhost:4318.
func checkEndpoint(u *url.URL, protocol string) error {
	switch u.Scheme {
	case "http", "https":
		if u.Hostname() == "" {
			return errors.New("it has no host")
		}
		return nil
	case "unix":
		if protocol == protocolGRPC && u.Path != "" {
			return nil
		}
	}
	return errors.New("it has no scheme http:// or https://")
}

// parseProblem drops the part of a parser's error that repeats the text.
func parseProblem(err error) error {
	var parse *url.Error
	if errors.As(err, &parse) {
		return parse.Err
	}
	return err
}

// value reads a variable. Empty and unset are the same to OpenTelemetry.
func value(env map[string]string, name string) string {
	return strings.TrimSpace(env[name])
}

// otlp reads a variable of the OTLP exporter, that for the signal first, and also
// returns the name of the one that was set.
func otlp(env map[string]string, sig signal, key string) (name, text string) {
	name = "OTEL_EXPORTER_OTLP_" + string(sig) + "_" + key
	if text = value(env, name); text == "" {
		name = "OTEL_EXPORTER_OTLP_" + key
		text = value(env, name)
	}
	return name, text
}

// String says where spans go. It shows no query and no password.
func (p plan) String() string {
	if p.endpoint == nil {
		return p.exporter
	}
	return p.exporter + " " + p.protocol + " " + (&url.URL{Scheme: p.endpoint.Scheme, Host: p.endpoint.Host, Path: p.endpoint.Path}).String()
}
