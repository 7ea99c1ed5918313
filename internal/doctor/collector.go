package doctor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"
)

// collectorTime bounds what a collector may take to answer.
const collectorTime = 3 * time.Second

// speaks is the protocol that a server answers in.
type speaks string

const (
	speaksHTTP1 speaks = "HTTP/1.1"
	speaksHTTP2 speaks = "HTTP/2 alone, as gRPC does"
	speaksOther speaks = "something else"
)

// collector connects to where telemetry would go, and listens in which protocol it is
// answered. Nothing is exported.
func collector(ctx context.Context, s Subject) []Finding {
	endpoint := firstSet(s.Env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if endpoint == "" || strings.EqualFold(s.Env["OTEL_SDK_DISABLED"], "true") {
		return one("telemetry", Note, "set OTEL_EXPORTER_OTLP_ENDPOINT to have traces", "no collector is named")
	}
	protocol := cmp.Or(firstSet(s.Env, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"), "grpc")
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return one("telemetry", Warning, "write a URL such as http://collector:4317 (grpc) or http://collector:4318 (http/protobuf)", "%q is no endpoint", endpoint)
	}
	ctx, cancel := context.WithTimeout(ctx, collectorTime)
	defer cancel()
	got, err := listen(ctx, u, protocol == "grpc")
	return judge(endpoint, protocol, got, err)
}

// judge compares what was asked with what answered. Telemetry that fails ends no job.
func judge(endpoint, protocol string, got speaks, err error) []Finding {
	switch {
	case err != nil:
		return one("telemetry", Warning, "start the collector, or mend the endpoint; the job itself runs without", "%s is not reached: %v", endpoint, err)
	case protocol == "grpc" && got == speaksHTTP1:
		return one("telemetry", Warning, "set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or use the gRPC port (4317)", "%s speaks %s, and grpc is asked for", endpoint, got)
	case protocol != "grpc" && got == speaksHTTP2:
		return one("telemetry", Warning, "set OTEL_EXPORTER_OTLP_PROTOCOL=grpc, or use the HTTP port (4318)", "%s speaks %s, and %s is asked for", endpoint, got, protocol)
	case got == speaksOther:
		return one("telemetry", Warning, "is this a collector's port?", "%s answers neither as HTTP nor as gRPC", endpoint)
	}
	return one("telemetry", Good, "", "%s is reached and speaks %s", endpoint, protocol)
}

func firstSet(env map[string]string, keys ...string) string {
	for _, key := range keys {
		if text := strings.TrimSpace(env[key]); text != "" {
			return text
		}
	}
	return ""
}

// Openings of the two protocols.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" // with empty SETTINGS

// listen opens a connection in one protocol and looks at the first bytes of the answer.
func listen(ctx context.Context, u *url.URL, grpc bool) (speaks, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort(u.Hostname(), u.Port(), u.Scheme, grpc))
	if err != nil {
		return "", shortened(err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if u.Scheme == "https" {
		next := "http/1.1"
		if grpc {
			next = "h2"
		}
		// Who it is does not matter here: nothing is told to it.
		secure := tls.Client(conn, &tls.Config{ServerName: u.Hostname(), NextProtos: []string{next}, InsecureSkipVerify: true}) //nolint:gosec // see above
		if err := secure.HandshakeContext(ctx); err != nil {
			return "", fmt.Errorf("TLS: %w", err)
		}
		conn = secure
	}
	opening := "POST /v1/traces HTTP/1.1\r\nHost: " + u.Host + "\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	if grpc {
		opening = preface
	}
	if _, err := io.WriteString(conn, opening); err != nil {
		return "", err
	}
	return answer(conn)
}

// answer tells the protocol by its first bytes: HTTP/1 begins with its name, HTTP/2 with
// a frame of SETTINGS (type 4) or GOAWAY (7).
func answer(r io.Reader) (speaks, error) {
	head := make([]byte, 9)
	n, err := io.ReadFull(r, head)
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("HTTP/1")):
		return speaksHTTP1, nil
	case n == 9 && head[0] == 0 && (head[3] == 4 || head[3] == 7):
		return speaksHTTP2, nil
	case n == 0 && (errors.Is(err, io.EOF) || isReset(err)):
		return speaksHTTP2, nil // a gRPC server hangs up on HTTP/1
	case n > 0:
		return speaksOther, nil
	}
	return "", fmt.Errorf("it does not answer: %w", err)
}

// isReset: the other side has hung up.
func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && !op.Timeout()
}

// shortened leaves out what the message says anyway.
func shortened(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}
