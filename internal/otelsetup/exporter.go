package otelsetup

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// The exporters' own back-off begins at 5 s: longer than a shutdown may take,
// so that a collector that is back after a second would still lose the end.
const (
	retryFirst = 200 * time.Millisecond
	retryMost  = 5 * time.Second
	retryLimit = time.Minute
)

// open makes the exporter of the plan. No connection is made yet.
func (p plan) open(ctx context.Context, env map[string]string, stderr io.Writer) (sdktrace.SpanExporter, error) {
	if p.exporter == exporterConsole {
		return stdouttrace.New(stdouttrace.WithWriter(stderr))
	}
	c, err := readConfig(env, p.signal, p.endpoint.Scheme == "https")
	if err != nil {
		return nil, err
	}
	if p.protocol == protocolHTTP {
		return p.openHTTP(ctx, c)
	}
	return p.openGRPC(ctx, c)
}

// grpcTarget is where gRPC connects to, and how.
func (p plan) grpcTarget(c config) (target string, transport credentials.TransportCredentials) {
	target = p.endpoint.Host
	if p.endpoint.Scheme == "unix" {
		target = p.endpoint.String()
	}
	if c.tls != nil {
		return target, credentials.NewTLS(c.tls)
	}
	return target, insecure.NewCredentials()
}

func (p plan) openGRPC(ctx context.Context, c config) (sdktrace.SpanExporter, error) {
	target, transport := p.grpcTarget(c)
	options := []otlptracegrpc.Option{
		otlptracegrpc.WithEndpoint(target),
		otlptracegrpc.WithHeaders(c.headers),
		otlptracegrpc.WithTimeout(c.timeout),
		otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
			Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: retryLimit,
		}),
		// A dial option, because certificates that the exporter found in the
		// process's environment would otherwise win.
		otlptracegrpc.WithDialOption(grpc.WithTransportCredentials(transport)),
	}
	if c.gzip {
		options = append(options, otlptracegrpc.WithCompressor("gzip"))
	}
	return otlptracegrpc.New(ctx, options...)
}

// transport is a client of our own: the exporter's is shared by the process and keeps
// its connections after the shutdown.
func (c config) transport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        1, // batches go one after the other
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: c.timeout,
		TLSClientConfig:     c.tls,
	}
}

func (p plan) openHTTP(ctx context.Context, c config) (sdktrace.SpanExporter, error) {
	transport := c.transport()
	options := []otlptracehttp.Option{
		otlptracehttp.WithTLSClientConfig((*tls.Config)(nil)), // not what the process's environment says
		otlptracehttp.WithEndpointURL(p.endpoint.String()),
		otlptracehttp.WithHTTPClient(&http.Client{Transport: transport, Timeout: c.timeout}),
		otlptracehttp.WithHeaders(c.headers),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: retryFirst, MaxInterval: retryMost, MaxElapsedTime: retryLimit,
		}),
	}
	if c.gzip {
		options = append(options, otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	}
	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, err
	}
	return closing{SpanExporter: exporter, close: transport.CloseIdleConnections}, nil
}

// closing is an exporter with something to close after its shutdown.
type closing struct {
	sdktrace.SpanExporter
	close func()
}

func (c closing) Shutdown(ctx context.Context) error {
	defer c.close()
	return c.SpanExporter.Shutdown(ctx)
}
