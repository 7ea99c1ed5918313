package otelsetup

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadConfig(t *testing.T) {
	const prefix = "OTEL_EXPORTER_OTLP_"
	for _, test := range []struct {
		name string
		env  map[string]string
		want config
	}{
		{"nothing", nil, config{headers: map[string]string{}, timeout: 10 * time.Second}},
		{"all", map[string]string{
			prefix + "HEADERS": " api-key = a%20b , x=1=2,,", prefix + "COMPRESSION": "gzip", prefix + "TIMEOUT": "1500",
		}, config{headers: map[string]string{"api-key": "a b", "x": "1=2"}, gzip: true, timeout: 1500 * time.Millisecond}},
		{"for traces first", map[string]string{
			prefix + "HEADERS": "a=1", prefix + "TRACES_HEADERS": "b=2",
			prefix + "COMPRESSION": "gzip", prefix + "TRACES_COMPRESSION": "none",
			prefix + "TIMEOUT": "1", prefix + "TRACES_TIMEOUT": "2",
		}, config{headers: map[string]string{"b": "2"}, timeout: 2 * time.Millisecond}},
	} {
		got, err := readConfig(test.env, traces, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(config{}), cmp.Comparer(func(a, b *tls.Config) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestReadConfigRefuses(t *testing.T) {
	for variable, values := range map[string][]string{
		"OTEL_EXPORTER_OTLP_COMPRESSION":     {"zstd"},
		"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT":  {"10s", "0", "-1", "99999999999999"},
		"OTEL_EXPORTER_OTLP_HEADERS":         {"secret", "=secret", "a=%zzsecret", "a=secret%0d%0ax", "a b=secret", "a=1,secret"},
		"OTEL_EXPORTER_OTLP_CERTIFICATE":     {"/nowhere", os.DevNull},
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS":  {"ä=secret"},
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": nil,
	} {
		for _, value := range values {
			_, err := readConfig(map[string]string{variable: value}, traces, true)
			if err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("%s=%s: %v", variable, value, err)
			} else if strings.Contains(err.Error(), "secret") {
				t.Errorf("%s=%s: the error shows the value: %v", variable, value, err)
			}
		}
	}
}

func TestReadTLS(t *testing.T) {
	certificate, key := writeCertificate(t)
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_CERTIFICATE":        certificate,
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": certificate,
		"OTEL_EXPORTER_OTLP_CLIENT_KEY":         key,
	}
	c, err := readConfig(env, traces, true)
	if err != nil || c.tls.RootCAs == nil || len(c.tls.Certificates) != 1 {
		t.Fatalf("%+v, %v", c.tls, err)
	}
	if c, err := readConfig(env, traces, false); err != nil || c.tls != nil {
		t.Errorf("unencrypted: %+v, %v", c.tls, err)
	}
	broken := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(broken, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	env["OTEL_EXPORTER_OTLP_CLIENT_KEY"] = broken
	if _, err := readConfig(env, traces, true); err == nil || !strings.Contains(err.Error(), "CLIENT_CERTIFICATE") {
		t.Errorf("broken key: %v", err)
	}
	// A collector that asks for a certificate would not say that half of it is missing.
	for missing, given := range map[string]string{"CLIENT_KEY": "CLIENT_CERTIFICATE", "CLIENT_CERTIFICATE": "CLIENT_KEY"} {
		half := map[string]string{"OTEL_EXPORTER_OTLP_" + given: certificate}
		if _, err := readConfig(half, traces, true); err == nil || !strings.HasSuffix(err.Error(), "set OTEL_EXPORTER_OTLP_"+missing+" too") {
			t.Errorf("%s alone: %v", given, err)
		}
	}
}
