package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"
)

// collectorTime bounds what a collector may take to answer.
const collectorTime = 3 * time.Second

// Collector is where telemetry would be sent to.
type Collector struct {
	Signals  string // "traces", "traces and metrics"
	Protocol string // "grpc" or "http/protobuf"
	Endpoint *url.URL
	Shown    string      // the same without secrets
	TLS      *tls.Config // whom to trust, where the endpoint is encrypted
	Proxy    string      // on the way there; empty: none
}

// speaks is the protocol that a server answers in.
type speaks string

const (
	speaksHTTP1   speaks = "HTTP/1.1"
	speaksHTTP2   speaks = "HTTP/2 alone, as gRPC does"
	speaksNothing speaks = "nothing"
	speaksOther   speaks = "something else"
)

// telemetry looks at every collector. Telemetry that fails ends no job.
func telemetry(ctx context.Context, s Subject) (list []Finding) {
	if s.TelemetryFault != "" {
		list = one("telemetry", Warning, "mend the variable; the job itself runs without", "%s", s.TelemetryFault)
	}
	for _, c := range s.Collectors {
		list = append(list, c.look(ctx))
	}
	switch {
	case len(list) > 0:
	case s.TelemetryElse != "":
		list = one("telemetry", Good, "", "it goes to %s", s.TelemetryElse)
	default:
		list = one("telemetry", Note, "set OTEL_EXPORTER_OTLP_ENDPOINT to have traces", "no collector is named")
	}
	return list
}

// look connects to where telemetry would go, and listens in which protocol it is
// answered. Nothing is exported.
func (c Collector) look(ctx context.Context) Finding {
	if c.Proxy != "" {
		return one("telemetry", Note, "see there whether it may pass", "%s go to %s through the proxy %s, which was not tried", c.Signals, c.Shown, c.Proxy)[0]
	}
	ctx, cancel := context.WithTimeout(ctx, collectorTime)
	defer cancel()
	got, err := c.listen(ctx)
	return c.judge(got, err)[0]
}

// judge compares what was asked with what answered.
func (c Collector) judge(got speaks, err error) []Finding {
	var untrusted *tls.CertificateVerificationError
	grpc := c.Protocol == "grpc"
	switch {
	case errors.As(err, &untrusted):
		return one("telemetry", Warning, "set OTEL_EXPORTER_OTLP_CERTIFICATE to the certificate of who has signed it", "%s is not trusted: %v", c.Shown, untrusted.Err)
	case err != nil:
		return one("telemetry", Warning, "start the collector, or mend the endpoint; the job itself runs without", "%s is not reached: %v", c.Shown, err)
	case grpc && got == speaksHTTP1:
		return one("telemetry", Warning, "set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or use the gRPC port (4317)", "%s speaks %s, and grpc is asked for", c.Shown, got)
	case !grpc && got == speaksHTTP2:
		return one("telemetry", Warning, "set OTEL_EXPORTER_OTLP_PROTOCOL=grpc, or use the HTTP port (4318)", "%s speaks %s, and %s is asked for", c.Shown, got, c.Protocol)
	case got == speaksNothing:
		return one("telemetry", Warning, "is a collector there, behind the proxy or load balancer, and for "+c.Protocol+"?", "%s hangs up without an answer", c.Shown)
	case got == speaksOther:
		return one("telemetry", Warning, "is this a collector's port?", "%s answers neither as HTTP nor as gRPC", c.Shown)
	}
	return one("telemetry", Good, "", "%s is reached and speaks %s, for %s", c.Shown, c.Protocol, c.Signals)
}

// Openings of the two protocols.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + "\x00\x00\x00\x04\x00\x00\x00\x00\x00" // with empty SETTINGS

// listen opens a connection in one protocol and looks at the first bytes of the answer.
func (c Collector) listen(ctx context.Context) (speaks, error) {
	grpc := c.Protocol == "grpc"
	network, to := "tcp", hostPort(c.Endpoint, grpc)
	if c.Endpoint.Scheme == "unix" {
		network, to = "unix", c.Endpoint.Path
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, to)
	if err != nil {
		return "", shortened(err)
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if c.Endpoint.Scheme == "https" {
		config := &tls.Config{MinVersion: tls.VersionTLS12}
		if c.TLS != nil {
			config = c.TLS.Clone()
		}
		config.ServerName, config.NextProtos = c.Endpoint.Hostname(), []string{"http/1.1"}
		if grpc {
			config.NextProtos = []string{"h2"}
		}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			return "", fmt.Errorf("TLS: %w", err)
		}
		conn = secure
	}
	opening := "POST /v1/traces HTTP/1.1\r\nHost: " + c.Endpoint.Host + "\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
	if grpc {
		opening = preface
	}
	if _, err := io.WriteString(conn, opening); err != nil {
		return "", err
	}
	return answer(conn)
}

// hostPort is where a URL's collector listens. Without a port gRPC takes that of https,
// whatever the scheme.
func hostPort(u *url.URL, grpc bool) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http" && !grpc:
		port = "80"
	default:
		port = "443"
	}
	return net.JoinHostPort(u.Hostname(), port)
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
		return speaksNothing, nil
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
