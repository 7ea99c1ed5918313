package otelsetup

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// defaultExportTimeout is that of the OTLP specification.
const defaultExportTimeout = 10 * time.Second

// config is what both OTLP exporters need beside the endpoint.
type config struct {
	headers map[string]string
	gzip    bool
	timeout time.Duration
	tls     *tls.Config // nil for an unencrypted endpoint
}

// readConfig reads the variables of the OTLP exporter. Errors name the variable
// and never its value where that may be a secret.
func readConfig(env map[string]string, sig signal, encrypted bool) (config, error) {
	c := config{timeout: defaultExportTimeout}
	name, text := otlp(env, sig, "COMPRESSION")
	switch text {
	case "", "none":
	case "gzip":
		c.gzip = true
	default:
		return c, fmt.Errorf("%s=%q is not supported: use gzip or none", name, text)
	}
	name, text = otlp(env, sig, "TIMEOUT")
	if text != "" {
		ms, err := strconv.ParseInt(text, 10, 32)
		if err != nil || ms < 1 {
			return c, fmt.Errorf("%s=%q is no timeout: use a number of milliseconds", name, text)
		}
		c.timeout = time.Duration(ms) * time.Millisecond
	}
	var err error
	name, text = otlp(env, sig, "HEADERS")
	if c.headers, err = parseHeaders(text); err != nil {
		return c, fmt.Errorf("%s: %w: use KEY=VALUE,KEY=VALUE with %%XX for special characters", name, err)
	}
	if encrypted {
		c.tls, err = readTLS(env, sig)
	}
	return c, err
}

// parseHeaders reads a list of headers. Values are percent-encoded.
func parseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	for i, pair := range strings.Split(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue // none at all, or a comma too many
		}
		key, encoded, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		decoded, err := url.PathUnescape(strings.TrimSpace(encoded))
		if !ok || !isToken(key) || err != nil || strings.ContainsAny(decoded, "\r\n\x00") {
			return nil, fmt.Errorf("entry %d is no header", i+1)
		}
		headers[key] = decoded
	}
	return headers, nil
}

// isToken reports whether the text may be the name of an HTTP header.
func isToken(text string) bool {
	for _, r := range text {
		alphanumeric := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !alphanumeric && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return false
		}
	}
	return text != ""
}

// readTLS reads the certificates. Without variables the system's are used.
func readTLS(env map[string]string, sig signal) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if name, file := otlp(env, sig, "CERTIFICATE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate in %s", name, file)
		}
	}
	name, certificate := otlp(env, sig, "CLIENT_CERTIFICATE")
	keyName, key := otlp(env, sig, "CLIENT_KEY")
	switch {
	case certificate != "" && key == "":
		return nil, fmt.Errorf("%s is set without its key: set %s too", name, keyName)
	case certificate == "" && key != "":
		return nil, fmt.Errorf("%s is set without its certificate: set %s too", keyName, name)
	case certificate != "":
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
